/**
 * Deletes pods that nothing else deletes: terminated pods beyond a limit (oldest first), pods on nodes that no longer
 * exist, terminating pods that were never scheduled, and, since 1.26, terminating pods on nodes that are not ready and
 * have the taint `out-of-service`. The deletion has no grace period, because no agent would complete it. Since 1.26, a
 * pod on a missing or failed node first gets the phase Failed, and a pod on a missing node also gets the condition
 * DisruptionTarget.
 *
 * Before the pods of a missing node are deleted, the loop waits 40 seconds and then reads the node from the server.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Informer, ObjectChange } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { every, fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf, nameOfKey } from '../../../client/requests/resource-type.ts'
import { isConflict } from '../../../client/requests/status-error.ts'
import { type Disruption, failPod } from '../../scheduler/disruption-target.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { writeAll } from '../workloads/batches.ts'
import { hasEnded, isTerminating } from '../workloads/pod-state.ts'
import { readiness } from './node-taints.ts'
import { podsByNode } from './pods-by-node.ts'

export interface PodGcParts {
  readonly client: Client
  readonly clock: Clock
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  /** Whether to set the condition DisruptionTarget before deleting a pod. */
  readonly recordsDisruption: boolean
  /** The key of the taint that marks a node as shut down. Undefined before 1.26. */
  readonly outOfServiceKey: string | undefined
  /** Maximum number of terminated pods to keep. 0 means no limit. */
  readonly maxEnded: number
}

interface State extends PodGcParts {
  readonly ended: Index<Pod>
  readonly byNode: Index<Pod>
  /** The time at which each node was first found to be missing. */
  readonly missingSince: Map<string, number>
}

const periodMs = 20_000
const quarantineMs = 40_000
const endedKey = 'ended'
const nodePrefix = 'node '
const podPrefix = 'pod '

export function podGcLoop(parts: PodGcParts): Loop {
  const state: State = {
    ...parts,
    byNode: podsByNode(parts.pods),
    missingSince: new Map(),
    ended: parts.pods.index((pod) => (hasEnded(pod) ? ['all'] : [])),
  }
  return {
    name: 'podgc',
    sources: [
      fromInformer(parts.nodes, ({ key }) => [nodePrefix + key]),
      fromInformer(parts.pods, (change) => keysOf(state, change)),
      ...(parts.maxEnded > 0 ? [every(periodMs, endedKey)] : []),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

function keysOf(state: State, { key, object }: ObjectChange<Pod>): string[] {
  if (object === undefined) return []
  const { nodeName = '' } = object.spec ?? {}
  if (nodeName !== '') {
    const node = state.nodes.get({ name: nodeName })
    const isAbandoned = node === undefined || (isTerminating(object) && isOutOfService(state, node))
    return isAbandoned ? [nodePrefix + nodeName] : []
  }
  return isTerminating(object) ? [podPrefix + key] : []
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  if (key === endedKey) return await removeEnded(state, signal)
  if (key.startsWith(nodePrefix)) return await removeOrphans(state, key.slice(nodePrefix.length), signal)
  const pod = state.pods.get(nameOfKey(key.slice(podPrefix.length)))
  if (pod !== undefined && isTerminating(pod) && !pod.spec?.nodeName)
    await removeAll(state, [pod], { signal, fails: true })
  return 'done'
}

async function removeEnded(state: State, signal: AbortSignal): Promise<StepOutcome> {
  const surplus = state.ended.count('all') - state.maxEnded
  if (surplus <= 0) return 'done'
  await removeAll(state, state.ended.get('all').sort(byAge).slice(0, surplus), { signal })
  return 'done'
}

function byAge(a: Pod, b: Pod): number {
  const order = (x = '', y = '') => (x < y ? -1 : Number(x > y))
  return order(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || order(a.metadata.name, b.metadata.name)
}

/** Whether an administrator has marked the node as shut down, and the node is not ready. */
function isOutOfService({ outOfServiceKey }: State, node: Node): boolean {
  if (outOfServiceKey === undefined || readiness(node) === 'True') return false
  return node.spec?.taints?.some(({ key }) => key === outOfServiceKey) === true
}

async function removeOrphans(state: State, name: string, signal: AbortSignal): Promise<StepOutcome> {
  const { nodes, byNode, missingSince, clock, client } = state
  const cachedNode = nodes.get({ name })
  if (cachedNode !== undefined || byNode.count(name) === 0) {
    missingSince.delete(name)
    if (cachedNode === undefined || !isOutOfService(state, cachedNode)) return 'done'
    await removeAll(state, byNode.get(name).filter(isTerminating), { signal, fails: true })
    return 'done'
  }
  const now = clock.monotonic()
  const since = missingSince.get(name) ?? now
  missingSince.set(name, since)
  if (now - since < quarantineMs) return { afterMs: since + quarantineMs - now }
  // Read the node from the server, because the cache may be stale.
  if ((await ignoreNotFound(client.get(kinds.Node, { name }, { signal }))) !== undefined) return 'done'
  await removeAll(state, byNode.get(name), { signal, fails: true, disruption: nodeIsGone })
  return 'done'
}

const nodeIsGone = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }

interface Removal {
  readonly signal: AbortSignal
  /** Whether to set the phase Failed before deleting a pod that has not ended. */
  readonly fails?: boolean
  readonly disruption?: Disruption
}

async function removeAll(
  { client, clock, recordsDisruption }: State,
  pods: readonly Pod[],
  { signal, fails = false, disruption }: Removal,
): Promise<void> {
  const { error } = await writeAll(pods.length, async (i) => {
    const preconditions = { uid: pods[i]!.metadata.uid! }
    const write = { client, type: kinds.Pod, now: clock.now(), signal }
    try {
      if (fails && recordsDisruption && !hasEnded(pods[i]!)) await ignoreNotFound(failPod(pods[i]!, disruption, write))
      await ignoreNotFound(client.delete(kinds.Pod, nameOf(pods[i]!), { gracePeriodSeconds: 0, preconditions, signal }))
    } catch (failure) {
      // Ignore a conflict: the pod was replaced by another pod with the same name.
      if (!isConflict(failure)) throw failure
    }
  })
  if (error !== undefined) throw error
}
