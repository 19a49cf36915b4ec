/**
 * How soon the failed pod of a node is deleted, so that another one is tried: after a pause that doubles each time, from
 * a second to a quarter of an hour, and is forgotten when nothing failed for twice as long.
 */
import type { Clock } from '../../../../base/time/clock.ts'

const firstMs = 1000
const longestMs = 15 * 60_000

export class FailedPods {
  readonly #clock: Clock
  readonly #pauses = new Map<string, { readonly at: number; readonly ms: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** 0 where a failed pod may be deleted now, which is noted; else in how many milliseconds. */
  attempt(key: string): number {
    const now = this.#clock.monotonic()
    const last = this.#pauses.get(key)
    const isOld = last === undefined || now - last.at > 2 * longestMs
    if (!isOld && now - last.at < last.ms) return last.ms - (now - last.at)
    this.#pauses.delete(key)
    this.#pauses.set(key, { at: now, ms: isOld ? firstMs : Math.min(last.ms * 2, longestMs) })
    this.#forgetOld(now)
    return 0
  }

  /** The entries are in the order of their last attempt. */
  #forgetOld(now: number): void {
    for (const [key, { at }] of this.#pauses) {
      if (now - at <= 2 * longestMs) return
      this.#pauses.delete(key)
    }
  }
}
