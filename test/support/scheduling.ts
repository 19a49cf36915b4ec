/** Describes a cluster in a short notation and converts it to the scheduler's model, without a server. */

import type { Node } from '../../src/api/kinds/core/node.ts'
import type { PersistentVolume } from '../../src/api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../src/api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../src/api/kinds/core/pod.ts'
import type { CSINode } from '../../src/api/kinds/storage/csi-node.ts'
import type { StorageClass } from '../../src/api/kinds/storage/storage-class.ts'
import type { ObjectBase } from '../../src/api/model/object.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import type { SelectorObject } from '../../src/api/selectors/label-selector.ts'
import { runToCompletion } from '../../src/base/concurrency/time-slice.ts'
import { Checks, prepareChecks } from '../../src/cluster/scheduler/checks.ts'
import { Cluster, placeKeys } from '../../src/cluster/scheduler/cluster.ts'
import { explainRefusals } from '../../src/cluster/scheduler/explain.ts'
import { findNode, type Search } from '../../src/cluster/scheduler/find-node.ts'
import type { NodeInfo } from '../../src/cluster/scheduler/node-info.ts'
import { prepared, type Sight } from '../../src/cluster/scheduler/plugin.ts'
import { allPlugins } from '../../src/cluster/scheduler/plugins/all.ts'
import { PodInfo } from '../../src/cluster/scheduler/pod-info.ts'
import { defaultProfile, type Profile } from '../../src/cluster/scheduler/profile.ts'
import { VolumeReservations } from '../../src/cluster/scheduler/volume-reservations.ts'

const vendor = vendorOf('kubernetes')

export type Labels = { readonly [key: string]: string }

export interface NodeParts {
  readonly labels?: Labels
  readonly cpu?: string
  readonly memory?: string
  readonly pods?: string
  readonly resources?: Labels
  readonly spec?: object
  readonly images?: readonly object[]
}

export interface PodParts {
  readonly namespace?: string
  readonly labels?: Labels
  readonly on?: string
  readonly cpu?: string
  readonly memory?: string
  readonly priority?: number
  readonly startTime?: string
  readonly isTerminating?: boolean
  /** Additional fields of the spec. */
  readonly [field: string]: unknown
}

/** Stored objects that volume rules look up. */
export interface StorageParts {
  readonly claims?: readonly object[]
  readonly volumes?: readonly object[]
  readonly classes?: readonly object[]
  readonly csiNodes?: readonly object[]
}

/** Nodes by name, the Pods on them, and other objects for lookups. */
export interface ClusterParts {
  readonly nodes: { readonly [name: string]: NodeParts }
  readonly pods?: readonly PodInfo[]
  readonly namespaces?: { readonly [name: string]: Labels }
  readonly storage?: StorageParts
  readonly workloadSelector?: SelectorObject
}

export function node(name: string, parts: NodeParts): Node {
  const { labels = {}, cpu = '4', memory = '8Gi', pods = '110', resources = {}, spec = {}, images = [] } = parts
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable: { cpu, memory, pods, ...resources }, images },
  } as unknown as Node
}

let serial = 0

export function pod(name: string, parts: PodParts = {}): PodInfo {
  const { namespace = 'default', labels = {}, on, cpu, memory, priority, startTime, isTerminating, ...spec } = parts
  const requests = { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) }
  const going = isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}
  return new PodInfo({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-${++serial}`, labels, ...going },
    spec: {
      containers: [{ name: 'c', image: 'i', resources: { requests } }],
      ...(on === undefined ? {} : { nodeName: on }),
      ...(priority === undefined ? {} : { priority }),
      ...spec,
    },
    status: startTime === undefined ? {} : { startTime },
  } as Pod)
}

export function sightOf({ nodes, pods = [], namespaces = {}, storage = {}, workloadSelector }: ClusterParts): Sight {
  const cluster = new Cluster(placeKeys(vendor), (name) => namespaces[name])
  for (const [name, parts] of Object.entries(nodes)) cluster.setNode(name, node(name, parts))
  for (const each of pods) cluster.setPod(each)
  return {
    cluster,
    vendor,
    workloadSelector: () => workloadSelector,
    storage: {
      claims: stored<PersistentVolumeClaim>(storage.claims),
      volumes: stored<PersistentVolume>(storage.volumes),
      classes: stored<StorageClass>(storage.classes),
      csiNodes: stored<CSINode>(storage.csiNodes),
      reservations: new VolumeReservations(),
    },
  }
}

function stored<T extends ObjectBase>(objects: readonly object[] = []) {
  const all = objects as readonly T[]
  return {
    get: ({ name }: { readonly name: string }) => all.find(({ metadata }) => metadata.name === name),
    objects: () => all,
  }
}

/** Creates a search that selects the first of equally good nodes. */
export function searchIn(sight: Sight, wanted: PodInfo, profile: Profile = defaultProfile): Search {
  return { pod: wanted, profile, sight, state: { percentageOfNodes: 100, start: 0, random: () => 0.999 } }
}

/** Returns the reason why each node is rejected, by node name. The reason is empty for feasible nodes. */
export function reasons(parts: ClusterParts, wanted: PodInfo): { readonly [node: string]: string } {
  const sight = sightOf(parts)
  const checks = runToCompletion(prepareChecks(wanted, defaultProfile, sight))
  const refusal = (each: NodeInfo) => (checks instanceof Checks ? checks.refusal(each) : checks)
  return Object.fromEntries(sight.cluster.nodes.map((each) => [each.name, refusal(each)?.reasons.join(', ') ?? '']))
}

/**
 * Returns the score of one plugin for each node, from 0 to 100, or undefined if the plugin considers all nodes equal.
 */
export function scores(plugin: string, parts: ClusterParts, wanted: PodInfo): readonly number[] | undefined {
  const sight = sightOf(parts)
  const { nodes } = sight.cluster
  const entry = allPlugins().find((each) => each.plugin.name === plugin)
  const rule = runToCompletion(prepared(entry?.plugin.score?.(wanted, sight, nodes)))
  const found = rule && nodes.map((each) => rule.score(each))
  if (found !== undefined) rule?.normalize?.(found, nodes)
  return found
}

/** Returns the selected node, or the message that explains why no node was selected. */
export function placeOf(parts: ClusterParts, wanted: PodInfo, profile?: Profile): string {
  const sight = sightOf(parts)
  const found = runToCompletion(findNode(searchIn(sight, wanted, profile)))
  return 'node' in found ? found.node.name : explainRefusals(found.refusals, sight.cluster.nodes.length)
}
