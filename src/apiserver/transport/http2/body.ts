/**
 * Buffers the body of an HTTP/2 request. Most bodies are complete before a handler reads them and never become a
 * stream. The flow-control windows of the stream and the connection limit the amount of unread data, and grow as data
 * is read. The stream's own buffering is disabled; otherwise, each chunk would be stored separately. `ByteQueue` limits
 * the memory.
 */
import { Readable } from 'node:stream'
import { ByteQueue } from '../../../base/collections/byte-queue.ts'

export class Http2Body {
  readonly #onTaken: (bytes: number) => void
  readonly #buffered = new ByteQueue()
  /** Number of bytes that the handler has read but that have not been returned to the flow-control windows yet. */
  #untold = 0
  #stream: Readable | undefined
  #isWhole = false
  #isOver = false
  #isWanted = false
  /** Whether the handler has been notified of the end of the body. */
  #isEnded = false

  /**
   * Creates an empty body. `onTaken` is called with the number of bytes that the handler has read, so that the
   * connection can reopen its flow-control windows.
   */
  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken
  }

  /** Whether the whole body has arrived. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** The whole body. Undefined if the body is incomplete or is read as a stream. */
  get atHand(): Buffer | undefined {
    if (!this.#isWhole || this.#stream !== undefined) return undefined
    this.#tellTaken(this.#untold)
    return this.#buffered.join()
  }

  get stream(): Readable {
    if (this.#stream !== undefined) return this.#stream
    this.#stream = new Readable({
      highWaterMark: 0,
      read: () => {
        this.#isWanted = true
        this.#handOver()
      },
    })
    if (this.#isOver && !this.#isWhole) this.#stream.destroy()
    return this.#stream
  }

  receive(part: Buffer): void {
    this.#buffered.add(part)
    this.#untold += part.length
    this.#handOver()
  }

  /** Called when the client has sent the end of the body. */
  end(): void {
    this.#isWhole = true
    this.#handOver()
  }

  /** Discards the body. Data that arrives later is ignored. */
  drop(): void {
    this.#isOver = true
    this.#tellTaken(this.#untold)
    if (!this.#isWhole) this.#stream?.destroy()
  }

  /**
   * Pushes the buffered data to the stream if its reader has requested more data. Pushes the end of the body after the
   * last data.
   */
  #handOver(): void {
    const stream = this.#stream
    if (stream === undefined) return
    if (this.#isWanted && this.#buffered.size > 0) {
      this.#isWanted = false
      for (const part of this.#buffered.takeParts()) stream.push(part)
      this.#tellTaken(this.#untold)
    }
    if (this.#buffered.size > 0 || !this.#isWhole || this.#isEnded) return
    this.#isEnded = true
    stream.push(null)
  }

  #tellTaken(bytes: number): void {
    this.#untold -= bytes
    if (bytes > 0) this.#onTaken(bytes)
  }
}
