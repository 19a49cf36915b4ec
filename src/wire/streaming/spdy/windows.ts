/** The windows of SPDY/3.1: how much may be sent on a stream, and on the connection as a whole, before the reader agrees. */

const defaultWindow = 64 * 1024
/** The connection as a whole, among the numbers of streams. */
const whole = 0

/**
 * The other side's windows. A side that never reports what it has taken keeps none, and is not held to them: it would
 * wait for good.
 */
export class SendWindows {
  #initial = defaultWindow
  #areKept = false
  readonly #used = new Map<number, number>()
  readonly #waiting = new Map<number, () => void>()

  /** The other side has said how large the window of a stream is. */
  begin(window: number): void {
    this.#initial = window
    this.#areKept = true
    this.#wakeAll()
  }

  /** The other side has taken so many bytes. */
  grow(id: number, bytes: number): void {
    this.#areKept = true
    this.#used.set(id, (this.#used.get(id) ?? 0) - bytes)
    this.#wakeAll()
  }

  roomFor(id: number): number {
    if (!this.#areKept) return Number.POSITIVE_INFINITY
    return Math.min(this.#initial - (this.#used.get(id) ?? 0), defaultWindow - (this.#used.get(whole) ?? 0))
  }

  take(id: number, bytes: number): void {
    for (const each of [id, whole]) this.#used.set(each, (this.#used.get(each) ?? 0) + bytes)
  }

  /** Calls it when there may be room. */
  wait(id: number, run: () => void): void {
    this.#waiting.set(id, run)
  }

  forget(id: number): void {
    this.#used.delete(id)
    const run = this.#waiting.get(id)
    this.#waiting.delete(id)
    run?.()
  }

  /** Nobody waits any more. */
  close(): void {
    this.#areKept = false
    this.#wakeAll()
  }

  #wakeAll(): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const run of waiting) run()
  }
}

/** What this side has taken, reported each time half a window is used up. */
export class ReceivedBytes {
  readonly #report: (id: number, bytes: number) => void
  readonly #bytes = new Map<number, number>()

  constructor(report: (id: number, bytes: number) => void) {
    this.#report = report
  }

  /** `id` is undefined where the stream has ended. */
  add(bytes: number, id: number | undefined): void {
    for (const each of id === undefined ? [whole] : [id, whole]) {
      const sum = (this.#bytes.get(each) ?? 0) + bytes
      const isDue = sum >= defaultWindow / 2
      if (isDue) this.#report(each, sum)
      this.#bytes.set(each, isDue ? 0 : sum)
    }
  }

  forget(id: number): void {
    this.#bytes.delete(id)
  }
}
