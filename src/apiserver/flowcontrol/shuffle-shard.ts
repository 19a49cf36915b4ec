/**
 * Which queues of a level a flow may use: a few of many, drawn by a hash of its name. Two flows rarely draw the same, so
 * that a flow which fills all of its queues leaves nearly every other flow at least one. The hash is salted once per
 * process: nobody can choose a name that shares its queues with those of a given victim.
 */
import { hash, randomBytes } from 'node:crypto'
import { BoundedMap } from '../../base/collections/bounded-map.ts'

const salt = randomBytes(16).toString('hex')

/** Of so many flows it is remembered what they have drawn. */
const maxRemembered = 4096
const hashes = new BoundedMap<string, bigint>(maxRemembered)

/** A number by which hands are drawn: the same for the same flow as long as the process lives. */
export function hashFlow(schema: string, distinguisher: string): bigint {
  return remembered(hashes, `${schema}/${distinguisher}`, (flow) =>
    BigInt(`0x${hash('sha256', `${salt}/${flow}`).slice(0, 16)}`),
  )
}

/** Deals hands of one size, each once: a flow that waits has mostly waited before. */
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

function remembered<K, V>(known: BoundedMap<K, V>, key: K, make: (key: K) => V): V {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make(key)
  known.set(key, made)
  return made
}

/** `handSize` different numbers below `deckSize`, drawn by the hash. */
export function dealHand(flow: bigint, deckSize: number, handSize: number): number[] {
  const hand: number[] = []
  let rest = flow
  for (let left = deckSize; hand.length < Math.min(handSize, deckSize); left--) {
    hand.push(undrawnAt(Number(rest % BigInt(left)), hand))
    rest /= BigInt(left)
  }
  return hand
}

/** The card at this place among those that are not in the hand. */
function undrawnAt(place: number, hand: readonly number[]): number {
  let card = place
  for (const drawn of hand.toSorted((a, b) => a - b)) if (drawn <= card) card++
  return card
}
