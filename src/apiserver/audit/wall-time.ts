/**
 * Derives wall-clock times from monotonic timestamps, which every request already has. Reading a clock costs more than
 * all other timekeeping for an event. The wall clock is therefore read at most ten times a second, and clock changes
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
