/**
 * Finds the time of the change that caused a Service's endpoints to be written. Endpoints and slices carry it as an annotation,
 * from which clients measure how long a change takes to reach them. The rules are those of kube-controller-manager.
 *
 * The time of a pod is the last transition of its condition Ready, that of a Service its creation.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

interface SeenTimes {
  readonly service: string
  /** By the names of the pods. */
  readonly pods: ReadonlyMap<string, string>
}

export class TriggerTimes {
  /** By the keys of the Services. */
  readonly #seen = new Map<string, SeenTimes>()

  /**
   * The earliest time that is later than when the Service was last looked at; undefined where there is none. The first
   * time it is the creation of the Service. Times are UTC with a precision of a second, so they are compared as texts.
   */
  next(key: string, service: Service, pods: readonly Pod[]): string | undefined {
    const before = this.#seen.get(key)
    const created = service.metadata.creationTimestamp ?? ''
    const times = new Map(pods.map((pod) => [pod.metadata.name ?? '', readyTime(pod)]))
    this.#seen.set(key, { service: created, pods: times })
    if (before === undefined) return created
    const changed = [...times].flatMap(([name, time]) => (time > (before.pods.get(name) ?? '') ? [time] : []))
    if (created > before.service) changed.push(created)
    return changed.length === 0 ? undefined : changed.reduce((a, b) => (a < b ? a : b))
  }

  forget(key: string): void {
    this.#seen.delete(key)
  }
}

/** '' for a pod that has no such condition yet. */
function readyTime({ status }: Pod): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? ''
}

export function triggerTimeKey(vendor: Vendor): string {
  return vendorKey(vendor, 'last-change-trigger-time', 'endpoints')
}

/** The annotations with this time, or without one where no change is known to have caused the write. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  vendor: Vendor,
  time: string | undefined,
): Record<string, string> {
  const { [triggerTimeKey(vendor)]: _, ...others } = annotations ?? {}
  return time === undefined ? others : { ...others, [triggerTimeKey(vendor)]: time }
}
