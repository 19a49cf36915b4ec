/**
 * Deletes pods that do not tolerate a NoExecute taint of their node, or whose toleration time has passed. The
 * toleration time starts when the taint is added, so switching to another manager does not restart it.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Taint } from '../../../api/kinds/core/types/taint.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf, type ObjectName } from '../../../client/requests/resource-type.ts'
import { isConflict } from '../../../client/requests/status-error.ts'
import { recordDisruption } from '../../scheduler/disruption-target.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { isTerminating } from '../workloads/pod-state.ts'
import { evictingTaints, toleratedMs } from './node-taints.ts'

export interface TaintEvictionParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly clock: Clock
  /** Whether an evicted pod gets the condition DisruptionTarget. */
  readonly recordsDisruption: boolean
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
}

/**
 * Maximum duration of one timer in milliseconds. Longer waits are split, because Node.js fires timers longer than 24
 * days immediately.
 */
const maxTimerMs = 60 * 60_000

const evictedByTaint = {
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
}

export class TaintEviction {
  readonly #parts: TaintEvictionParts
  /** When each pod's toleration time started, by pod UID. */
  readonly #since = new Map<string, number>()

  constructor(parts: TaintEvictionParts) {
    this.#parts = parts
  }

  gone({ metadata: { uid = '' } }: Pod): void {
    this.#since.delete(uid)
  }

  async reconcile(name: ObjectName, signal: AbortSignal): Promise<StepOutcome> {
    const pod = this.#parts.pods.get(name)
    const node = this.#parts.nodes.get({ name: pod?.spec?.nodeName ?? '' })
    if (pod === undefined || isTerminating(pod)) return 'done'
    const taints = node === undefined ? [] : evictingTaints(node)
    const staysMs = taints.length === 0 ? Number.POSITIVE_INFINITY : toleratedMs(pod, taints)
    if (staysMs === Number.POSITIVE_INFINITY) return this.#cancel(pod)
    const now = this.#parts.clock.now()
    const waitMs = this.#began(pod, taints, now) + staysMs - now
    if (waitMs > 0) return { afterMs: Math.min(waitMs, maxTimerMs) }
    await this.#evict(pod, signal)
    return 'done'
  }

  /**
   * Returns the start of the pod's toleration time: the latest `timeAdded` of the taints, or the first observation if a
   * taint has no `timeAdded`.
   */
  #began({ metadata: { uid = '' } }: Pod, taints: readonly Taint[], now: number): number {
    const added = Math.max(...taints.map(({ timeAdded }) => Date.parse(timeAdded ?? '')))
    const since = Number.isNaN(added) ? (this.#since.get(uid) ?? now) : added
    this.#since.set(uid, since)
    return since
  }

  #cancel(pod: Pod): StepOutcome {
    if (!this.#since.delete(pod.metadata.uid ?? '')) return 'done'
    const { namespace, name } = pod.metadata
    const message = `Cancelling deletion of Pod ${namespace}/${name}`
    this.#parts.recorder.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message })
    return 'done'
  }

  async #evict(pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, recorder, clock, recordsDisruption } = this.#parts
    const { namespace, name, uid = '' } = pod.metadata
    const message = `Marking for deletion Pod ${namespace}/${name}`
    recorder.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message })
    try {
      if (recordsDisruption)
        await ignoreNotFound(
          recordDisruption(pod, evictedByTaint, { client, type: kinds.Pod, now: clock.now(), signal }),
        )
      await ignoreNotFound(client.delete(kinds.Pod, nameOf(pod), { preconditions: { uid }, signal }))
    } catch (error) {
      // Ignore a conflict: the pod was replaced by another pod with the same name.
      if (!isConflict(error)) throw error
    }
  }
}
