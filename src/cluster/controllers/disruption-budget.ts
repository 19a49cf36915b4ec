/**
 * Computes the status of a PodDisruptionBudget from its pods: expected pods, required healthy pods and currently
 * healthy pods.
 */
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/kinds/policy/pod-disruption-budget.ts'
import { isReady, isTerminating } from './workloads/pod-state.ts'

/** Maximum time, in milliseconds, between the approval of an eviction and the deletion of the pod. */
const deletionTimeoutMs = 2 * 60_000

/** The number of pods that a budget expects, and how many of them must be healthy. */
export interface Demand {
  readonly expectedPods: number
  readonly desiredHealthy: number
}

/**
 * Whether the budget depends on the desired number of pods, which only their controllers specify. True for
 * maxUnavailable and for a percentage.
 */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'
}

export function demandOf({ spec = {} }: PodDisruptionBudget, expectedPods: number): Demand {
  const { maxUnavailable, minAvailable } = spec
  if (maxUnavailable !== undefined)
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - share(maxUnavailable, expectedPods)) }
  return { expectedPods, desiredHealthy: minAvailable === undefined ? 0 : share(minAvailable, expectedPods) }
}

/** Returns the number that a field specifies: an absolute number, or a percentage of all pods, rounded up. */
function share(value: number | string, all: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * all) / 100)
}

export interface Disrupted {
  /** Pods whose eviction was approved but that still exist, with the approval time. */
  readonly pods: { readonly [name: string]: string }
  /** Milliseconds until the next approved eviction times out because its pod has not been deleted. */
  readonly recheckMs: number | undefined
  /** Pods that still exist after the deletion timeout. */
  readonly overdue: readonly Pod[]
}

/** Returns the pods whose eviction was approved but that still exist. */
export function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Pod[], now: number): Disrupted {
  const approvalTimes = status?.disruptedPods ?? {}
  const stillDisrupted: Record<string, string> = {}
  const overdue: Pod[] = []
  let recheckMs: number | undefined
  for (const pod of pods) {
    const { name = '' } = pod.metadata
    const time = Object.hasOwn(approvalTimes, name) ? approvalTimes[name] : undefined
    if (time === undefined || isTerminating(pod)) continue
    const restMs = Date.parse(time) + deletionTimeoutMs - now
    if (restMs < 0) overdue.push(pod)
    else {
      stillDisrupted[name] = time
      recheckMs = Math.min(recheckMs ?? restMs, restMs)
    }
  }
  return { pods: stillDisrupted, recheckMs, overdue }
}

export interface Counted {
  readonly demand: Demand
  readonly disrupted: Disrupted['pods']
  readonly pods: readonly Pod[]
  readonly now: string
}

export function statusOf(
  { metadata, status = {} }: PodDisruptionBudget,
  { demand, disrupted, pods, now }: Counted,
): PodDisruptionBudgetStatus {
  const isHealthy = (pod: Pod) =>
    isReady(pod) && !isTerminating(pod) && !Object.hasOwn(disrupted, pod.metadata.name ?? '')
  const currentHealthy = pods.filter(isHealthy).length
  const { expectedPods, desiredHealthy } = demand
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const reason = disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods'
  return {
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    conditions: withAllowed(status, { reason, message: '', observedGeneration: metadata.generation, now }),
  }
}

/** Returns the status of a budget whose pods cannot be counted. It allows no disruption. */
export function failedStatus({ metadata, status = {} }: PodDisruptionBudget, message: string, now: string) {
  const observedGeneration = metadata.generation
  const conditions = withAllowed(status, { reason: 'SyncFailed', message, observedGeneration, now })
  return { ...status, disruptionsAllowed: 0, conditions }
}

interface Allowed {
  readonly reason: string
  readonly message: string
  readonly observedGeneration: number | undefined
  readonly now: string
}

function withAllowed(
  { conditions = [] }: PodDisruptionBudgetStatus,
  { reason, message, observedGeneration, now }: Allowed,
) {
  const place = conditions.findIndex(({ type }) => type === 'DisruptionAllowed')
  const before = conditions[place]
  const status = reason === 'SufficientPods' ? ('True' as const) : ('False' as const)
  const condition = {
    type: 'DisruptionAllowed',
    status,
    reason,
    message,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? now) : now,
  }
  return place < 0 ? [...conditions, condition] : conditions.with(place, condition)
}
