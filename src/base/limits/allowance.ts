/** A budget that is spent in bursts and regained over time, or earned: a token bucket. */

/** How much may be spent at once, and how much is regained in a second. */
export interface AllowanceLimits {
  readonly burst: number
  readonly perSecond: number
}

/** What is left of one budget. */
export class Allowance {
  readonly #limits: AllowanceLimits
  #left: number
  #since = performance.now()

  constructor(limits: AllowanceLimits) {
    this.#limits = limits
    this.#left = limits.burst
  }

  /** False once more is spent than there is. The clock is read only then, since this runs for each frame. */
  spend(cost: number): boolean {
    this.#left -= cost
    return this.#left >= 0 || this.#regain()
  }

  earn(amount: number): void {
    this.#left = Math.min(this.#limits.burst, this.#left + amount)
  }

  #regain(): boolean {
    const now = performance.now()
    this.earn(((now - this.#since) * this.#limits.perSecond) / 1000)
    this.#since = now
    return this.#left >= 0
  }
}
