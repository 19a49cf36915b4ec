/**
 * A token bucket, which allows a burst and limits the average rate. Token buckets limit HTTP/2 frames, batches of audit
 * events, Events and work-queue keys.
 *
 * Three methods remove tokens. `take` removes a token only if the bucket is not empty. `reserve` removes a token in
 * advance. `spend` reads the clock only when the bucket is empty and is intended for hot paths. Workers that share a
 * rate use `rate-buckets.ts`.
 */

/** A rate limit: an average rate, and a burst that is allowed after a quiet period. */
export interface RateLimit {
  /** Tokens added per second. */
  readonly perSecond: number
  /** Capacity of the bucket. A new bucket is full. */
  readonly burst: number
}

/** Enforces a rate limit for one thread. */
export class TokenBucket {
  readonly #limit: RateLimit
  readonly #now: () => number
  /**
   * Number of tokens in the bucket. The number is negative if `reserve` or `spend` took more tokens than the bucket
   * had.
   */
  #tokens: number
  #refilledAt: number

  /**
   * Creates a bucket. `now` must return monotonic milliseconds. Throws RangeError for a limit that never allows an
   * event.
   */
  constructor(limit: RateLimit, now: () => number) {
    if (!(limit.perSecond > 0) || !(limit.burst >= 1))
      throw new RangeError('a rate limit requires perSecond above 0 and a burst of at least 1')
    this.#limit = limit
    this.#now = now
    this.#tokens = limit.burst
    this.#refilledAt = now()
  }

  /**
   * Removes a token and returns 0. If the bucket is empty, returns the number of milliseconds until the next token
   * instead.
   */
  take(): number {
    this.#refill()
    if (this.#tokens < 1) return this.#msFor(1 - this.#tokens)
    this.#tokens--
    return 0
  }

  /**
   * Removes a token even if the bucket is empty, and returns the number of milliseconds that the caller must wait
   * before it proceeds.
   */
  reserve(): number {
    this.#refill()
    this.#tokens--
    return this.#tokens >= 0 ? 0 : this.#msFor(-this.#tokens)
  }

  /**
   * Removes `cost` tokens, even if the bucket contains fewer tokens, and returns whether the bucket contained enough
   * tokens.
   */
  spend(cost: number): boolean {
    this.#tokens -= cost
    if (this.#tokens >= 0) return true
    this.#refill()
    return this.#tokens >= 0
  }

  /** Adds unused tokens to the bucket, up to its capacity. */
  add(tokens: number): void {
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + tokens)
  }

  #refill(): void {
    const now = this.#now()
    this.add(((now - this.#refilledAt) * this.#limit.perSecond) / 1000)
    this.#refilledAt = now
  }

  #msFor(tokens: number): number {
    return Math.ceil((tokens * 1000) / this.#limit.perSecond)
  }
}
