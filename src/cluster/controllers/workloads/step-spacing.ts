/**
 * Prevents a loop from scanning large sets of pods at every event. A scan of n pods adds n / 10 milliseconds to a delay
 * that all sets share. The scanned set waits for this delay before its next scan. Scans therefore take a small,
 * constant share of the time, regardless of the number of pods and sets. Small sets, and sets that have not been
 * scanned recently, do not wait.
 */
const msPerObject = 0.1
/** Maximum delay before the next scan of a set, in milliseconds. */
const maxSpacingMs = 1000

export class StepSpacing {
  readonly #until = new Map<string, number>()
  #paidAt = 0

  /** Returns the milliseconds until the next scan of this key, or 0 if it may run now. */
  waitMs(key: string): number {
    const until = this.#until.get(key)
    if (until === undefined) return 0
    const restMs = until - performance.now()
    if (restMs >= 1) return restMs
    this.#until.delete(key)
    return 0
  }

  /** Records a scan of this many objects. */
  looked(key: string, count: number): void {
    const ms = count * msPerObject
    if (ms < 1) return
    const now = performance.now()
    this.#paidAt = Math.min(Math.max(this.#paidAt, now) + ms, now + maxSpacingMs)
    this.#until.set(key, this.#paidAt)
  }
}
