/**
 * Simulated nodes that run no containers. Each node registers, sends heartbeats and drives its pods through their
 * stages. One process can run a thousand nodes, which share one watch of pods and one watch of nodes. Each node writes
 * under its own identity, so the API server authorizes it like any other node.
 */

import type { Node } from '../../api/kinds/core/node.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { selectableNode } from '../../api/selectors/node-selector.ts'
import { repeat, type TimerClock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer, type Source } from '../../client/reconcile/sources.ts'
import type { Client } from '../../client/requests/client.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import type { NodeRuntime } from '../node-port/runtime.ts'
import { CommandMemory } from './containers/command-memory.ts'
import { ContainerLogs } from './containers/container-logs.ts'
import type { FindUsage } from './containers/container-usage.ts'
import { SimulatedNode, type SimulatedNodeParts } from './containers/simulated-node.ts'
import { WrittenFiles } from './containers/written-files.ts'
import { type Failures, type FollowedRules, followFailures } from './failures/follow-failures.ts'
import type { NodeOutages } from './failures/node-outages.ts'
import { followsContainers } from './failures/pod-failures.ts'
import { heartbeatLoop } from './heartbeats.ts'
import type { KwokObjects } from './kwok/kwok-objects.ts'
import { NodeEvents } from './node-events.ts'
import { type NodeDescription, offered } from './node-object.ts'
import { PodAddresses } from './pods/addresses.ts'
import { defaultPodStages } from './pods/default-stages.ts'
import { NodeRoom } from './pods/node-room.ts'
import { podLoop } from './pods/pod-loop.ts'
import { simulationKeys } from './pods/simulation-keys.ts'
import { NodeStages } from './stages/node-stages.ts'
import { readStage } from './stages/read-stage.ts'
import { isStageOf, type Stage } from './stages/stage.ts'
import { StageError } from './stages/stage-error.ts'
import { PodVolumes } from './volumes/pod-volumes.ts'

export interface SimulationParts {
  readonly nodes: readonly NodeDescription[]
  readonly pods: Informer<Pod>
  readonly nodeObjects: Informer<Node>
  /**
   * The rules for simulated failures. If the server does not serve the type of the rules, the nodes start without
   * rules.
   */
  readonly rules: FollowedRules
  /** Speed of the containers, as a multiple of real time. Defaults to 1. */
  readonly speed?: number
  /** Returns a client that authenticates as the agent of this node. */
  readonly clientOf: (node: string) => Client
  readonly vendor: Vendor
  readonly clock: TimerClock
  /** Stages from files. They replace the built-in lifecycle of pods. */
  readonly stages?: readonly Stage[]
  /** The KWOK objects to apply. Undefined if this simulation does not support them. */
  readonly kwok?: KwokObjects
  /** Returns a client that may change the finalizers of the pods on a node. Defaults to the client of the node. */
  readonly finalizerClientOf?: (node: string) => Client
  /** Directory for the volumes of pods. If undefined, volumes are not written and pods start without them. */
  readonly volumeDirectory?: string
  /** Maximum age in milliseconds of the ConfigMaps and Secrets cached for volumes. */
  readonly volumePollMs?: number
  readonly onError: (error: unknown) => void
}

/** A set of simulated nodes, and the loops that run them. */
export interface Simulation {
  /** The loop that registers the nodes and sends their heartbeats. */
  readonly heartbeats: Loop
  /** The loop that drives the pods on the nodes through their stages. */
  readonly pods: Loop
  /** One runtime per node, used by the HTTPS server for the nodes' ports. */
  readonly runtimes: readonly NodeRuntime[]
  /**
   * Removes the volumes of pods that were deleted while this process was not running. Must be called after the pods
   * have been listed.
   */
  removeLeftovers(): Promise<void>
}

