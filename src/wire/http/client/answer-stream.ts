/**
 * The body of a response as a stream. The stream buffers a limited amount of data in a `ByteQueue`, because Node's own
 * stream buffer would store each chunk separately. A truncated body ends with an error. Destroying the stream ends the
 * call.
 */
import { Readable } from 'node:stream'
import { ByteQueue } from '../../../base/collections/byte-queue.ts'

/** Number of buffered bytes above which the call stops reading from the connection. */
const maxBufferedBytes = 64 * 1024

/** The body of a response that is still being received. */
export class AnswerStream extends Readable {
  readonly #onAbandoned: () => void
  readonly #buffered = new ByteQueue()
  /** Whether the reader waits for data. */
  #isWanted = false
  #isComplete = false
  /** Whether the reader has been notified of the end of the body. */
  #isEnded = false
  #onRoom: (() => void) | undefined

  /** Creates a stream for a body. `onAbandoned` is called if the reader stops early. */
  constructor(onAbandoned: () => void) {
    super({ highWaterMark: 0 })
    this.#onAbandoned = onAbandoned
    // Prevents a crash. The reader of the stream handles its errors, such as a truncated body.
    this.on('error', () => {})
  }

  get mayGrow(): boolean {
    return this.#buffered.size < maxBufferedBytes
  }

  /** Calls `onRoom` once, when the consumer of the stream needs more data. */
  wait(onRoom: () => void): void {
    this.#onRoom = onRoom
  }

  add(bytes: Buffer): void {
    this.#buffered.add(bytes)
    this.#handOver()
  }

  /** Called after the last chunk of the body. */
  complete(): void {
    this.#isComplete = true
    this.#handOver()
  }

  override _read(): void {
    this.#isWanted = true
    this.#handOver()
    if (!this.mayGrow) return
    const onRoom = this.#onRoom
    this.#onRoom = undefined
    onRoom?.()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#buffered.clear()
    this.#onAbandoned()
    callback(error)
  }

  /** Passes buffered data to the reader if the reader is waiting, and then the end of the body. */
  #handOver(): void {
    if (this.#isWanted && this.#buffered.size > 0) {
      this.#isWanted = false
      for (const part of this.#buffered.takeParts()) this.push(part)
    }
    if (!this.#isComplete || this.#isEnded || this.#buffered.size > 0) return
    this.#isEnded = true
    this.push(null)
  }
}
