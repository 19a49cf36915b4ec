/**
 * Resource amounts as whole numbers, rounded up: millicores for CPU, and bytes or units for all others. The requests of
 * a Pod are the sum over its containers or the maximum of its init containers, whichever is greater, plus its overhead.
 */
import type { Pod } from '../../api/kinds/core/pod.ts'
import { parseQuantity } from '../../api/model/quantity.ts'

/** Amounts by resource. Resources that matter for every Pod have their own fields. */
export interface Amounts {
  readonly cpu: number
  readonly memory: number
  readonly ephemeralStorage: number
  /** Extended resources, huge pages and attachable volumes. */
  readonly others: ReadonlyMap<string, number>
}

/** Quantities of an object, by resource name. */
export type ResourceList = { readonly [name: string]: string } | undefined

type PodSpec = NonNullable<Pod['spec']>
type Container = NonNullable<PodSpec['containers']>[number]

const noOthers: ReadonlyMap<string, number> = new Map()
export const nothing: Amounts = { cpu: 0, memory: 0, ephemeralStorage: 0, others: noOthers }

/** Requests in millicores that scores assume for containers without requests, so that such Pods are spread too. */
const assumedCpu = 100
const assumedMemory = 200 * 1024 * 1024

/** Returns the requests of the Pod. */
export function requestsOf(spec: PodSpec): Amounts {
  const sum = new Sum()
  for (const container of spec.containers ?? []) sum.add(amountsOf(requested(container)))
  for (const container of spec.initContainers ?? []) sum.raiseTo(amountsOf(requested(container)))
  sum.add(amountsOf(spec.overhead as ResourceList))
  return sum.amounts
}

/**
 * Returns the CPU and memory requests as scores count them. Containers without requests count with a small assumed
 * amount.
 */
export function scoredRequestsOf(spec: PodSpec): Pick<Amounts, 'cpu' | 'memory'> {
  const sum = new Sum()
  for (const container of spec.containers ?? []) sum.add(withAssumed(requested(container)))
  for (const container of spec.initContainers ?? []) sum.raiseTo(withAssumed(requested(container)))
  sum.add(amountsOf(spec.overhead as ResourceList))
  return { cpu: sum.amounts.cpu, memory: sum.amounts.memory }
}

/** Converts a list of quantities. */
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

/** Sums of amounts that can be changed, for the containers of a Pod or the Pods on a node. */
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
