/**
 * Computes the status of a Deployment: counts from its ReplicaSets, and the conditions Available (enough pods are
 * available), Progressing (the rollout advances) and ReplicaFailure (pods cannot be created).
 *
 * A rollout without progress for `progressDeadlineSeconds` is reported as failed. The deadline has no other effect.
 */
import type { Deployment } from '../../../../api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../../api/kinds/apps/replica-set.ts'
import { findCondition, withCondition, withoutCondition } from '../conditions.ts'
import { sameStatus } from '../same-status.ts'
import { availableIn, maxUnavailable, presentIn, wantedIn } from './limits.ts'
import { type DeploymentCondition, type DeploymentStatus, hasDeadline, progressing, type Rollout } from './parts.ts'
import { allOf, type Sets } from './replica-sets.ts'

const complete = 'NewReplicaSetAvailable'
const timedOut = 'ProgressDeadlineExceeded'
const paused = 'DeploymentPaused'

/** Whether all pods have the current template and are available, and no old pod remains. */
export function isComplete({ spec, metadata }: Deployment, status: DeploymentStatus): boolean {
  const { replicas = 1 } = spec ?? {}
  const { updatedReplicas = 0, replicas: present = 0, availableReplicas = 0, observedGeneration = 0 } = status
  return (
    updatedReplicas === replicas &&
    present === replicas &&
    availableReplicas === replicas &&
    observedGeneration >= (metadata.generation ?? 0)
  )
}

/** Writes only the counts, for a Deployment that is currently not being rolled out. */
export async function syncCounts(rollout: Rollout, sets: Sets): Promise<void> {
  const next = countedStatus(rollout, sets)
  if (!sameStatus(next, rollout.deployment.status ?? {})) await rollout.writeStatus({ status: next })
}

/**
 * Writes counts and progress. Returns the milliseconds until the deadline must be checked, or undefined if there is no
 * deadline.
 */
export async function syncProgress(rollout: Rollout, sets: Sets): Promise<number | undefined> {
  const { deployment } = rollout
  const counted = countedStatus(rollout, sets)
  const conditions = withFailure(withProgress(rollout, sets, counted), sets)
  const next = { ...counted, conditions }
  if (!sameStatus(next, deployment.status ?? {})) await rollout.writeStatus({ status: next })
  return deadlineInMs(rollout, next)
}

/**
 * Reports in the Progressing condition that a Deployment was paused or resumed. While the Deployment is paused, the
 * deadline does not run.
 */
export async function syncPaused(rollout: Rollout): Promise<void> {
  const { deployment } = rollout
  const progressCondition = progressing(deployment)
  const isPaused = deployment.spec?.paused === true
  if (
    !hasDeadline(deployment) ||
    progressCondition?.reason === timedOut ||
    isPaused === (progressCondition?.reason === paused)
  )
    return
  const reasonAndMessage = isPaused
    ? { reason: paused, message: 'Deployment is paused' }
    : { reason: 'DeploymentResumed', message: 'Deployment is resumed' }
  const condition = rollout.condition('Progressing', 'Unknown', reasonAndMessage)
  const conditions = withCondition(deployment.status?.conditions, condition)
  await rollout.writeStatus({ status: { ...deployment.status, conditions } })
}

function countedStatus(rollout: Rollout, sets: Sets): DeploymentStatus {
  const { deployment } = rollout
  const all = allOf(sets)
  const availableReplicas = availableIn(all)
  const { collisionCount, conditions } = deployment.status ?? {}
  const isAvailable = availableReplicas >= rollout.replicas - maxUnavailable(deployment)
  const available = isAvailable
    ? rollout.condition('Available', 'True', {
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      })
    : rollout.condition('Available', 'False', {
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      })
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: presentIn(all),
    updatedReplicas: presentIn(sets.present === undefined ? [] : [sets.present]),
    readyReplicas: all.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0),
    availableReplicas,
    ...terminatingIn(all),
    unavailableReplicas: Math.max(0, wantedIn(all) - availableReplicas),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withCondition(conditions, available),
  }
}

