/**
 * Derives wall-clock times from the monotonic timestamps that every request already has. Reading the wall clock is the
 * most expensive part of timing an event, so the clock is read at most ten times a second. Changes to the system time
 * take effect up to 100 ms later.
 */
import type { Clock } from '../../base/time/clock.ts'

const readEveryMs = 100

/** Returns a function that converts a monotonic timestamp to milliseconds since 1970. */
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
