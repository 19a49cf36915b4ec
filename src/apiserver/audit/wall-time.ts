/**
 * The time by the wall clock of moments that were measured by the monotonic one. Requests are measured anyway, and reading
 * a clock costs more than all else that an event needs its time for: the wall clock is read ten times a second at most, so
 * that much later it is followed where somebody sets it.
 */
import type { Clock } from '../../base/time/clock.ts'

const readEveryMs = 100

/** Returns a function from a moment of the monotonic clock to milliseconds since 1970. */
export function wallTime(clock: Clock): (moment: number) => number {
  let readAt = Number.NEGATIVE_INFINITY
  let difference = 0
  return (moment) => {
    if (moment - readAt >= readEveryMs) {
      readAt = clock.monotonic()
      difference = clock.now() - readAt
    }
    return moment + difference
  }
}
