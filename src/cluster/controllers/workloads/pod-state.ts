/** What workload loops read from the status of a pod: whether it is active, ready, available. Times are in ms since 1970. */
import type { Pod } from '../../../api/kinds/core/pod.ts'

/** Whether a pod is to run: it has not ended and is not being deleted. */
export function isActive(pod: Pod): boolean {
  return !hasEnded(pod) && !isTerminating(pod)
}

export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** Whether its containers have ended for good. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

export function isReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True'
}

/** Since when a pod has been ready; undefined where it is not, or does not say since when. */
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

/** In how many milliseconds a ready pod counts as available; 0: it does; undefined: not without another change. */
export function availableInMs(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const since = readySince(pod)
  if (since === undefined) return minReadySeconds === 0 && isReady(pod) ? 0 : undefined
  return minReadySeconds === 0 ? 0 : Math.max(0, since + minReadySeconds * 1000 - now)
}

/** The time until the next of these ready pods becomes available; undefined where none is about to. */
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
