/**
 * The body of an HTTP/2 request as it arrives. Most bodies are complete before they are needed and never become a
 * stream. The flow-control windows of the stream and the connection limit the amount of data that may arrive before it
 * is read. They grow as bytes are read. The stream itself buffers nothing, because it would store each chunk
 * separately. `ByteQueue` limits the memory.
 */
import { Readable } from 'node:stream'
import { ByteQueue } from '../../../base/collections/byte-queue.ts'

export class Http2Body {
  readonly #onTaken: (bytes: number) => void
  readonly #buffered = new ByteQueue()
  /** Number of bytes that have arrived but have not been reported as read. */
  #untold = 0
  #stream: Readable | undefined
  #isWhole = false
  #isOver = false
  #isWanted = false
  /** Whether the end of the body has been pushed to the stream. */
  #isEnded = false

  /** Creates a body. `onTaken` receives the number of bytes read, so that the windows can be enlarged. */
  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken
  }

  /** Whether the whole body has arrived. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** The whole body. Undefined if it has not arrived yet or is read as a stream. */
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

  /** Called when the client has sent the whole body. */
  end(): void {
    this.#isWhole = true
    this.#handOver()
  }

  /** Discards the body. No more data will arrive or is needed. */
  drop(): void {
    this.#isOver = true
    this.#tellTaken(this.#untold)
    if (!this.#isWhole) this.#stream?.destroy()
  }

  /** Pushes the buffered data to the stream if its reader has requested more, and then the end of the body. */
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
