/** What the scheduler writes about Pods: their node, why they have none, and the end of those that make room. */

import type { Binding } from '../../api/kinds/core/binding.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { timestamp } from '../../api/model/object.ts'
import type { Client } from '../../client/requests/client.ts'
import { type ResourceType, subresource } from '../../client/requests/resource-type.ts'
import { isConflict, isNotFound, StatusError } from '../../client/requests/status-error.ts'
import type { PodInfo } from './pod-info.ts'
import { fieldManager } from './volume-writes.ts'

export interface PodWriteParts {
  readonly client: Client
  readonly type: ResourceType<Pod>
  readonly now: () => number
}

/** Why a Pod has no node, as its status says it. */
export interface Unplaced {
  readonly reason: 'Unschedulable' | 'SchedulerError'
  readonly message: string
  /** The node that is kept for it; '' for none, undefined to leave that as it is. */
  readonly nominatedNode: string | undefined
}

export class PodWrites {
  readonly #parts: PodWriteParts
  readonly #bindings: ResourceType<Binding>

  constructor(parts: PodWriteParts) {
    this.#parts = parts
    this.#bindings = subresource<Binding>(parts.type, 'binding')
  }

  /** Gives the Pod its node. Where no answer comes, the Pod itself tells whether it has it. */
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

  /** Writes why it has no node, unless its status says so already. A Pod that is gone is left alone. */
  async report(
    { pod, name, namespace, uid }: PodInfo,
    { reason, message, nominatedNode }: Unplaced,
    signal: AbortSignal,
  ) {
    const { now } = this.#parts
    const { conditions = [], nominatedNodeName = '' } = pod.status ?? {}
    const known = conditions.find((condition) => condition.type === 'PodScheduled')
    const isSaid = known?.status === 'False' && known.reason === reason && known.message === message
    const isNominated = nominatedNode === undefined || nominatedNode === nominatedNodeName
    if (isSaid && isNominated) return
    const since = known?.status === 'False' ? known.lastTransitionTime : undefined
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

  /** The node is kept for a more important Pod. */
  async clearNomination({ namespace, name, uid }: PodInfo, signal: AbortSignal): Promise<void> {
    await this.#patchStatus({ namespace, name, uid }, { nominatedNodeName: null }, signal)
  }

  /** Ends a Pod for a more important one, in its own time. */
  async evict({ namespace, name, uid }: PodInfo, signal: AbortSignal): Promise<void> {
    const { client, type } = this.#parts
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

/** A Pod that is gone, or another of the same name, needs nothing. */
async function unlessOver(answer: Promise<unknown>): Promise<void> {
  try {
    await answer
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
