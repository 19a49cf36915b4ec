/**
 * Determines the time of the change that triggered an update of a Service's endpoints. Endpoints and slices carry this
 * time in an annotation, which clients use to compute the propagation delay. The rules are the same as in
 * kube-controller-manager.
 *
 * The time for a pod is the last transition of its Ready condition. The time for a Service is its creation time.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

interface SeenTimes {
  readonly service: string
  /** Time of the last Ready transition of each pod, by pod name. */
  readonly pods: ReadonlyMap<string, string>
}

export class TriggerTimes {
  /** The times seen in the previous call, by Service key. */
  readonly #timesByService = new Map<string, SeenTimes>()

  /**
   * Returns the earliest time that is new since the last call for this Service, or undefined if no time is new. The
   * first call for a Service returns its creation time. Times are UTC with a precision of one second, so they can be
   * compared as strings.
   */
  next(key: string, service: Service, pods: readonly Pod[]): string | undefined {
    const before = this.#timesByService.get(key)
    const created = service.metadata.creationTimestamp ?? ''
    const times = new Map(pods.map((pod) => [pod.metadata.name ?? '', readyTime(pod)]))
    this.#timesByService.set(key, { service: created, pods: times })
    if (before === undefined) return created
    const changed = [...times].flatMap(([name, time]) => (time > (before.pods.get(name) ?? '') ? [time] : []))
    if (created > before.service) changed.push(created)
    return changed.length === 0 ? undefined : changed.reduce((a, b) => (a < b ? a : b))
  }

  forget(key: string): void {
    this.#timesByService.delete(key)
  }
}

/** Returns the last transition time of the pod's Ready condition, or '' if the pod has no such condition. */
function readyTime({ status }: Pod): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? ''
}

export function triggerTimeKey(vendor: Vendor): string {
  return vendorKey(vendor, 'last-change-trigger-time', 'endpoints')
}

/** Sets the annotation to the trigger time, or removes the annotation if no triggering change is known. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  vendor: Vendor,
  time: string | undefined,
): Record<string, string> {
  const { [triggerTimeKey(vendor)]: _, ...others } = annotations ?? {}
  return time === undefined ? others : { ...others, [triggerTimeKey(vendor)]: time }
}
