/**
 * A cache of expiring results, such as responses from another service. Concurrent requests for the same key share one
 * lookup. The cache has a maximum size and evicts the oldest entries first.
 */
import type { Clock } from '../time/clock.ts'
import { BoundedMap } from './bounded-map.ts'

/** A result to cache, and how long it remains valid. */
export interface Answer<V> {
  readonly value: V
  /** Time to live in milliseconds. With 0, the value is not cached. */
  readonly ttlMs: number
}

const maxAnswers = 8192

/** Caches results until their time to live has passed. */
export class TtlCache<V> {
  readonly #clock: Clock
  readonly #answers = new BoundedMap<string, { readonly value: V; readonly until: number }>(maxAnswers)
  readonly #pending = new Map<string, Promise<V>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the cached value of a key, or the result of a pending lookup. If there is neither, starts a lookup. */
  get(key: string, find: () => Promise<Answer<V>>): V | Promise<V> {
    const cachedAnswer = this.#answers.get(key)
    if (cachedAnswer !== undefined && cachedAnswer.until > this.#clock.monotonic()) return cachedAnswer.value
    const pendingLookup = this.#pending.get(key)
    if (pendingLookup !== undefined) return pendingLookup
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
