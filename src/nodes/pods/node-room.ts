/**
 * What the pods of one node request, and whether there is room for another: a node judges the pods that are bound to it
 * by itself, whoever bound them. Which were let in is what the pods say, and those that were let in a moment ago; nothing
 * else is kept, so a restart finds the same.
 */
import type { Pod } from '../../kinds/core/pod.ts'
import { type Amounts, amountsOf, podsAllowed, type ResourceList, requestsOf } from '../../scheduler/resources.ts'

/** Why a pod is not run, in the words of a kubelet. */
export interface Refusal {
  readonly reason: string
  readonly message: string
}

export class NodeRoom {
  readonly #capacity: () => ResourceList
  readonly #admitted = new Map<string, Amounts>()

  /** `capacity`: what the node offers at present. */
  constructor(capacity: () => ResourceList) {
    this.#capacity = capacity
  }

  /** A pod changed: once started it takes its room until it is over. */
  observe(key: string, pod: Pod | undefined): void {
    const { phase, startTime } = pod?.status ?? {}
    if (pod === undefined || phase === 'Succeeded' || phase === 'Failed') this.#admitted.delete(key)
    else if (startTime !== undefined) this.#admitted.set(key, requestsOf(pod.spec ?? {}))
  }

  /** Lets the pod in from now on; else says of which resource there is not enough. */
  admit(key: string, { spec = {} }: Pod): Refusal | undefined {
    if (this.#admitted.has(key)) return undefined
    const requests = requestsOf(spec)
    const refusal = this.#whatIsShort(requests)
    if (refusal === undefined) this.#admitted.set(key, requests)
    return refusal
  }

  #whatIsShort(requests: Amounts): Refusal | undefined {
    const offered = this.#capacity()
    const mostPods = podsAllowed(offered)
    if (this.#admitted.size + 1 > mostPods)
      return outOf('pods', { requested: 1, used: this.#admitted.size, capacity: mostPods })
    const amounts = amountsOf(offered)
    for (const [name, amountIn] of resourcesOf(requests)) {
      const requested = amountIn(requests)
      const used = this.#admitted.values().reduce((sum, admitted) => sum + amountIn(admitted), 0)
      const capacity = amountIn(amounts)
      if (requested > 0 && used + requested > capacity) return outOf(name, { requested, used, capacity })
    }
    return undefined
  }
}

type AmountIn = (amounts: Amounts) => number

function resourcesOf({ others }: Amounts): (readonly [name: string, amountIn: AmountIn])[] {
  return [
    ['cpu', ({ cpu }) => cpu],
    ['memory', ({ memory }) => memory],
    ['ephemeral-storage', ({ ephemeralStorage }) => ephemeralStorage],
    ...[...others.keys()].map((name) => [name, (amounts: Amounts) => amounts.others.get(name) ?? 0] as const),
  ]
}

function outOf(name: string, amounts: { readonly requested: number; used: number; capacity: number }): Refusal {
  const { requested, used, capacity } = amounts
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`
  return { reason: `OutOf${name}`, message }
}
