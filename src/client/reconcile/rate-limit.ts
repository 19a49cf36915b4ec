/** How fast a queue may begin work: a bucket of tokens that fills by and by, of which each beginning takes one. */
export interface RateLimit {
  /** How many keys may begin in a second, in the long run. */
  readonly perSecond: number
  /** How many may begin at once after a quiet time. */
  readonly burst: number
}

/** So many at once after a quiet time, and so many a second in the long run. */
export class TokenBucket {
  readonly #limit: RateLimit
  readonly #now: () => number
  #left: number
  #at: number

  /** `now` in milliseconds, never falling. */
  constructor(limit: RateLimit, now = () => performance.now()) {
    if (!(limit.perSecond > 0) || !(limit.burst >= 1))
      throw new RangeError('a rate limit needs perSecond above 0 and a burst of at least 1')
    this.#limit = limit
    this.#now = now
    this.#left = limit.burst
    this.#at = now()
  }

  /** Takes a token and returns 0, or returns after how many milliseconds there will be one. */
  take(): number {
    const { perSecond, burst } = this.#limit
    const now = this.#now()
    this.#left = Math.min(burst, this.#left + ((now - this.#at) * perSecond) / 1000)
    this.#at = now
    if (this.#left < 1) return Math.ceil(((1 - this.#left) * 1000) / perSecond)
    this.#left--
    return 0
  }
}
