/**
 * Remembers since when claims have had no volume. A claim is often created together with its volume and binds a moment
 * later, so the binder reports the reason only for claims that have been without a volume for a while.
 */
import type { Clock } from '../../../base/time/clock.ts'

const graceMs = 1000

export class UnboundSince {
  readonly #clock: Clock
  /** By the UIDs of the claims. */
  readonly #since = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds until the reason may be reported; 0 where it may be now. */
  waitMs(uid: string): number {
    const now = this.#clock.monotonic()
    const since = this.#since.get(uid) ?? now
    this.#since.set(uid, since)
    return Math.max(0, since + graceMs - now)
  }

  forget(uid: string): void {
    this.#since.delete(uid)
  }
}
