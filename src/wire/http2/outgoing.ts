/**
 * Collects outgoing data of a socket. All data that one event and its microtasks produce is sent in one write, because a
 * write to a TLS socket costs more than most frames. The data does not wait for the end of the turn, because other
 * events of the same turn may take milliseconds. Data is copied when it is added.
 */
import type { Socket } from 'node:net'
import { BufferPool } from '../../base/collections/buffer-pool.ts'

/** Minimum amount of data for which a pooled buffer is used. With less data, such a buffer would be mostly empty. */
const manyBytes = 16 * 1024
const pieceBytes = 256 * 1024
/** The pool of buffers that all connections share. */
const pieces = new BufferPool(pieceBytes, 8)

export class Outgoing {
  readonly #socket: Socket
  readonly #onSent: () => void
  #parts: Buffer[] = []
  #partBytes = 0
  #piece: Buffer | undefined
  #used = 0
  #isDue = false
  /** Number of bytes that have been added but not yet flushed. */
  unsent = 0

  /**
   * Creates the output buffer of a socket. `onSent` is called when data has been flushed and there is room for more.
   */
  constructor(socket: Socket, onSent: () => void) {
    this.#socket = socket
    this.#onSent = onSent
  }

  /** Returns memory for the next frame. The caller must write the frame before anything else is written. */
  room(bytes: number): Buffer {
    this.unsent += bytes
    this.#flushLater()
    if (this.#piece === undefined && this.#partBytes + bytes <= manyBytes) {
      const part = Buffer.allocUnsafe(bytes)
      this.#parts.push(part)
      this.#partBytes += bytes
      return part
    }
    if (this.#piece !== undefined && this.#used + bytes > pieceBytes) this.flush()
    this.#piece ??= this.#newPiece()
    const start = this.#used
    this.#used += bytes
    return this.#piece.subarray(start, this.#used)
  }

  add(bytes: Buffer): void {
    bytes.copy(this.room(bytes.length))
  }

  flush(): void {
    const piece = this.#piece
    const bytes = piece === undefined ? joined(this.#parts) : piece.subarray(0, this.#used)
    this.#parts = []
    this.#partBytes = 0
    this.#piece = undefined
    if (bytes.length === 0 || !this.#socket.writable) return
    // If the peer reads slowly, send a copy, so that the pending write does not occupy a mostly empty pooled buffer.
    const isCopied = piece !== undefined && this.unsent > bytes.length && 2 * bytes.length < pieceBytes
    this.#write(isCopied ? copyOf(bytes) : bytes, isCopied ? undefined : piece)
    if (isCopied) pieces.give(piece)
  }

  #write(bytes: Buffer, piece: Buffer | undefined): void {
    this.#socket.write(bytes, () => {
      this.unsent -= bytes.length
      if (piece !== undefined) pieces.give(piece)
      this.#onSent()
    })
  }

  readonly #flushNow = (): void => {
    this.#isDue = false
    this.flush()
  }

  #flushLater(): void {
    if (this.#isDue) return
    this.#isDue = true
    // A nextTick callback that is queued from a microtask runs after all other microtasks.
    queueMicrotask(() => process.nextTick(this.#flushNow))
  }

  /** Takes a buffer from the pool, and moves the data collected so far into it. */
  #newPiece(): Buffer {
    const piece = pieces.take()
    this.#used = 0
    for (const part of this.#parts) this.#used += part.copy(piece, this.#used)
    this.#parts = []
    this.#partBytes = 0
    return piece
  }
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}
