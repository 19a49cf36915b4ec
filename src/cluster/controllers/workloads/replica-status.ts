/** Computes the status of a ReplicaSet or ReplicationController from its pods. */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { PodTemplateSpec } from '../../../api/kinds/core/types/pod-template-spec.ts'
import { type ObjectBase, timestamp } from '../../../api/model/object.ts'
import { LabelMatcher, requirementsOf } from '../../../api/selectors/label-selector.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { findCondition, withCondition, withoutCondition } from './conditions.ts'
import { isAvailable, isReady } from './pod-state.ts'
import { sameStatus } from './same-status.ts'

interface Condition {
  type?: string
  status?: string
  lastTransitionTime?: string
  reason?: string
  message?: string
}

interface Status {
  replicas?: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  terminatingReplicas?: number
  observedGeneration?: number
  conditions?: Condition[]
}

/** The fields that ReplicaSets and ReplicationControllers have in common. */
export interface ReplicaOwner extends ObjectBase {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec }
  status?: Status
}

/** Reason why pods could not be created or deleted. */
export interface ReplicaFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete'
  readonly error: unknown
}

/** Results of a reconcile that the status reports, in addition to the counts of active pods. */
export interface ReplicaFacts {
  readonly failure: ReplicaFailure | undefined
  /** Number of created pods that the informer has not delivered yet. */
  readonly undelivered: number
  /** Number of terminating pods. Undefined if this Kubernetes version does not report the number. */
  readonly terminating: number | undefined
  readonly now: number
}

/** Returns the owner's new status, or undefined if the status is unchanged. */
export function replicaStatus(
  owner: ReplicaOwner,
  pods: readonly Pod[],
  { failure, undelivered, terminating, now }: ReplicaFacts,
): Status | undefined {
  const { spec = {}, status = {}, metadata } = owner
  const { minReadySeconds = 0, template } = spec
  const fullLabels = new LabelMatcher(requirementsOf({ matchLabels: template?.metadata?.labels }))
  const ready = pods.filter(isReady)
  const conditions = conditionsAfter(status.conditions, failure, now)
  const next: Status = {
    replicas: pods.length + undelivered,
    fullyLabeledReplicas: undelivered + countOf(pods, ({ metadata: { labels } }) => fullLabels.matches(labels)),
    readyReplicas: ready.length,
    availableReplicas: countOf(ready, (pod) => minReadySeconds === 0 || isAvailable(pod, minReadySeconds, now)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    observedGeneration: metadata.generation ?? 0,
    conditions,
  }
  return sameStatus(next, status) ? undefined : next
}

function countOf<T>(all: readonly T[], counts: (each: T) => boolean): number {
  return all.reduce((sum, each) => sum + Number(counts(each)), 0)
}

const failureType = 'ReplicaFailure'

/** Returns the conditions after a step. Keeps reporting the first failure until a step succeeds. */
function conditionsAfter(conditions: Condition[] = [], failure: ReplicaFailure | undefined, now: number): Condition[] {
  if (failure === undefined) return withoutCondition(conditions, failureType)
  if (findCondition(conditions, failureType) !== undefined) return conditions
  const { reason, error } = failure
  const failureCondition = { type: failureType, status: 'True', reason, message: messageOf(error) }
  return withCondition(conditions, { ...failureCondition, lastTransitionTime: timestamp(now) })
}
