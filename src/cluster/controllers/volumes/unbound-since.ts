/**
 * Tracks how long claims have been unbound. A claim is often created together with its volume and bound a moment later,
 * so the binder reports a reason only for claims that have been unbound for at least a second.
 */
import type { Clock } from '../../../base/time/clock.ts'

const graceMs = 1000

export class UnboundSince {
  readonly #clock: Clock
  /** When each claim was first seen unbound, by claim UID. */
  readonly #since = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the milliseconds until the binder may report a reason, or 0 if it may do so now. */
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