/** Creates simulated nodes and the loops that run them. Nothing happens until the loops start. */
export function simulateNodes(parts: SimulationParts): Simulation {
  const { vendor, clock, clientOf, onError, speed = 1 } = parts
  const byName = new Map(parts.nodes.map((node) => [node.name, node]))
  const events = new NodeEvents({ clientOf, vendor, clock, onError })
  const stages = stagesOf(parts)
  const readiness = parts.stages === undefined ? nodeReadiness(parts) : undefined
  const logs = new ContainerLogs()
  const written = new WrittenFiles()
  const volumes = volumesOf(parts, byName)
  const failures = followFailures(parts)
  const { outages } = failures
  const keys = simulationKeys(vendor)
  const pods = podLoop({
    clock,
    clientOf,
    finalizerClientOf: parts.finalizerClientOf ?? clientOf,
    startedAt: clock.now(),
    stages: stages.pods,
    stageObjects: stages.podObjects,
    informer: parts.pods,
    addressesOf: addressesOf(parts, byName),
    roomOf: roomOf(parts, byName, outages),
    outages,
    speed,
    failureOf: failures.failureOf,
    followsContainers: (pod, failure) => parts.stages === undefined && followsContainers(pod, failure, keys),
    isOwnNode: (name) => byName.has(name),
    nodeOf: (name) => byName.get(name)!,
    record: (pod, event, actor) => events.record(pod, event, actor),
    onPod: (pod, state) => {
      logs.observe(pod, state)
      if (state === 'lives') return
      written.forget(pod.metadata.uid ?? '')
      void volumes?.remove(pod).catch(onError)
    },
    ...(volumes === undefined ? {} : volumeUpkeep(volumes)),
    isNodeReady: readiness?.isReady,
    sources: [
      ...(volumes === undefined ? [] : [polled(volumes, onError)]),
      ...(readiness?.sources ?? []),
      ...failures.podSources,
      ...stages.podSources,
    ],
  })
  return {
    heartbeats: heartbeatsOf(parts, { byName, events, failures, stages }),
    pods: { ...pods, onStop: async () => events.close() },
    runtimes: runtimesOf(parts, { logs, volumes, written, outages, speed, usageOf: usageOf(parts, events) }),
    removeLeftovers: async () => {
      await volumes?.removeAllBut(new Set([...parts.pods.objects()].map(({ metadata }) => metadata.uid ?? '')))
    },
  }
}

/**
 * Returns a function that looks up container usage in KWOK objects. If an expression fails, the function records an
 * Event.
 */
function usageOf({ kwok, nodeObjects }: SimulationParts, events: NodeEvents): FindUsage | undefined {
  if (kwok === undefined) return undefined
  return (subject) => {
    const { pod, container, resource } = subject
    try {
      return kwok.usage.usageOf({ ...subject, node: nodeObjects.get({ name: pod.spec?.nodeName ?? '' }) })
    } catch (error) {
      if (!(error instanceof StageError)) throw error
      const message = `cannot determine the ${resource} usage of container ${container.name}: ${error.message}`
      events.record(pod, { type: 'Warning', reason: 'UsageFailed', message })
      return undefined
    }
  }
}

interface HeartbeatDependencies {
  readonly byName: ReadonlyMap<string, NodeDescription>
  readonly events: NodeEvents
  readonly failures: Failures
  readonly stages: ReturnType<typeof stagesOf>
}

function heartbeatsOf(
  { nodeObjects: informer, clientOf, vendor, clock, speed = 1 }: SimulationParts,
  { byName: nodes, events, failures: { outages, nodeSources }, stages }: HeartbeatDependencies,
): Loop {
  const nodeStages = new NodeStages({
    stages: stages.nodes,
    clientOf,
    nodeOf: (name) => nodes.get(name)!,
    clock,
    startedAt: clock.now(),
    speed,
    record: (node, event, actor) => events.recordForNode(node, event, actor),
  })
  const sources = [...nodeSources, ...stages.nodeSources]
  return heartbeatLoop({ nodes, informer, clientOf, vendor, clock, outages, stages: nodeStages, sources })
}

function volumesOf(
  { volumeDirectory: directory, volumePollMs: pollMs, vendor, clock }: SimulationParts,
  nodes: ReadonlyMap<string, NodeDescription>,
): PodVolumes | undefined {
  if (directory === undefined) return undefined
  const amountsOf = (name: string) => nodes.get(name)?.capacity ?? {}
  return new PodVolumes({ directory, vendor, clock, amountsOf, ...(pollMs === undefined ? {} : { pollMs }) })
}

/**
 * Returns the pod loop's hooks for volumes: `prepare` writes them before containers start, and `keepUp` updates them
 * when their sources change.
 */
function volumeUpkeep(volumes: PodVolumes) {
  return {
    prepare: (pod: Pod, client: Client) => volumes.prepare(pod, client),
    keepUp: (pod: Pod, client: Client) => volumes.keepUp(pod, client),
  }
}

