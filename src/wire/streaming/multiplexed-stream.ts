/**
 * A stream on a multiplexed connection. Reading returns the data that the peer sends on the stream, and writing sends
 * data to the peer. A slow reader makes the connection wait, so the amount of buffered data is limited. Data is
 * buffered in a `ByteQueue`, because Node's own stream buffer would keep the TLS record of each chunk in memory.
 */
import { Duplex } from 'node:stream'
import { ByteQueue } from '../../base/collections/byte-queue.ts'

/** The interface through which a stream uses the connection that carries it. */
export interface StreamCarrier {
  /** Sends a chunk. Calls `done` when there is room for more data. */
  send(chunk: Buffer, done: () => void): void
  /** Tells the peer that the stream sends no more data. */
  finish(done: () => void): void
  /** Called when the stream is closed. `cut` means that at least one side had not finished sending. */
  forget(ending: 'complete' | 'cut'): void
}

/** Maximum number of bytes that may be buffered for the reader. */
const maxWaitingBytes = 128 * 1024

export class MultiplexedStream extends Duplex {
  readonly #carrier: StreamCarrier
  readonly #pendingBytes = new ByteQueue()
  #onRoom: (() => void) | undefined
  /** Whether the reader is waiting for data. */
  #isWanted = false
  /** Whether the peer has sent all its data. */
  #isWhole = false
  #isEnded = false

  constructor(carrier: StreamCarrier) {
    super({ readableHighWaterMark: 0, writableHighWaterMark: maxWaitingBytes, emitClose: true })
    this.#carrier = carrier
    // Prevents a crash. A broken connection destroys all its streams with an error, and some of them have no other
    // listener.
    this.on('error', () => {})
  }

  /** Number of bytes that are buffered for the reader. */
  get waitingBytes(): number {
    return this.#pendingBytes.size
  }

  /**
   * Adds received data. Returns undefined if there is room for more data. Otherwise returns a promise that resolves
   * when there is room.
   */
  receive(data: Buffer): Promise<void> | undefined {
    if (this.destroyed || this.#isWhole) return undefined
    this.#pendingBytes.add(data)
    this.#handOver()
    if (this.#pendingBytes.size < maxWaitingBytes) return undefined
    return new Promise((resolve) => {
      this.#onRoom = resolve
    })
  }

  /** Called when the peer has sent all its data. */
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
    if (this.#isWanted && this.#pendingBytes.size > 0) {
      this.#isWanted = false
      for (const part of this.#pendingBytes.takeParts()) this.push(part)
      this.#makeRoom()
    }
    if (this.#pendingBytes.size > 0 || !this.#isWhole || this.#isEnded) return
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
    this.#pendingBytes.clear()
    this.#makeRoom()
    this.#carrier.forget(this.readableEnded && this.writableFinished ? 'complete' : 'cut')
    done(error)
  }

  #makeRoom(): void {
    this.#onRoom?.()
    this.#onRoom = undefined
  }
}
