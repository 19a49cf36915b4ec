/**
 * Nodes that run no containers, as loops: each node registers, tells that it lives, and drives the pods that are bound to
 * it through their stages. One process may have a thousand of them: they share one watch of pods and one of nodes, and
 * write as their own users, so that what a node may do is decided by the API server as for any other.
 */
import type { TimerClock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import type { Informer } from '../client/informer.ts'
import type { Node } from '../kinds/core/node.ts'
import type { Pod } from '../kinds/core/pod.ts'
import type { Json } from '../model/json.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Loop } from '../reconcile/loop.ts'
import { heartbeatLoop } from './heartbeats.ts'
import { NodeEvents } from './node-events.ts'
import type { NodeDescription } from './node-object.ts'
import { PodAddresses } from './pods/addresses.ts'
import { defaultPodStages } from './pods/default-stages.ts'
import { podLoop } from './pods/pod-loop.ts'
import { readStage } from './stages/read-stage.ts'
import type { Stage } from './stages/stage.ts'

export interface SimulationParts {
  readonly nodes: readonly NodeDescription[]
  readonly pods: Informer<Pod>
  readonly nodeObjects: Informer<Node>
  /** A client as the agent of this node. */
  readonly clientOf: (node: string) => Client
  readonly vendor: Vendor
  readonly clock: TimerClock
  /** The life of pods; the built-in one if left out. */
  readonly stages?: PodStages
  readonly onError: (error: unknown) => void
}

/** Stages of a file, and how what their templates make is read. */
export interface PodStages {
  readonly stages: readonly Stage[]
  readonly parseStatus: (text: string) => Json
}

/** The loops of nodes, to be run together: one that tells that they live, and one for their pods. */
export interface Simulation {
  readonly heartbeats: Loop
  readonly pods: Loop
}

/** Sets up the nodes; nothing happens before the loops run. */
export function simulateNodes(parts: SimulationParts): Simulation {
  const { vendor, clock, clientOf, onError } = parts
  const byName = new Map(parts.nodes.map((node) => [node.name, node]))
  const addresses = addressesOf(parts, byName)
  const events = new NodeEvents({ clientOf, vendor, clock, onError })
  const { stages = [], parseStatus } = parts.stages ?? builtIn(vendor)
  const pods = podLoop({
    ...{ clock, clientOf, stages, informer: parts.pods, addressesOf: addresses },
    isOwnNode: (name) => byName.has(name),
    nodeOf: (name) => byName.get(name)!,
    record: (pod, event) => events.record(pod, event),
    ...(parseStatus === undefined ? {} : { parseStatus }),
  })
  const heartbeats = heartbeatLoop({ nodes: byName, informer: parts.nodeObjects, clientOf, vendor, clock })
  return { heartbeats, pods: { ...pods, onStop: async () => events.close() } }
}

function builtIn(vendor: Vendor): Partial<PodStages> {
  return { stages: defaultPodStages(vendor).map((stage) => readStage(stage)) }
}

/** The range of a node is what its object says, and its own choice while that says nothing. */
function addressesOf({ nodeObjects }: SimulationParts, nodes: ReadonlyMap<string, NodeDescription>) {
  const known = new Map<string, PodAddresses>()
  return (name: string): PodAddresses => {
    const rangeOf = () => nodeObjects.get({ name })?.spec?.podCIDR || nodes.get(name)?.podRange || ''
    const found = known.get(name) ?? new PodAddresses(rangeOf)
    known.set(name, found)
    return found
  }
}