function polled(volumes: PodVolumes, onError: (error: unknown) => void): Source {
  return {
    connect: (add, clock) =>
      repeat(clock, volumes.pollMs, () => {
        volumes.poll().then((keys) => keys.forEach(add), onError)
      }),
  }
}

/**
 * Returns a function that reports whether a node is ready, and a source that triggers a reconcile of a node's pods when
 * the node becomes ready again. The reconcile is needed because the pods were marked as not ready when the node was
 * lost.
 */
function nodeReadiness({ pods, nodeObjects }: SimulationParts) {
  const byNode = indexByNode(pods)
  const isReady = (node: Node | undefined) =>
    node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  const again = fromInformer(nodeObjects, ({ previous, object }) =>
    isReady(object) && !isReady(previous) ? byNode.get(object!.metadata.name!).map(objectKey) : [],
  )
  return { isReady: (name: string) => isReady(nodeObjects.get({ name })), sources: [again] }
}

function indexByNode(pods: Informer<Pod>) {
  return pods.index(({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
}

function runtimesOf(
  { nodes, nodeObjects, pods, clientOf, vendor, clock, kwok }: SimulationParts,
  shared: Pick<SimulatedNodeParts, 'logs' | 'volumes' | 'written' | 'outages' | 'speed' | 'usageOf'>,
): NodeRuntime[] {
  const byNode = indexByNode(pods)
  const memory = new CommandMemory()
  return nodes.map(
    ({ name, capacity: amounts }) =>
      new SimulatedNode({
        ...shared,
        kwok,
        name,
        pods: byNode,
        client: () => clientOf(name),
        amounts,
        node: () => nodeObjects.get({ name }),
        memory,
        vendor,
        clock,
      }),
  )
}

const noStages: readonly Stage[] = []

/**
 * Returns the stages for pods and nodes, and the sources that trigger a reconcile of pods and nodes when Stage objects
 * change.
 */
function stagesOf({ stages: files, kwok, vendor, nodes, pods }: SimulationParts) {
  const own = new Set(nodes.map(({ name }) => name))
  const stagesOfFiles = files ?? defaultPodStages(vendor).map((stage) => readStage(stage))
  const nodeStages = stagesOfFiles.filter((stage) => isStageOf(stage, 'Node'))
  const podKeys = () => [...pods.objects()].filter(({ spec }) => own.has(spec?.nodeName ?? '')).map(objectKey)
  return {
    pods: stagesOfFiles.filter((stage) => isStageOf(stage, 'Pod')),
    podObjects: () => kwok?.stages.of('Pod') ?? noStages,
    nodes: () => {
      const objects = kwok?.stages.of('Node') ?? noStages
      return objects.length > 0 ? objects : nodeStages
    },
    podSources: kwok === undefined ? [] : [kwok.stages.source('Pod', podKeys), ...kwok.sources],
    nodeSources: kwok === undefined ? [] : [kwok.stages.source('Node', () => own)],
  }
}

function roomOf({ nodeObjects }: SimulationParts, nodes: ReadonlyMap<string, NodeDescription>, outages: NodeOutages) {
  const instancesByNode = new Map<string, NodeRoom>()
  return (name: string): NodeRoom => {
    const stateOf = () => {
      const own = nodes.get(name)!
      const object = nodeObjects.get({ name })
      const selectable = selectableNode({ metadata: { name, labels: object?.metadata.labels ?? own.labels } })
      const isFullFor = (pod: Pod) => outages.hasDiskPressure(name) && !outages.isCritical(pod)
      return { offered: offered(own, object?.status), selectable, isFullFor }
    }
    const instance = instancesByNode.get(name) ?? new NodeRoom(stateOf)
    instancesByNode.set(name, instance)
    return instance
  }
}

/**
 * Returns the addresses of each node, from the pod CIDR of the Node object or, if it has no pod CIDR, from the node's
 * default CIDR.
 */
function addressesOf({ nodeObjects }: SimulationParts, nodes: ReadonlyMap<string, NodeDescription>) {
  const instancesByNode = new Map<string, PodAddresses>()
  return (name: string): PodAddresses => {
    const rangeOf = () => nodeObjects.get({ name })?.spec?.podCIDR || nodes.get(name)?.podRange || ''
    const instance = instancesByNode.get(name) ?? new PodAddresses(rangeOf)
    instancesByNode.set(name, instance)
    return instance
  }
}
