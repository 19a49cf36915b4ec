/**
 * SPDY/3.1 flow control, which limits the number of bytes that may be sent on a stream, and on the whole connection,
 * before the reader acknowledges them.
 */

const defaultWindow = 64 * 1024
/** The stream ID that stands for the whole connection. */
const whole = 0

/**
 * The flow-control windows of the peer. A peer that never sends updates does not use windows, so its windows are
 * ignored. Otherwise the server would have to stop sending forever.
 */
export class SendWindows {
  #initial = defaultWindow
  #areKept = false
  readonly #used = new Map<number, number>()
  readonly #waiting = new Map<number, () => void>()

  /** Sets the initial window of streams, as requested by the peer. */
  begin(window: number): void {
    this.#initial = window
    this.#areKept = true
    this.#wakeAll()
  }

  /** Applies a window update: the peer has read `bytes` more bytes. */
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

  /** Calls `run` when there may be room in the window to send data. */
  wait(id: number, run: () => void): void {
    this.#waiting.set(id, run)
  }

  forget(id: number): void {
    this.#used.delete(id)
    const run = this.#waiting.get(id)
    this.#waiting.delete(id)
    run?.()
  }

  /** Resumes all writers that wait for a window. */
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

/** Counts the bytes that the server has read, and reports them to the peer after each half window. */
export class ReceivedBytes {
  readonly #report: (id: number, bytes: number) => void
  readonly #bytes = new Map<number, number>()

  constructor(report: (id: number, bytes: number) => void) {
    this.#report = report
  }

  /** Adds received bytes. `id` is undefined if the stream has ended. */
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