/** Returns the total number of terminating pods, provided that every ReplicaSet reports its own number. */
function terminatingIn(all: readonly ReplicaSet[]): { terminatingReplicas?: number } {
  const counts = all.map(({ status }) => status?.terminatingReplicas)
  if (!counts.every((count) => count !== undefined)) return {}
  return all.length === 0 ? {} : { terminatingReplicas: counts.reduce((sum, count) => sum + count, 0) }
}

function withProgress(rollout: Rollout, { present }: Sets, next: DeploymentStatus): DeploymentCondition[] {
  const { deployment } = rollout
  const { conditions = [], replicas, updatedReplicas } = next
  const progressCondition = progressing(deployment)
  if (!hasDeadline(deployment)) return withoutCondition(conditions, 'Progressing')
  if (replicas === updatedReplicas && progressCondition?.reason === complete) return conditions
  const what = present === undefined ? `Deployment "${rollout.name}"` : `ReplicaSet "${present.metadata.name}"`
  const conditionFor = (status: string, reason: string, verb: string) =>
    rollout.condition('Progressing', status, { reason, message: `${what} ${verb}` })
  if (isComplete(deployment, next))
    return withCondition(conditions, conditionFor('True', complete, 'has successfully progressed.'))
  if (hasProgressed(deployment.status ?? {}, next)) {
    // Writes the condition again to update its time, because the deadline is relative to that time.
    const condition = conditionFor('True', 'ReplicaSetUpdated', 'is progressing.')
    const since = progressCondition?.status === 'True' ? progressCondition.lastTransitionTime : undefined
    const others = withoutCondition(conditions, 'Progressing')
    return [...others, since === undefined ? condition : { ...condition, lastTransitionTime: since }]
  }
  if (isTimedOut(rollout))
    return withCondition(conditions, conditionFor('False', timedOut, 'has timed out progressing.'))
  return conditions
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const oldPods = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas
  const grew = (name: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas') =>
    (after[name] ?? 0) > (before[name] ?? 0)
  return (
    grew('updatedReplicas') || grew('readyReplicas') || grew('availableReplicas') || oldPods(after) < oldPods(before)
  )
}

function isTimedOut(rollout: Rollout): boolean {
  const progressCondition = progressing(rollout.deployment)
  if (progressCondition === undefined || progressCondition.reason === complete) return false
  return progressCondition.reason === timedOut || deadlineOf(rollout, progressCondition) < rollout.parts.clock.now()
}

function deadlineOf({ deployment }: Rollout, { lastUpdateTime = '' }: DeploymentCondition): number {
  return Date.parse(lastUpdateTime) + (deployment.spec?.progressDeadlineSeconds ?? 0) * 1000
}

function deadlineInMs(rollout: Rollout, next: DeploymentStatus): number | undefined {
  const progressCondition = progressing(rollout.deployment)
  if (!hasDeadline(rollout.deployment) || progressCondition === undefined || progressCondition.reason === timedOut)
    return undefined
  if (isComplete(rollout.deployment, next) || progressCondition.reason === complete) return undefined
  // Times have a precision of one second, so one more second ensures that the deadline has passed.
  return Math.max(0, deadlineOf(rollout, progressCondition) - rollout.parts.clock.now()) + 1000
}

/**
 * Copies the ReplicaFailure condition of the current ReplicaSet. If the current ReplicaSet has no such condition,
 * copies that of another ReplicaSet.
 */
function withFailure(conditions: DeploymentCondition[], { present, old }: Sets): DeploymentCondition[] {
  const failureOf = ({ status }: ReplicaSet) => findCondition(status?.conditions, 'ReplicaFailure')
  const failure = (present && failureOf(present)) ?? old.map(failureOf).find((each) => each !== undefined)
  if (failure === undefined) return withoutCondition(conditions, 'ReplicaFailure')
  const { lastTransitionTime } = failure
  return withCondition(conditions, {
    ...failure,
    ...(lastTransitionTime === undefined ? {} : { lastUpdateTime: lastTransitionTime }),
  })
}
