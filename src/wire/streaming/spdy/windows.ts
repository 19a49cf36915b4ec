/**
 * SPDY/3.1 flow control, which limits the number of bytes that may be sent on a stream, and on the whole connection,
 * before the reader acknowledges them.
 */

const defaultWindow = 64 * 1024
/** The stream ID that refers to the whole connection. */
const whole = 0

/**
 * Limits how much data may be sent before the peer acknowledges it. Many peers ignore flow control and never send an
 * acknowledgement. The limits therefore apply only after the peer has shown that it uses windows.
 */
export class SendWindows {
  #initial = defaultWindow
  #areKept = false
  readonly #used = new Map<number, number>()
  readonly #waiting = new Map<number, () => void>()

  /** Sets the initial window of all streams, as specified in the peer's SETTINGS. */
  begin(window: number): void {
    this.#initial = window
    this.#areKept = true
    this.#wakeAll()
  }

  /** Called when the peer has acknowledged `bytes` more bytes. */
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

  /** Calls `run` when the window may allow more data to be sent. */
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

/** Acknowledges the received data to the peer each time half a window has been read. */
export class ReceivedBytes {
  readonly #report: (id: number, bytes: number) => void
  readonly #bytes = new Map<number, number>()

  constructor(report: (id: number, bytes: number) => void) {
    this.#report = report
  }

  /**
   * Counts received bytes. For a stream that has ended, `id` is undefined, and only the connection's window is counted.
   */
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
