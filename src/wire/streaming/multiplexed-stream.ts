/**
 * One of several streams on a connection: what the other side sends on it is read here, what is written here goes to the
 * other side. The connection gives it data, and waits while its reader is too slow, so that no more than a bounded amount
 * is held: by a `ByteQueue`, as the stream itself would hold each part with the TLS record that it was in.
 */
import { Duplex } from 'node:stream'
import { ByteQueue } from '../../base/collections/byte-queue.ts'

/** How the connection carries what a stream has to say. */
export interface StreamCarrier {
  /** Calls `done` when there is room for more. */
  send(chunk: Buffer, done: () => void): void
  /** Nothing more will be written. */
  finish(done: () => void): void
  /** The stream is over; `cut` where not both sides have said all. */
  forget(how: 'complete' | 'cut'): void
}

/** How much of a stream may wait for its reader. */
const maxWaitingBytes = 128 * 1024

export class MultiplexedStream extends Duplex {
  readonly #carrier: StreamCarrier
  readonly #held = new ByteQueue()
  #onRoom: (() => void) | undefined
  /** Whether the reader has asked for more. */
  #isWanted = false
  /** Whether the other side has said all, and whether the reader has been told so. */
  #isWhole = false
  #isEnded = false

  constructor(carrier: StreamCarrier) {
    super({ readableHighWaterMark: 0, writableHighWaterMark: maxWaitingBytes, emitClose: true })
    this.#carrier = carrier
    // The connection ends its streams with an error when it breaks; not everybody who has a stream looks for that.
    this.on('error', () => {})
  }

  /** The number of bytes that wait for the reader. */
  get waitingBytes(): number {
    return this.#held.size
  }

  /** Takes what the other side has sent. Undefined where there is room for more; else resolves when there is. */
  receive(data: Buffer): Promise<void> | undefined {
    if (this.destroyed || this.#isWhole) return undefined
    this.#held.add(data)
    this.#handOver()
    if (this.#held.size < maxWaitingBytes) return undefined
    return new Promise((resolve) => {
      this.#onRoom = resolve
    })
  }

  /** The other side has said all. */
  receiveEnd(): void {
    this.#isWhole = true
    this.#handOver()
  }

  override _read(): void {
    this.#isWanted = true
    this.#handOver()
  }

  #handOver(): void {
    if (this.destroyed) return
    if (this.#isWanted && this.#held.size > 0) {
      this.#isWanted = false
      for (const part of this.#held.takeParts()) this.push(part)
      this.#makeRoom()
    }
    if (this.#held.size > 0 || !this.#isWhole || this.#isEnded) return
    this.#isEnded = true
    this.push(null)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#carrier.send(chunk, done)
  }

  override _final(done: () => void): void {
    this.#carrier.finish(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#held.clear()
    this.#makeRoom()
    this.#carrier.forget(this.readableEnded && this.writableFinished ? 'complete' : 'cut')
    done(error)
  }

  #makeRoom(): void {
    this.#onRoom?.()
    this.#onRoom = undefined
  }
}
