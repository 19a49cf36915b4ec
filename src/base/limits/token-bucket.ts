/**
 * A token bucket: allows a burst, and a steady rate in the long term. It limits HTTP/2 frames, batches of audit events,
 * Events and work-queue keys.
 *
 * There are three ways to take tokens. `take` takes a token only if the bucket has one. `reserve` takes a token in
 * advance. `spend` is for hot paths: it reads the clock only when the bucket is empty. Workers that share a rate use
 * `rate-buckets.ts`.
 */

/** A steady rate, and the burst that is allowed after a quiet period. */
export interface RateLimit {
  /** Tokens added per second. */
  readonly perSecond: number
  /** Capacity of the bucket, which starts full. */
  readonly burst: number
}

/** A token bucket with its remaining tokens. */
export class TokenBucket {
  readonly #limit: RateLimit
  readonly #now: () => number
  /** Number of tokens. Negative if `reserve` or `spend` took more tokens than the bucket had. */
  #tokens: number
  #refilledAt: number

  /**
   * Creates a bucket. `now` returns monotonic milliseconds. Throws RangeError for a limit that would never allow any
   * event.
   */
  constructor(limit: RateLimit, now: () => number) {
    if (!(limit.perSecond > 0) || !(limit.burst >= 1))
      throw new RangeError('a rate limit needs perSecond above 0 and a burst of at least 1')
    this.#limit = limit
    this.#now = now
    this.#tokens = limit.burst
    this.#refilledAt = now()
  }

  /**
   * Takes a token and returns 0. If the bucket is empty, takes nothing and returns the number of milliseconds until it
   * has a token.
   */
  take(): number {
    this.#refill()
    if (this.#tokens < 1) return this.#msFor(1 - this.#tokens)
    this.#tokens--
    return 0
  }

  /**
   * Takes a token even if the bucket is empty. Returns the number of milliseconds that the caller must wait before it
   * uses the token.
   */
  reserve(): number {
    this.#refill()
    this.#tokens--
    return this.#tokens >= 0 ? 0 : this.#msFor(-this.#tokens)
  }

  /** Takes `cost` tokens even if the bucket has fewer. In this case, returns false. */
  spend(cost: number): boolean {
    this.#tokens -= cost
    if (this.#tokens >= 0) return true
    this.#refill()
    return this.#tokens >= 0
  }

  /** Returns tokens to the bucket, up to the burst. */
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
