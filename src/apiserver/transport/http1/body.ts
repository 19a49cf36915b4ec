/**
 * Buffers the body of an HTTP/1.1 request. Most bodies are complete before a handler reads them and never become a
 * stream. For other bodies, the connection is paused once about `maxHeld` bytes are buffered, and resumes when the
 * handler reads. The stream's own buffering is disabled; otherwise, each chunk would be stored separately. `ByteQueue`
 * limits the memory.
 */
import { Readable } from 'node:stream'
import { ByteQueue } from '../../../base/collections/byte-queue.ts'
import { ChunkReader } from './chunks.ts'
import type { RequestHead } from './head.ts'

/** Maximum number of bytes to buffer, both for an unread body and for data that follows a request. */
export const maxHeld = 64 * 1024

/** Maximum number of bytes of an unwanted body to read and discard, so that the client can read the response. */
export const maxDiscarded = 16 * 1024 * 1024

export interface BodySource {
  /**
   * Called when the handler requests data and none is buffered. Resumes the connection, and sends 100 Continue to a
   * client that waits for it.
   */
  readonly onWanted: () => void
  /** Called when the buffer is full. */
  readonly onFull: () => void
}

export class IncomingBody {
  readonly #source: BodySource
  readonly #chunks: ChunkReader | undefined
  #remainingBytes: number
  readonly #buffered = new ByteQueue()
  #stream: Readable | undefined
  /** Whether the handler has read all data so far and is waiting for more. */
  #isWanted = false
  /** Whether the handler has been notified of the end of the body. */
  #isEnded = false
  /** Number of bytes that were read and discarded. Undefined as long as the body is wanted. */
  #discarded: number | undefined
  #isBroken = false

  constructor({ isChunked, length }: RequestHead, source: BodySource) {
    this.#chunks = isChunked ? new ChunkReader() : undefined
    this.#remainingBytes = length
    this.#source = source
  }

  /** Whether the whole body has arrived. */
  get isWhole(): boolean {
    return this.#chunks?.isDone ?? this.#remainingBytes === 0
  }

  /** The whole body. Undefined if the body is incomplete or is read as a stream. */
  get atHand(): Buffer | undefined {
    return this.isWhole && this.#stream === undefined ? this.#buffered.join() : undefined
  }

  get stream(): Readable {
    if (this.#stream !== undefined) return this.#stream
    this.#stream = new Readable({
      highWaterMark: 0,
      read: () => {
        this.#isWanted = true
        this.#handOver()
        this.#source.onWanted()
      },
    })
    if (this.#isBroken) this.#stream.destroy()
    this.#handOver()
    return this.#stream
  }

  /**
   * Consumes the body's bytes at the start of `bytes`. Returns the number of consumed bytes, or undefined if the body
   * is malformed.
   */
  receive(bytes: Buffer): number | undefined {
    const read = this.#chunks === undefined ? this.#takeByLength(bytes) : this.#chunks.read(bytes)
    if (read === undefined) return undefined
    if (read.content.length > 0) this.#hold(read.content)
    this.#handOver()
    return read.used
  }

  /** Discards the rest of the body. */
  discard(): void {
    this.#discarded ??= 0
    this.#buffered.clear()
    this.#stream?.resume()
    this.#source.onWanted()
  }

  /** Whether the client has sent so much of an unwanted body that the server should stop reading it. */
  get isExcessive(): boolean {
    return (this.#discarded ?? 0) > maxDiscarded
  }

  /** Marks the body as truncated because the client has disconnected. */
  break(): void {
    if (this.isWhole) return
    this.#isBroken = true
    this.#stream?.destroy()
  }

  #takeByLength(bytes: Buffer): { readonly used: number; readonly content: Buffer } {
    const used = Math.min(this.#remainingBytes, bytes.length)
    this.#remainingBytes -= used
    return { used, content: used === bytes.length ? bytes : bytes.subarray(0, used) }
  }

  #hold(part: Buffer): void {
    if (this.#discarded !== undefined) {
      this.#discarded += part.length
      return
    }
    this.#buffered.add(part)
    this.#handOver()
    if (this.#buffered.size > maxHeld) this.#source.onFull()
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
    }
    if (this.#buffered.size > 0 || !this.isWhole || this.#isEnded) return
    this.#isEnded = true
    stream.push(null)
  }
}
