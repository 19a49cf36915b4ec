/**
 * The body of a request that Node reads. About `maxHeld` bytes are held ahead of the reader; then Node stops reading from
 * the connection. A reader that destroys the stream does not end the connection, as it would with Node's own stream, so
 * that the request can still be answered.
 */
import type { Readable } from 'node:stream'
import { maxDiscarded, maxHeld } from '../http1/body.ts'
import { Http2Body } from '../http2/body.ts'

export interface BodySource {
  readonly stream: Readable
  /** Whether the client has ended the body. Node also ends streams that broke off. */
  readonly isComplete: () => boolean
  /** The body has come to its end, or broke off. */
  readonly onOver: () => void
  /** More of a body that nobody wants has arrived than is taken. */
  readonly onExcess: () => void
}

export class RequestBody {
  readonly #source: BodySource
  readonly #body: Http2Body
  #heldBytes = 0
  /** Bytes that were dropped; undefined while the body is wanted. */
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

  /** Whether more of it may arrive. Node may have received all of it before the stream ends. */
  get isArriving(): boolean {
    return !this.#isOver && !this.#source.isComplete()
  }

  get atHand(): Buffer | undefined {
    return this.#body.atHand
  }

  get stream(): Readable {
    return this.#body.stream
  }

  /** The rest of the body is not wanted. */
  discard(): void {
    if (this.#isOver) return
    this.#discardedBytes ??= 0
    this.#source.stream.resume()
  }

  /** No more of the body will arrive. */
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
