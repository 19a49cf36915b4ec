/**
 * Keeps a loop from looking at large sets of pods at each of their events: a look at n pods is paid for with n / 10
 * milliseconds, and the next look at the same set waits until all looks of the loop so far are paid for. Looks then take a
 * small, constant share of the time however many pods and sets there are, and what changed meanwhile is seen at once. A
 * set that has not been looked at for a while does not wait, nor do small ones.
 */
const msPerObject = 0.1
/** No set waits for longer, whatever others cost. */
const longestMs = 1000

export class StepSpacing {
  readonly #until = new Map<string, number>()
  #paidAt = 0

  /** For how many milliseconds the next look at this key has to wait; 0: it may be now. */
  waitMs(key: string): number {
    const until = this.#until.get(key)
    if (until === undefined) return 0
    const restMs = until - performance.now()
    if (restMs >= 1) return restMs
    this.#until.delete(key)
    return 0
  }

  /** So many objects were looked at. */
  looked(key: string, count: number): void {
    const ms = count * msPerObject
    if (ms < 1) return
    const now = performance.now()
    this.#paidAt = Math.min(Math.max(this.#paidAt, now) + ms, now + longestMs)
    this.#until.set(key, this.#paidAt)
  }
}
