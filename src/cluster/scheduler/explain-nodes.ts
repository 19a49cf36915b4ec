/**
 * Explains for each node why a Pod is pending, by applying the filters of the default profile to the current objects.
 * These explanations are for users. The scheduler itself uses a model that it maintains incrementally.
 */

import type { Namespace } from '../../api/kinds/core/namespace.ts'
import type { Node } from '../../api/kinds/core/node.ts'
import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { CSINode } from '../../api/kinds/storage/csi-node.ts'
import type { StorageClass } from '../../api/kinds/storage/storage-class.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { Checks, prepareChecks } from './checks.ts'
import { Cluster, placeKeys } from './cluster.ts'
import type { NodeInfo } from './node-info.ts'
import type { Sight } from './plugin.ts'
import { hasEnded, PodInfo } from './pod-info.ts'
import { defaultProfile } from './profile.ts'
import { VolumeReservations } from './volume-reservations.ts'

/** Nodes, Pods and all other objects that affect scheduling. */
export interface PlacingObjects {
  readonly nodes: readonly Node[]
  /** All Pods. Unscheduled and terminated Pods are ignored. */
  readonly pods: readonly Pod[]
  readonly namespaces: readonly Namespace[]
  readonly claims: readonly PersistentVolumeClaim[]
  readonly volumes: readonly PersistentVolume[]
  readonly classes: readonly StorageClass[]
  readonly csiNodes: readonly CSINode[]
}

/** A node with the reasons why the Pod does not fit on it. The list of reasons is empty if the Pod fits. */
export interface NodeVerdict {
  readonly node: string
  readonly reasons: readonly string[]
}

/** Returns the reasons for each node, sorted by name. */
export function explainNodes(pod: Pod, objects: PlacingObjects, vendor: Vendor): NodeVerdict[] {
  const sight = sightOf(objects, vendor)
  const checks = runToCompletion(prepareChecks(new PodInfo(pod), defaultProfile, sight))
  const refusal = (node: NodeInfo) => (checks instanceof Checks ? checks.refusal(node) : checks)
  return sight.cluster.nodes
    .map((node) => ({ node: node.name, reasons: refusal(node)?.reasons ?? [] }))
    .sort((a, b) => (a.node < b.node ? -1 : 1))
}

function sightOf(
  { nodes, pods, namespaces, claims, volumes, classes, csiNodes }: PlacingObjects,
  vendor: Vendor,
): Sight {
  const namespaceOf = lookUp(namespaces).get
  const cluster = new Cluster(placeKeys(vendor), (name) => namespaceOf({ name })?.metadata.labels)
  for (const node of nodes) cluster.setNode(node.metadata.name ?? '', node)
  for (const pod of pods) if ((pod.spec?.nodeName ?? '') !== '' && !hasEnded(pod)) cluster.setPod(new PodInfo(pod))
  return {
    // Default spread constraints never exclude a node, so no workload selector is needed.
    cluster,
    vendor,
    workloadSelector: () => undefined,
    storage: {
      claims: lookUp(claims),
      volumes: lookUp(volumes),
      classes: lookUp(classes),
      csiNodes: lookUp(csiNodes),
      reservations: new VolumeReservations(),
    },
  }
}

function lookUp<T extends ObjectBase>(objects: readonly T[]) {
  const key = (namespace = '', name = '') => `${namespace}/${name}`
  const byName = new Map(objects.map((object) => [key(object.metadata.namespace, object.metadata.name), object]))
  return {
    get: ({ namespace, name }: { readonly namespace?: string; readonly name: string }) =>
      byName.get(key(namespace, name)),
    objects: () => objects,
  }
}
