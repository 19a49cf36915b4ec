/**
 * Resource amounts as whole numbers, rounded up: millicores for CPU, and bytes or units for all other resources. The
 * requests of a Pod are its overhead plus the greater of two amounts: the sum over its containers and sidecars, and the
 * maximum during startup. An init container runs alongside the sidecars before it. Pod-level requests replace the
 * requests of the containers. While a container is being resized, the greater of its actual and desired requests is
 * used.
 */
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { ContainerStatus } from '../../api/kinds/core/types/pod-status.ts'
import { parseQuantity } from '../../api/model/quantity.ts'

/** Amounts by resource. Resources that are relevant for every Pod have separate fields. */
export interface Amounts {
  readonly cpu: number
  readonly memory: number
  readonly ephemeralStorage: number
  /** Extended resources, huge pages and attachable volumes. */
  readonly others: ReadonlyMap<string, number>
}

/** Resource quantities as in the API, by resource name. */
export type ResourceList = { readonly [name: string]: string } | undefined

type PodSpec = NonNullable<Pod['spec']>
type Container = NonNullable<PodSpec['containers']>[number]

const noOthers: ReadonlyMap<string, number> = new Map()
export const nothing: Amounts = { cpu: 0, memory: 0, ephemeralStorage: 0, others: noOthers }

/** Whether an init container keeps running alongside the containers that start after it. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always'
}

/**
 * Assumed requests of containers that specify no requests. Scores use these amounts so that Pods without requests are
 * also spread.
 */
const assumedCpu = 100
const assumedMemory = 200 * 1024 * 1024

/** Returns the resources that a Pod requests in total. */
export function requestsOf({ spec = {}, status = {} }: Pick<Pod, 'spec' | 'status'>): Amounts {
  const reported = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]
  const actual = new Map(reported.flatMap(actualRequests))
  return total(spec, (container) => inEffect(container, actual.get(container.name ?? '')))
}

/** Sums up the requests of all containers. */
function total(spec: PodSpec, amountsIn: (container: Container) => Amounts): Amounts {
  const { containers = [], initContainers = [], resources, overhead } = spec
  const sum = new Sum()
  for (const container of containers) sum.add(amountsIn(container))
  addInitContainers(sum, initContainers, amountsIn)
  if (resources?.requests !== undefined) sum.replace(resources.requests as NonNullable<ResourceList>)
  sum.add(amountsOf(overhead as ResourceList))
  return sum.amounts
}

function addInitContainers(
  sum: Sum,
  initContainers: readonly Container[],
  amountsIn: (container: Container) => Amounts,
): void {
  const sidecars = new Sum()
  const starting = new Sum()
  for (const container of initContainers) {
    const amounts = amountsIn(container)
    if (isSidecar(container)) sidecars.add(amounts)
    const together = new Sum()
    together.add(sidecars.amounts)
    if (!isSidecar(container)) together.add(amounts)
    starting.raiseTo(together.amounts)
  }
  sum.add(sidecars.amounts)
  sum.raiseTo(starting.amounts)
}

/** Returns the requests of a container: for each resource, the greater of the desired and the actual request. */
function inEffect(container: Container, actual: ResourceList): Amounts {
  const desired = amountsOf(requested(container))
  if (actual === undefined) return desired
  const sum = new Sum()
  sum.add(desired)
  sum.raiseTo(amountsOf(actual))
  return sum.amounts
}

function actualRequests({ name, resources }: ContainerStatus): [string, NonNullable<ResourceList>][] {
  const requests = resources?.requests as ResourceList
  return requests === undefined ? [] : [[name ?? '', requests]]
}

/** Whether an amount in `next` is less than in `previous`. */
export function isAnyLess(next: Amounts, previous: Amounts): boolean {
  if (next.cpu < previous.cpu || next.memory < previous.memory) return true
  if (next.ephemeralStorage < previous.ephemeralStorage) return true
  return [...previous.others].some(([name, amount]) => (next.others.get(name) ?? 0) < amount)
}

/**
 * Returns the CPU and memory requests, as counted for scoring. For containers without requests, assumes small amounts.
 */
