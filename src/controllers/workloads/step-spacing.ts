/**
 * Keeps a loop from looking at a large set of pods at each of their events: after a look at n pods the next one waits
 * n / 100 milliseconds. Looks then take a small, constant share of the time however many pods there are, and what changed
 * meanwhile is seen at once. Small sets do not wait.
 */
const msPerObject = 0.01

export class StepSpacing {
  readonly #until = new Map<string, number>()

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
    if (ms >= 1) this.#until.set(key, performance.now() + ms)
  }
}
