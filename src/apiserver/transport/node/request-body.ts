/**
 * Buffers the body of a request that Node reads. When about `maxHeld` bytes are buffered, Node stops reading from the
 * connection. Unlike Node's own stream, this stream can be destroyed without closing the connection, so the server can
 * still send a response.
 */
import type { Readable } from 'node:stream'
import { maxDiscarded, maxHeld } from '../http1/body.ts'
import { Http2Body } from '../http2/body.ts'

export interface BodySource {
  readonly stream: Readable
  /** Returns whether the client has sent its whole body. Node's stream also ends for a truncated body. */
  readonly isComplete: () => boolean
  /** Called when no more of the body will arrive. */
  readonly onOver: () => void
  /** Called when the client has sent more of an unwanted body than `maxDiscarded`. */
  readonly onExcess: () => void
}

export class RequestBody {
  readonly #source: BodySource
  readonly #body: Http2Body
  #heldBytes = 0
  /** Number of discarded bytes. Undefined unless the body is being discarded. */
  #discardedBytes: number | undefined
  #isOver = false

  constructor(source: BodySource) {
    this.#source = source
    this.#body = new Http2Body((bytes) => this.#onRead(bytes))
    const { stream, isComplete } = source
    stream.on('data', (part: Buffer) => this.#receive(part))
    stream.on('end', () => (isComplete() ? this.#end() : this.break()))
    stream.on('error', () => this.break())
    stream.on('close', () => this.break())
  }

  get isWhole(): boolean {
    return this.#body.isWhole
  }

  /**
   * Whether the client may still be sending. The source is complete as soon as the last byte has arrived, before the
   * stream ends.
   */
  get isArriving(): boolean {
    return !this.#isOver && !this.#source.isComplete()
  }

  get atHand(): Buffer | undefined {
    return this.#body.atHand
  }

  get stream(): Readable {
    return this.#body.stream
  }

  /** Discards the rest of the body. */
  discard(): void {
    if (this.#isOver) return
    this.#discardedBytes ??= 0
    this.#source.stream.resume()
  }

  /** Marks the body as truncated, because no more data will arrive. */
  break(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#body.drop()
    this.#source.onOver()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#body.end()
    this.#source.onOver()
  }

  #receive(part: Buffer): void {
    if (this.#isOver) return
    if (this.#discardedBytes !== undefined) {
      this.#discardedBytes += part.length
      if (this.#discardedBytes > maxDiscarded) this.#source.onExcess()
      return
    }
    this.#heldBytes += part.length
    this.#body.receive(part)
    if (this.#heldBytes > maxHeld) this.#source.stream.pause()
  }

  #onRead(bytes: number): void {
    this.#heldBytes -= bytes
    if (this.#heldBytes <= maxHeld && this.#source.stream.isPaused()) this.#source.stream.resume()
  }
}
