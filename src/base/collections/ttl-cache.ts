/**
 * Answers that are remembered for a while, such as those of another service. Who asks the same while an answer is under
 * way shares it. How many are remembered is bounded: the oldest go first.
 */
import type { Clock } from '../time/clock.ts'
import { BoundedMap } from './bounded-map.ts'

/** A value and how long it is kept. */
export interface Answer<V> {
  readonly value: V
  /** How long it is remembered; 0: not at all. */
  readonly ttlMs: number
}

const maxAnswers = 8192

/** Keeps values for a time, within a bounded number. */
export class TtlCache<V> {
  readonly #clock: Clock
  readonly #answers = new BoundedMap<string, { readonly value: V; readonly until: number }>(maxAnswers)
  readonly #pending = new Map<string, Promise<V>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is remembered for this key, or is under way, or else is found out now. */
  get(key: string, find: () => Promise<Answer<V>>): V | Promise<V> {
    const known = this.#answers.get(key)
    if (known !== undefined && known.until > this.#clock.monotonic()) return known.value
    const shared = this.#pending.get(key)
    if (shared !== undefined) return shared
    const answer = this.#find(key, find).finally(() => this.#pending.delete(key))
    this.#pending.set(key, answer)
    return answer
  }

  async #find(key: string, find: () => Promise<Answer<V>>): Promise<V> {
    const { value, ttlMs } = await find()
    if (ttlMs > 0) this.#answers.set(key, { value, until: this.#clock.monotonic() + ttlMs })
    else this.#answers.delete(key)
    return value
  }
}
