/**
 * Deletes pods that nothing else deletes: terminated pods beyond a limit (oldest first), pods on nodes that no longer
 * exist, and terminating pods that were never scheduled. The deletion has no grace period, because no agent would
 * complete it.
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
import { ignoreNotFound } from '../ignore-not-found.ts'
import { writeAll } from '../workloads/batches.ts'
import { hasEnded, isTerminating } from '../workloads/pod-state.ts'
import { podsByNode } from './pods-by-node.ts'

export interface PodGcParts {
  readonly client: Client
  readonly clock: Clock
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  /** Maximum number of terminated pods to keep. 0 means no limit. */
  readonly maxEnded: number
}

interface State extends PodGcParts {
  readonly ended: Index<Pod>
  readonly byNode: Index<Pod>
  /** When each missing node was first noticed. */
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

function keysOf({ nodes }: State, { key, object }: ObjectChange<Pod>): string[] {
  if (object === undefined) return []
  const { nodeName = '' } = object.spec ?? {}
  if (nodeName !== '') return nodes.get({ name: nodeName }) === undefined ? [nodePrefix + nodeName] : []
  return isTerminating(object) ? [podPrefix + key] : []
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  if (key === endedKey) return await removeEnded(state, signal)
  if (key.startsWith(nodePrefix)) return await removeOrphans(state, key.slice(nodePrefix.length), signal)
  const pod = state.pods.get(nameOfKey(key.slice(podPrefix.length)))
  if (pod !== undefined && isTerminating(pod) && !pod.spec?.nodeName) await removeAll(state, [pod], signal)
  return 'done'
}

async function removeEnded(state: State, signal: AbortSignal): Promise<StepOutcome> {
  const surplus = state.ended.count('all') - state.maxEnded
  if (surplus <= 0) return 'done'
  await removeAll(state, state.ended.get('all').sort(byAge).slice(0, surplus), signal)
  return 'done'
}

function byAge(a: Pod, b: Pod): number {
  const order = (x = '', y = '') => (x < y ? -1 : Number(x > y))
  return order(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || order(a.metadata.name, b.metadata.name)
}

async function removeOrphans(state: State, name: string, signal: AbortSignal): Promise<StepOutcome> {
  const { nodes, byNode, missingSince, clock, client } = state
  if (nodes.get({ name }) !== undefined || byNode.count(name) === 0) {
    missingSince.delete(name)
    return 'done'
  }
  const now = clock.monotonic()
  const since = missingSince.get(name) ?? now
  missingSince.set(name, since)
  if (now - since < quarantineMs) return { afterMs: since + quarantineMs - now }
  // The cache may be stale, so the node is read from the server.
  if ((await ignoreNotFound(client.get(kinds.Node, { name }, { signal }))) !== undefined) return 'done'
  await removeAll(state, byNode.get(name), signal)
  return 'done'
}

async function removeAll({ client }: State, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
  const { error } = await writeAll(pods.length, async (i) => {
    const preconditions = { uid: pods[i]!.metadata.uid! }
    try {
      await ignoreNotFound(client.delete(kinds.Pod, nameOf(pods[i]!), { gracePeriodSeconds: 0, preconditions, signal }))
    } catch (failure) {
      // A conflict means that the name now belongs to a different pod.
      if (!isConflict(failure)) throw failure
    }
  })
  if (error !== undefined) throw error
}
