/**
 * Monitors the health of nodes. If a node is silent for too long, its conditions become Unknown and its pods are marked
 * as not ready. Node problems are expressed as NoSchedule taints. A node that is not ready or unreachable also gets a
 * NoExecute taint, which evicts pods that do not tolerate it or whose toleration time has passed. NoExecute taints from
 * other sources evict pods in the same way.
 *
 * The keys of the loop identify nodes and pods, for example `node a` and `pod default/b`.
 */

import { sameJson } from '../../../api/json/json.ts'
import type { Lease } from '../../../api/kinds/coordination/lease.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { timestamp } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer, ObjectChange } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, objectKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { writeAll } from '../workloads/batches.ts'
import { isReady } from '../workloads/pod-state.ts'
import { type EvictionRateOptions, EvictionRates } from './eviction-rates.ts'
import { type GraceTimes, NodeHealth, unknownConditions } from './node-health.ts'
import { evictingTaints, evictionKey, readiness, wantedTaints } from './node-taints.ts'
import { podsByNode } from './pods-by-node.ts'
import { TaintEviction } from './taint-eviction.ts'

export const nodeLeaseNamespace = 'kube-node-lease'

/** Grace periods and eviction rates. */
export interface NodeHealthOptions extends GraceTimes, EvictionRateOptions {}

/** Defaults of the corresponding kube-controller-manager flags. */
export const defaultNodeHealth: NodeHealthOptions = {
  graceMs: 40_000,
  startupGraceMs: 60_000,
  rate: 0.1,
  secondaryRate: 0.01,
  unhealthyShare: 0.55,
  largeSize: 50,
}

export interface NodeLifecycleParts extends NodeHealthOptions {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  /** Whether an evicted pod gets the condition DisruptionTarget. */
  readonly recordsDisruption: boolean
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
  readonly leases: Informer<Lease>
}

interface State extends NodeLifecycleParts {
  readonly byNode: Index<Pod>
  readonly health: NodeHealth
  readonly rates: EvictionRates
  readonly eviction: TaintEviction
}

const nodePrefix = 'node '
const podPrefix = 'pod '
/** Delay in milliseconds until a node is checked again while its eviction is paused. */
const heldBackMs = 5_000

export function nodeLifecycleLoop(parts: NodeLifecycleParts): Loop {
  const { clock, vendor } = parts
  const health = new NodeHealth(parts, clock)
  const rates = new EvictionRates(parts, clock, vendor)
  const state: State = {
    ...parts,
    health,
    rates,
    byNode: podsByNode(parts.pods),
    eviction: new TaintEviction(parts),
  }
  return {
    name: 'nodelifecycle',
    sources: [
      fromInformer(parts.nodes, (change) => nodeChanged(state, change)),
      fromInformer(parts.leases, ({ object, previous }) => {
        health.followLease((object ?? previous)!.metadata.name ?? '', object)
        return []
      }),
      fromInformer(parts.pods, (change) => podChanged(state, change)),
    ],
    reconcile: async (key, signal) =>
      key.startsWith(nodePrefix)
        ? await reconcileNode(state, key.slice(nodePrefix.length), signal)
        : await state.eviction.reconcile(nameOfKey(key.slice(podPrefix.length)), signal),
  }
}

function nodeChanged({ health, rates, byNode }: State, { key, previous, object }: ObjectChange<Node>): string[] {
  health.followNode(key, object)
  rates.follow(key, object)
  const before = previous === undefined ? [] : evictingTaints(previous)
  const after = object === undefined ? [] : evictingTaints(object)
  const pods = sameJson(before, after) ? [] : byNode.get(key)
  return [nodePrefix + key, ...pods.map((pod) => podPrefix + objectKey(pod))]
}

/** Handles a change to a pod. Ignores pods on nodes without NoExecute taints, which are the great majority. */
function podChanged({ nodes, eviction }: State, { key, previous, object }: ObjectChange<Pod>): string[] {
  if (object === undefined) eviction.gone(previous!)
  const node = nodes.get({ name: object?.spec?.nodeName ?? '' })
  return node !== undefined && evictingTaints(node).length > 0 ? [podPrefix + key] : []
}

async function reconcileNode(state: State, name: string, signal: AbortSignal): Promise<StepOutcome> {
  const node = state.nodes.get({ name })
  if (node === undefined) return 'done'
  const leftMs = state.health.leftMs(name, node)
  try {
    if (leftMs <= 0 && (await markUnknown(state, node, signal))) return 'done'
    const waitMs = await taint(state, node, signal)
    if (['False', 'Unknown'].includes(readiness(node))) await markPodsNotReady(state, name, signal)
    const waits = [waitMs, leftMs].filter((ms) => ms > 0)
    return waits.length === 0 ? 'done' : { afterMs: Math.min(...waits) }
  } catch (error) {
    if (isNotFound(error)) return 'done'
    if (isConflict(error)) return 'later'
    throw error
  }
}

/** Sets the conditions of a silent node to Unknown. Returns whether a write was necessary. */
async function markUnknown({ client, clock, recorder }: State, node: Node, signal: AbortSignal): Promise<boolean> {
  const conditions = unknownConditions(node, timestamp(clock.now()))
  if (sameJson(conditions, node.status?.conditions ?? [])) return false
  const status = { ...node.status, conditions }
  await client.update(kinds.Node, { ...node, status }, { subresource: 'status', signal })
  if (readiness(node) === 'True') {
    const message = `Node ${node.metadata.name} status is now: NodeNotReady`
    recorder.record(node, { type: 'Normal', reason: 'NodeNotReady', message })
  }
  return true
}

/** Writes the taints of a node. Returns the milliseconds until its pods may be evicted. */
async function taint(state: State, node: Node, signal: AbortSignal): Promise<number> {
  const { client, vendor, clock, rates } = state
  const key = evictionKey(node, vendor)
  const isTainted = evictingTaints(node).some((each) => each.key === key)
  const isDue = key !== undefined && !isTainted
  const waitMs = isDue ? rates.takeMs(node.metadata.name!) : 0
  const now = timestamp(clock.now())
  const taints = wantedTaints(node, vendor, { mayEvict: isDue && waitMs === 0, now })
  if (taints !== undefined) await client.update(kinds.Node, { ...node, spec: { ...node.spec, taints } }, { signal })
  return Math.min(waitMs, heldBackMs)
}

async function markPodsNotReady({ client, clock, byNode }: State, name: string, signal: AbortSignal): Promise<void> {
  const pods = byNode.get(name).filter(isReady)
  const { error } = await writeAll(pods.length, async (i) => {
    const pod = pods[i]!
    const conditions = (pod.status?.conditions ?? []).map((each) =>
      each.type === 'Ready' ? { ...each, status: 'False', lastTransitionTime: timestamp(clock.now()) } : each,
    )
    try {
      await client.update(
        kinds.Pod,
        { ...pod, status: { ...pod.status, conditions } },
        { subresource: 'status', signal },
      )
    } catch (failure) {
      if (!isNotFound(failure)) throw failure
    }
  })
  if (error !== undefined) throw error
}
