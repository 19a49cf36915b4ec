/** Pod states for workload loops: active, ready and available. Times are in milliseconds since 1970. */
import type { Pod } from '../../../api/kinds/core/pod.ts'

/** Whether a pod has neither terminated nor been marked for deletion. */
export function isActive(pod: Pod): boolean {
  return !hasEnded(pod) && !isTerminating(pod)
}

export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** Whether the pod has terminated. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

export function isReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True'
}

/** Returns the time when a pod became ready, or undefined if the pod is not ready or the time is unknown. */
export function readySince(pod: Pod): number | undefined {
  const ready = podCondition(pod, 'Ready')
  if (ready?.status !== 'True') return undefined
  const since = Date.parse(ready.lastTransitionTime ?? '')
  return Number.isNaN(since) ? undefined : since
}

/** Whether a pod has been ready for at least `minReadySeconds`. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return minReadySeconds === 0 ? isReady(pod) : availableInMs(pod, minReadySeconds, now) === 0
}

/**
 * Returns the milliseconds until a ready pod becomes available. Returns 0 if the pod is already available, and
 * undefined if the pod is not ready.
 */
export function availableInMs(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const since = readySince(pod)
  if (since === undefined) return minReadySeconds === 0 && isReady(pod) ? 0 : undefined
  return minReadySeconds === 0 ? 0 : Math.max(0, since + minReadySeconds * 1000 - now)
}

/**
 * Returns the milliseconds until the next pod becomes available, or undefined if no pod is about to become available.
 */
export function nextAvailableMs(pods: Iterable<Pod>, minReadySeconds: number, now: number): number | undefined {
  if (minReadySeconds === 0) return undefined
  let next: number | undefined
  for (const pod of pods) {
    const ms = availableInMs(pod, minReadySeconds, now)
    if (ms !== undefined && ms > 0 && (next === undefined || ms < next)) next = ms
  }
  return next
}

function podCondition({ status }: Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}
