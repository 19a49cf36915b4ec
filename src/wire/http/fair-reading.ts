/**
 * Limits how much data is read from each connection in one turn of the event loop.
 *
 * Time: while the client keeps sending, libuv reads a socket up to 32 times in a row, which can amount to 2 MiB. All
 * other connections would have to wait. The limit per turn therefore applies to each connection, and to all connections
 * of a client together. Data above the limit waits for later turns, in which the connections of the client are read in
 * order.
 *
 * Memory: a stream stores each chunk separately, and a client can send each byte in a separate TLS record. Small chunks
 * are therefore joined while they wait to be read.
 */
import type { Socket } from 'node:net'
import { ByteQueue } from '../../base/collections/byte-queue.ts'
import { ReadingTurns } from './reading-turns.ts'

/** Maximum number of bytes that one connection delivers per turn of the event loop. */
const maxBytesPerTurn = 64 * 1024
/** Cost of delivering one chunk, expressed in bytes. A small TLS record costs far more than its size suggests. */
const bytesPerChunk = 128
/** Estimated time in milliseconds to decrypt one TLS record and pass it to the stream. */
const msPerChunk = 0.002

const turns = new ReadingTurns()

/**
 * Makes a socket share the event loop fairly with other sockets by limiting how much data is read from it per turn.
 * When the socket or its client reaches the limit, the socket is not read for the rest of the turn. Small chunks are
 * joined. `clientOf` identifies the client. By default, each socket counts as a separate client.
 */
export function readFairly(socket: Socket, clientOf: () => string | undefined = () => undefined): void {
  const reader = new FairReader(socket, clientOf)
  socket._read = (size) => reader.want(size)
  socket.push = (chunk, encoding) => reader.receive(chunk as Buffer | null, encoding)
  socket.read = (size) => reader.take(size)
}

/** A layer between a socket and its native stream. To stop the native stream from reading, `receive` returns false. */
class FairReader {
  readonly #socket: Socket
  readonly #clientOf: () => string | undefined
  /** The socket's original methods, which this class replaces. */
  readonly #push: Socket['push']
  readonly #read: Socket['_read']
  readonly #take: Socket['read']
  #lastTurn = -1
  #delivered = 0
  /**
   * Time in milliseconds that reading this connection took: in the turn `#lastTurn`, and in the previous turn in which
   * the connection was read.
   */
  #spentMs = 0
  #previousMs = 0
  #isStopped = false
  /** Whether the socket has requested data that has not been delivered yet. The socket requests data only once. */
  #isAwaited = false
  /** Whether the connection ended while it was paused. The end of the stream is delivered after the waiting data. */
  #isEnding = false
  /** Data that arrived while the connection was paused or the socket's own buffer was full. */
  readonly #late = new ByteQueue()
  readonly #pushLate = () => {
    for (const part of this.#late.takeParts()) this.#push(part)
  }

  constructor(socket: Socket, clientOf: () => string | undefined) {
    this.#socket = socket
    this.#clientOf = clientOf
    this.#push = socket.push.bind(socket)
    this.#read = socket._read.bind(socket)
    this.#take = socket.read.bind(socket)
  }

  want(size: number): void {
    if (this.#isStopped) this.#isAwaited = true
    else this.#read(size)
  }

  /** Called by the native stream with a chunk of data, or with null at the end. Returns false to stop reading. */
  receive(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) return this.#end()
    const socket = this.#socket
    const client = this.#clientOf()
    this.#count(chunk, client)
    if (!this.#isStopped && turns.isOver(client)) this.#stop(client)
    if (this.#isStopped || this.#late.size > 0 || socket.readableLength > 0) this.#late.add(chunk)
    else this.#spentMs += turns.time(client, () => this.#push(chunk, encoding))
    if (!this.#isStopped && this.#delivered >= maxBytesPerTurn) this.#stop(client)
    return !this.#isStopped && socket.readableLength + this.#late.size < socket.readableHighWaterMark
  }

  take(size?: number): unknown {
    const chunk: unknown = this.#take(size)
    if (this.#late.size > 0 && this.#socket.readableLength === 0 && !this.#isStopped) this.#pushLate()
    return chunk
  }

  #count(chunk: Buffer, client: string | undefined): void {
    if (this.#lastTurn !== turns.current) {
      this.#lastTurn = turns.current
      this.#delivered = 0
      this.#previousMs = this.#spentMs
      this.#spentMs = 0
    }
    this.#delivered += chunk.length + bytesPerChunk
    this.#spentMs += msPerChunk
    turns.charge(client, msPerChunk)
  }

  #end(): boolean {
    this.#isEnding = this.#isStopped && this.#late.size > 0
    if (this.#isEnding) return false
    this.#pushLate()
    return this.#push(null)
  }

  #stop(client: string | undefined): void {
    this.#isStopped = true
    const expectedMs = Math.max(this.#spentMs, this.#previousMs)
    turns.wait({ client, expectedMs, resume: () => this.#resume() })
  }

  #resume(): void {
    this.#isStopped = false
    if (this.#socket.destroyed) return
    if (this.#late.size > 0 && this.#socket.readableLength === 0) turns.time(this.#clientOf(), this.#pushLate)
    const hasEnded = this.#isEnding
    if (hasEnded) this.#end()
    if (this.#isAwaited || hasEnded) this.#read(0)
    this.#isAwaited = false
  }
}
