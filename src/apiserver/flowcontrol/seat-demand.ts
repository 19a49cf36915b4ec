/**
 * Measures how many seats a priority level needs: the seats that its requests use or wait for. The lending of seats is
 * based on the average demand in the last period, and on a smoothed demand that rises immediately and falls slowly.
 */
import type { Clock } from '../../base/time/clock.ts'

/**
 * Weight of the old value in the smoothed demand. With this weight, the smoothed demand falls by half in about five
 * minutes.
 */
const smoothing = 0.977

/** Statistics about the demand for seats during one period. */
export interface DemandOfPeriod {
  /** The highest demand at any time in the period. */
  readonly high: number
  readonly average: number
  readonly deviation: number
  readonly smoothed: number
}

/** Integrates the demand of a priority level over time. */
export class SeatDemand {
  readonly #clock: Clock
  #seats = 0
  #since: number
  #began: number
  #high = 0
  #sum = 0
  #sumOfSquares = 0
  #last: DemandOfPeriod = { high: 0, average: 0, deviation: 0, smoothed: 0 }

  constructor(clock: Clock) {
    this.#clock = clock
    this.#since = this.#began = clock.monotonic()
  }

  /** The current demand in seats. */
  get seats(): number {
    return this.#seats
  }

  /** Statistics of the last completed period. */
  get last(): DemandOfPeriod {
    return this.#last
  }

  /** Adds seats to the current demand, or removes them if the number is negative. */
  add(seats: number): void {
    this.#integrate()
    this.#seats += seats
    if (this.#seats > this.#high) this.#high = this.#seats
  }

  /** Ends the current period and begins the next. Returns the demand in the ended period. */
  endPeriod(): DemandOfPeriod {
    this.#integrate()
    const ms = this.#since - this.#began
    const average = ms > 0 ? this.#sum / ms : this.#seats
    const deviation = ms > 0 ? Math.sqrt(Math.max(this.#sumOfSquares / ms - average ** 2, 0)) : 0
    const envelope = average + deviation
    const smoothed = Math.max(envelope, smoothing * this.#last.smoothed + (1 - smoothing) * envelope)
    this.#last = { high: this.#high, average, deviation, smoothed }
    this.#began = this.#since
    this.#sum = this.#sumOfSquares = 0
    this.#high = this.#seats
    return this.#last
  }

  #integrate(): void {
    const now = this.#clock.monotonic()
    const ms = now - this.#since
    this.#sum += this.#seats * ms
    this.#sumOfSquares += this.#seats ** 2 * ms
    this.#since = now
  }
}
