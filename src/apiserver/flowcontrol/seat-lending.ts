/**
 * Lending of seats between priority levels, as in Kubernetes since 1.26. Each level has a nominal number of seats,
 * lends up to `lendablePercent` of them, and borrows up to `borrowingLimitPercent`. Every ten seconds, the seats are
 * redistributed according to demand. The lower bound of a level is the number of seats that it never lends or, if
 * greater, its demand up to its nominal number of seats. The upper bound is its limit including borrowed seats. Between
 * these bounds, every level gets the same fraction of its target.
 */
import type { DemandOfPeriod } from './seat-demand.ts'

/** Interval in milliseconds between two redistributions. */
export const lendingPeriodMs = 10_000

/** The nominal, minimum and maximum number of seats of a level. */
export interface SeatBounds {
  readonly nominal: number
  /** The seats that the level never lends, and thus its minimum. */
  readonly lower: number
  /** Maximum number of seats of the level, including borrowed seats. */
  readonly upper: number
}

/** The lending limits of a priority level, in percent. Undefined means no limit. */
export interface Lending {
  readonly lendablePercent: number
  readonly borrowingLimitPercent: number | undefined
}

/** Computes the bounds of a level from its nominal seats and its lending limits. */
export function seatBounds(nominal: number, lending: Lending, allSeats: number): SeatBounds {
  const { lendablePercent, borrowingLimitPercent } = lending
  const borrowed = borrowingLimitPercent === undefined ? allSeats : Math.round((nominal * borrowingLimitPercent) / 100)
  return { nominal, lower: nominal - Math.round((nominal * lendablePercent) / 100), upper: nominal + borrowed }
}

/** A level that takes part in the distribution of seats. */
export interface LendingLevel {
  readonly bounds: SeatBounds
  readonly demand: DemandOfPeriod
  /** Whether the level is exempt. Requests of an exempt level do not wait, so the level gets all seats that it uses. */
  readonly isExempt: boolean
}

/** The result of distributing seats. */
export interface SeatShares {
  /** The number of seats that each level gets, in the order of the levels. */
  readonly seats: readonly number[]
  readonly targets: readonly number[]
  /** The fraction of its target that each level gets, within its bounds. The fraction is the same for all levels. */
  readonly fairFraction: number
}

const maxSteps = 60

/** Distributes the seats of the server to its levels. */
export function distributeSeats(allSeats: number, levels: readonly LendingLevel[]): SeatShares {
  const shares = levels.map(({ bounds, demand, isExempt }) => {
    const needed = isExempt ? demand.high : Math.min(bounds.nominal, demand.high)
    const lower = Math.max(bounds.lower, needed)
    return { lower, upper: Math.max(bounds.upper, lower), target: Math.max(lower, demand.smoothed) }
  })
  const seatsAt = (fraction: number) =>
    shares.map(({ lower, upper, target }) => Math.min(upper, Math.max(lower, fraction * target)))
  const total = (fraction: number) => seatsAt(fraction).reduce((sum, seats) => sum + seats, 0)
  // Find the fraction by bisection, because the total number of seats grows with the fraction.
  let low = 0
  let high = 1 + allSeats / Math.min(1, ...shares.flatMap(({ target }) => (target > 0 ? [target] : [])))
  for (let step = 0; step < maxSteps && low < high; step++) {
    const middle = (low + high) / 2
    if (total(middle) <= allSeats) low = middle
    else high = middle
  }
  return {
    seats: seatsAt(low).map((seats) => Math.round(seats)),
    targets: shares.map(({ target }) => target),
    fairFraction: low,
  }
}
