/**
 * Shuffle sharding: a hash of the flow selects a small set of the level's queues, called a hand. Two flows rarely share
 * all queues, so a flow that fills its queues leaves almost every other flow at least one queue. The hash has a random
 * salt per process, so that no client can choose a name that collides with another flow.
 */
import { hash, randomBytes } from 'node:crypto'
import { BoundedMap } from '../../base/collections/bounded-map.ts'

const salt = randomBytes(16).toString('hex')

/** Maximum number of cached hashes and hands. */
const maxRemembered = 4096
const hashes = new BoundedMap<string, bigint>(maxRemembered)

/** Returns the hash that determines a flow's hand. The hash does not change while the process runs. */
export function hashFlow(schema: string, distinguisher: string): bigint {
  return remembered(hashes, `${schema}/${distinguisher}`, (flow) =>
    BigInt(`0x${hash('sha256', `${salt}/${flow}`).slice(0, 16)}`),
  )
}

/** Assigns hands of queues to flows. Hands are cached, because a flow that has waited once will likely wait again. */
export class Dealer {
  readonly #deckSize: number
  readonly #handSize: number
  readonly #hands = new BoundedMap<bigint, readonly number[]>(maxRemembered)

  constructor(deckSize: number, handSize: number) {
    this.#deckSize = deckSize
    this.#handSize = handSize
  }

  deal(flow: bigint): readonly number[] {
    return remembered(this.#hands, flow, () => dealHand(flow, this.#deckSize, this.#handSize))
  }
}

function remembered<K, V>(cache: BoundedMap<K, V>, key: K, make: (key: K) => V): V {
  const cachedValue = cache.get(key)
  if (cachedValue !== undefined) return cachedValue
  const made = make(key)
  cache.set(key, made)
  return made
}

/** Derives `handSize` distinct queue numbers below `deckSize` from the hash of a flow. */
export function dealHand(flow: bigint, deckSize: number, handSize: number): number[] {
  const hand: number[] = []
  let rest = flow
  for (let remainingCards = deckSize; hand.length < Math.min(handSize, deckSize); remainingCards--) {
    hand.push(undrawnAt(Number(rest % BigInt(remainingCards)), hand))
    rest /= BigInt(remainingCards)
  }
  return hand
}

/** Returns the number at position `place` among the numbers that have not been drawn yet. */
function undrawnAt(place: number, hand: readonly number[]): number {
  let card = place
  for (const drawn of hand.toSorted((a, b) => a - b)) if (drawn <= card) card++
  return card
}
