/**
 * Resource usage of simulated containers. KWOK objects or the pod's annotations (`cpu-usage`, `memory-usage`) set the
 * usage. Otherwise, the usage equals the container's request. Without a request, the usage is 1m of CPU or 1Mi of
 * memory. CPU time is accumulated between readings, so that it never decreases, even if an annotation changes.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { ContainerUsage, PodUsage } from '../../node-port/runtime.ts'
import { isSidecar } from '../../scheduler/resources.ts'
import type { UsageResource, UsageSubject } from '../kwok/usage-objects.ts'

type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number]

const least = { cpu: '1m', memory: '1Mi' }

/**
 * Returns the usage of a container, in cores or bytes, that a usage object or an annotation specifies. Returns
 * undefined if neither exists.
 */
export type FindUsage = (subject: Omit<UsageSubject, 'node'>) => number | undefined

/** The accumulated CPU time of a container, and when it was last computed. */
interface Reading {
  readonly at: number
  readonly coreSeconds: number
}

/** Measures the usage of one node's pods. */
export class UsageMeter {
  readonly #vendor: Vendor
  readonly #usageOf: FindUsage
  #readings = new Map<string, Reading>()

  constructor(vendor: Vendor, usageOf: FindUsage = () => undefined) {
    this.#vendor = vendor
    this.#usageOf = usageOf
  }

  /** Returns the usage of the running pods, and drops records of containers that are no longer running. */
  read(pods: readonly Pod[], now: number): PodUsage[] {
    const readings = new Map<string, Reading>()
    const usage = pods
      .filter(({ status }) => status?.phase === 'Running')
      .map((pod) => ({
        namespace: pod.metadata.namespace ?? '',
        name: pod.metadata.name ?? '',
        uid: pod.metadata.uid ?? '',
        startedAt: Date.parse(pod.status?.startTime ?? '') || now,
        containers: measuredContainers(pod.spec).flatMap((container) => {
          const running = statuses(pod.status).find(({ name }) => name === container.name)
          const startedAt = Date.parse(running?.state?.running?.startedAt ?? '')
          if (Number.isNaN(startedAt)) return []
          const key = running?.containerID ?? ''
          const measured = this.#measure({ pod, container, startedAt, key }, now)
          readings.set(key, { at: now, coreSeconds: measured.coreSeconds })
          return [measured]
        }),
      }))
    this.#readings = readings
    return usage
  }

  #measure({ pod, container, startedAt, key }: Measured, now: number): ContainerUsage {
    const { annotations } = pod.metadata
    const amount = (resource: UsageResource) =>
      this.#usageOf({ pod, container, resource, now }) ??
      numberOf(annotations?.[vendorKey(this.#vendor, `${resource}-usage`, 'simulation')]) ??
      numberOf(container.resources?.requests?.[resource]) ??
      numberOf(least[resource])!
    const cores = amount('cpu')
    const { at, coreSeconds } = this.#readings.get(key) ?? { at: startedAt, coreSeconds: 0 }
    const seconds = Math.max(0, now - at) / 1000
    return {
      name: container.name ?? '',
      startedAt,
      cores,
      coreSeconds: coreSeconds + cores * seconds,
      memoryBytes: amount('memory'),
    }
  }
}

/** Returns the containers whose usage counts: the regular containers and the sidecars. */
function measuredContainers({ containers = [], initContainers = [] }: NonNullable<Pod['spec']> = {}): Container[] {
  return [...containers, ...initContainers.filter(isSidecar)]
}

function statuses({ containerStatuses = [], initContainerStatuses = [] }: NonNullable<Pod['status']> = {}) {
  return [...containerStatuses, ...initContainerStatuses]
}

interface Measured {
  readonly container: Container
  readonly pod: Pod
  readonly startedAt: number
  readonly key: string
}

/** Parses a quantity. Returns undefined if it is invalid or negative. */
function numberOf(text: string | undefined): number | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text)
  return quantity === undefined || quantity.nanos < 0n ? undefined : Number(quantity.nanos) / 1e9
}
