/**
 * The body of a request in HTTP/2 as it arrives. Most are whole before anybody asks for them, and are never a stream. How
 * much may arrive ahead of the reader is bounded by the windows of the stream and of its connection, which grow as bytes
 * are read. A stream holds nothing itself, since it would hold each part by itself: `ByteQueue` bounds the memory.
 */
import { Readable } from 'node:stream'
import { ByteQueue } from '../../../base/collections/byte-queue.ts'

export class Http2Body {
  readonly #onTaken: (bytes: number) => void
  readonly #held = new ByteQueue()
  /** Bytes that arrived and were not reported as taken. */
  #untold = 0
  #stream: Readable | undefined
  #isWhole = false
  #isOver = false
  #isWanted = false
  /** Whether the stream has been told that this is all. */
  #isEnded = false

  /** `onTaken` receives the number of bytes that were read, so that as many more may arrive. */
  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken
  }

  /** Whether all of it has arrived. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** All of it, where it has arrived and nobody reads it as a stream. */
  get atHand(): Buffer | undefined {
    if (!this.#isWhole || this.#stream !== undefined) return undefined
    this.#tellTaken(this.#untold)
    return this.#held.join()
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
    this.#held.add(part)
    this.#untold += part.length
    this.#handOver()
  }

  /** The client has ended it. */
  end(): void {
    this.#isWhole = true
    this.#handOver()
  }

  /** No more of it will arrive, and none is wanted. */
  drop(): void {
    this.#isOver = true
    this.#tellTaken(this.#untold)
    if (!this.#isWhole) this.#stream?.destroy()
  }

  /** Passes on what is held where the reader of the stream has asked for more, and the end. */
  #handOver(): void {
    const stream = this.#stream
    if (stream === undefined) return
    if (this.#isWanted && this.#held.size > 0) {
      this.#isWanted = false
      for (const part of this.#held.takeParts()) stream.push(part)
      this.#tellTaken(this.#untold)
    }
    if (this.#held.size > 0 || !this.#isWhole || this.#isEnded) return
    this.#isEnded = true
    stream.push(null)
  }

  #tellTaken(bytes: number): void {
    this.#untold -= bytes
    if (bytes > 0) this.#onTaken(bytes)
  }
}
