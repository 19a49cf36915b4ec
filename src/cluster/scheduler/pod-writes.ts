/** The scheduler's writes to Pods: bindings, status reports and evictions. */

import type { Binding } from '../../api/kinds/core/binding.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { timestamp } from '../../api/model/object.ts'
import type { Client } from '../../client/requests/client.ts'
import { type ResourceType, subresource } from '../../client/requests/resource-type.ts'
import { isConflict, isNotFound, StatusError } from '../../client/requests/status-error.ts'
import { recordDisruption } from './disruption-target.ts'
import type { PodInfo } from './pod-info.ts'
import { fieldManager } from './volume-writes.ts'

export interface PodWriteParts {
  readonly client: Client
  readonly type: ResourceType<Pod>
  readonly now: () => number
  /** Whether an evicted Pod gets the condition DisruptionTarget. */
  readonly recordsDisruption: boolean
}

/** Reason why a Pod is not scheduled. The reason is written to the Pod's status. */
export interface Unplaced {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** The nominated node. An empty name clears the nomination, and undefined leaves it unchanged. */
  readonly nominatedNode: string | undefined
}

export class PodWrites {
  readonly #parts: PodWriteParts
  readonly #bindings: ResourceType<Binding>

  constructor(parts: PodWriteParts) {
    this.#parts = parts
    this.#bindings = subresource<Binding>(parts.type, 'binding')
  }

  /** Binds the Pod to a node. If no response arrives, reads the Pod to find out whether the binding succeeded. */
  async bind({ name, namespace, uid }: PodInfo, node: string, signal: AbortSignal): Promise<void> {
    const { client, type } = this.#parts
    const binding: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: node },
    }
    try {
      await client.create(this.#bindings, binding, { signal })
    } catch (error) {
      if (error instanceof StatusError) throw error
      const pod = await client.get(type, { namespace, name }, { signal })
      if (pod.metadata.uid !== uid || pod.spec?.nodeName !== node) throw error
    }
  }

  /**
   * Reports why the Pod is not scheduled, unless its status already contains the same reason. Ignores a deleted Pod.
   */
  async report(
    { pod, name, namespace, uid }: PodInfo,
    { reason, message, nominatedNode }: Unplaced,
    signal: AbortSignal,
  ) {
    const { now } = this.#parts
    const { conditions = [], nominatedNodeName = '' } = pod.status ?? {}
    const scheduledCondition = conditions.find((condition) => condition.type === 'PodScheduled')
    const isSaid =
      scheduledCondition?.status === 'False' &&
      scheduledCondition.reason === reason &&
      scheduledCondition.message === message
    const isNominated = nominatedNode === undefined || nominatedNode === nominatedNodeName
    if (isSaid && isNominated) return
    const since = scheduledCondition?.status === 'False' ? scheduledCondition.lastTransitionTime : undefined
    const lastTransitionTime = since ?? timestamp(now())
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      lastTransitionTime,
      lastProbeTime: null,
    }
    const status = {
      conditions: [condition],
      ...(isNominated ? {} : { nominatedNodeName: nominatedNode === '' ? null : nominatedNode }),
    }
    await this.#patchStatus({ namespace, name, uid }, status, signal)
  }

  /** Clears the nomination, because a Pod with a higher priority gets the node. */
  async clearNomination({ namespace, name, uid }: PodInfo, signal: AbortSignal): Promise<void> {
    await this.#patchStatus({ namespace, name, uid }, { nominatedNodeName: null }, signal)
  }

  /** Evicts a Pod in favor of a Pod with a higher priority. The evicted Pod keeps its normal grace period. */
  async evict(victim: PodInfo, { pod: preemptor }: PodInfo, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = victim
    const { client, type, now, recordsDisruption } = this.#parts
    if (recordsDisruption) {
      const message = `${preemptor.spec?.schedulerName}: preempting to accommodate a higher priority pod`
      const write = { client, type, now: now(), signal, fieldManager }
      await unlessOver(recordDisruption(victim.pod, { reason: 'PreemptionByScheduler', message }, write))
    }
    await unlessOver(client.delete(type, { namespace, name }, { preconditions: { uid }, signal }))
  }

  async #patchStatus(
    { namespace, name, uid }: { namespace: string; name: string; uid: string },
    status: object,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, type } = this.#parts
    const patch = { strategic: { metadata: { uid }, status } }
    await unlessOver(client.patch(type, { namespace, name }, { subresource: 'status', patch, signal, fieldManager }))
  }
}

/** Waits for a write. Ignores 404 and conflict errors, which mean that the Pod was deleted or replaced. */
async function unlessOver(answer: Promise<unknown>): Promise<void> {
  try {
    await answer
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
