/**
 * A token bucket: allows a burst, and a steady rate in the long run. The server uses it for frames of HTTP/2, batches of
 * audit events, Events, and the keys of work queues.
 *
 * A caller picks one of three ways to pay. `take` waits for a whole token, `reserve` takes a token in advance, and `spend`
 * is for hot paths: it reads the clock only when the bucket is empty. Workers that share a rate use `rate-buckets.ts`.
 */

/** A rate in the long run, and a larger number at once after a quiet time. */
export interface RateLimit {
  /** Tokens added per second. */
  readonly perSecond: number
  /** Number of tokens that the bucket holds, and starts with. */
  readonly burst: number
}

/** The tokens that are left of one rate limit. */
export class TokenBucket {
  readonly #limit: RateLimit
  readonly #now: () => number
  /** Negative after `reserve` or `spend` took tokens that the bucket did not have. */
  #tokens: number
  #refilledAt: number

  /** `now` returns milliseconds and never goes back. Throws RangeError for a limit that would never allow anything. */
  constructor(limit: RateLimit, now: () => number) {
    if (!(limit.perSecond > 0) || !(limit.burst >= 1))
      throw new RangeError('a rate limit needs perSecond above 0 and a burst of at least 1')
    this.#limit = limit
    this.#now = now
    this.#tokens = limit.burst
    this.#refilledAt = now()
  }

  /** Takes a token and returns 0. Takes nothing if there is none, and returns the milliseconds until there is one. */
  take(): number {
    this.#refill()
    if (this.#tokens < 1) return this.#msFor(1 - this.#tokens)
    this.#tokens--
    return 0
  }

  /** Takes a token in any case. Returns how many milliseconds the caller must wait before it uses the token. */
  reserve(): number {
    this.#refill()
    this.#tokens--
    return this.#tokens >= 0 ? 0 : this.#msFor(-this.#tokens)
  }

  /** Takes `cost` tokens in any case. Returns false if the bucket did not have them. */
  spend(cost: number): boolean {
    this.#tokens -= cost
    if (this.#tokens >= 0) return true
    this.#refill()
    return this.#tokens >= 0
  }

  /** Adds tokens that the caller has earned, up to the burst. */
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