export function scoredRequestsOf(spec: PodSpec): Pick<Amounts, 'cpu' | 'memory'> {
  const { cpu, memory } = total(spec, (container) => withAssumed(requested(container)))
  return { cpu, memory }
}

/** Converts a list of quantities to amounts. */
export function amountsOf(list: ResourceList): Amounts {
  if (list === undefined) return nothing
  let cpu = 0
  let memory = 0
  let ephemeralStorage = 0
  let others: Map<string, number> | undefined
  for (const [name, text] of Object.entries(list)) {
    if (name === 'cpu') cpu = thousandths(text)
    else if (name === 'memory') memory = whole(text)
    else if (name === 'ephemeral-storage') ephemeralStorage = whole(text)
    else if (name !== 'pods') {
      others ??= new Map()
      others.set(name, whole(text))
    }
  }
  return { cpu, memory, ephemeralStorage, others: others ?? noOthers }
}

/** Returns the maximum number of Pods on a node. */
export function podsAllowed(list: ResourceList): number {
  return list?.pods === undefined ? 0 : whole(list.pods)
}

/** Converts a quantity to a whole number, rounded up. Invalid text results in 0. */
function whole(text: string): number {
  return divided(text, 1_000_000_000n)
}

function thousandths(text: string): number {
  return divided(text, 1_000_000n)
}

function divided(text: string, by: bigint): number {
  const nanos = parseQuantity(text)?.nanos ?? 0n
  return Number(nanos / by) + (nanos % by > 0n ? 1 : 0)
}

function requested({ resources }: Container): ResourceList {
  return resources?.requests as ResourceList
}

function withAssumed(list: ResourceList): Amounts {
  const amounts = amountsOf(list)
  const cpu = list?.cpu === undefined ? assumedCpu : amounts.cpu
  const memory = list?.memory === undefined ? assumedMemory : amounts.memory
  return { ...amounts, cpu, memory }
}

/** Mutable sums of amounts over the containers of a Pod or the Pods on a node. */
export class Sum {
  #cpu = 0
  #memory = 0
  #ephemeralStorage = 0
  #others: Map<string, number> | undefined

  get cpu(): number {
    return this.#cpu
  }

  get memory(): number {
    return this.#memory
  }

  get ephemeralStorage(): number {
    return this.#ephemeralStorage
  }

  other(name: string): number {
    return this.#others?.get(name) ?? 0
  }

  get amounts(): Amounts {
    return {
      cpu: this.#cpu,
      memory: this.#memory,
      ephemeralStorage: this.#ephemeralStorage,
      others: this.#others ?? noOthers,
    }
  }

  add(amounts: Amounts): void {
    this.#change(amounts, 1)
  }

  subtract(amounts: Amounts): void {
    this.#change(amounts, -1)
  }

  /** Raises each amount to at least the given amount. */
  raiseTo({ cpu, memory, ephemeralStorage, others }: Amounts): void {
    this.#cpu = Math.max(this.#cpu, cpu)
    this.#memory = Math.max(this.#memory, memory)
    this.#ephemeralStorage = Math.max(this.#ephemeralStorage, ephemeralStorage)
    for (const [name, amount] of others) this.#set(name, Math.max(this.other(name), amount))
  }

  /** Replaces the amounts of the resources in the list, and leaves all other amounts unchanged. */
  replace(list: NonNullable<ResourceList>): void {
    const { cpu, memory, ephemeralStorage, others } = amountsOf(list)
    if (list.cpu !== undefined) this.#cpu = cpu
    if (list.memory !== undefined) this.#memory = memory
    if (list['ephemeral-storage'] !== undefined) this.#ephemeralStorage = ephemeralStorage
    for (const [name, amount] of others) this.#set(name, amount)
  }

  #change({ cpu, memory, ephemeralStorage, others }: Amounts, sign: 1 | -1): void {
    this.#cpu += sign * cpu
    this.#memory += sign * memory
    this.#ephemeralStorage += sign * ephemeralStorage
    for (const [name, amount] of others) this.#set(name, this.other(name) + sign * amount)
  }

  #set(name: string, amount: number): void {
    this.#others ??= new Map()
    this.#others.set(name, amount)
  }
}
