/**
 * Backoff for deleting the failed pod of a node. A new pod is created after the deletion. The backoff doubles from one
 * second up to 15 minutes, and is reset after 30 minutes without a failure.
 */
import type { Clock } from '../../../../base/time/clock.ts'

const firstMs = 1000
const maxBackoffMs = 15 * 60_000

export class FailedPods {
  readonly #clock: Clock
  readonly #pauses = new Map<string, { readonly at: number; readonly ms: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns 0 if a failed pod may be deleted now, and records the deletion. Otherwise returns the remaining
   * milliseconds.
   */
  attempt(key: string): number {
    const now = this.#clock.monotonic()
    const last = this.#pauses.get(key)
    const isOld = last === undefined || now - last.at > 2 * maxBackoffMs
    if (!isOld && now - last.at < last.ms) return last.ms - (now - last.at)
    this.#pauses.delete(key)
    this.#pauses.set(key, { at: now, ms: isOld ? firstMs : Math.min(last.ms * 2, maxBackoffMs) })
    this.#forgetOld(now)
    return 0
  }

  /** Removes old entries. Entries are ordered by their last attempt. */
  #forgetOld(now: number): void {
    for (const [key, { at }] of this.#pauses) {
      if (now - at <= 2 * maxBackoffMs) return
      this.#pauses.delete(key)
    }
  }
}
