/**
 * What is to be sent on a socket, gathered: all that is written in one turn of the event loop leaves in one piece, as each
 * write to a socket of TLS costs more than most frames do. Whatever is added is copied at once.
 */
import type { Socket } from 'node:net'

/** From here on what is gathered is copied to a piece that is used again; before that it would be a waste of one. */
const manyBytes = 16 * 1024
const pieceBytes = 256 * 1024
/** Pieces of all connections that may be used again. */
const freePieces: Buffer[] = []
const maxFreePieces = 8

export class Outgoing {
  readonly #socket: Socket
  readonly #onSent: () => void
  #parts: Buffer[] = []
  #partBytes = 0
  #piece: Buffer | undefined
  #used = 0
  #isDue = false
  /** What was added and is not on its way yet. */
  unsent = 0

  /** `onSent` is called when something is on its way, so that there is room again. */
  constructor(socket: Socket, onSent: () => void) {
    this.#socket = socket
    this.#onSent = onSent
  }

  /** Memory for the next frame, to be filled at once. */
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
    // What the other side does not take is not kept in pieces that are mostly empty.
    const isCopied = piece !== undefined && this.unsent > bytes.length && 2 * bytes.length < pieceBytes
    this.#write(isCopied ? copyOf(bytes) : bytes, isCopied ? undefined : piece)
    if (isCopied) reuse(piece)
  }

  #write(bytes: Buffer, piece: Buffer | undefined): void {
    this.#socket.write(bytes, () => {
      this.unsent -= bytes.length
      if (piece !== undefined) reuse(piece)
      this.#onSent()
    })
  }

  #flushLater(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      this.flush()
    })
  }

  /** Begins with what has been gathered so far. */
  #newPiece(): Buffer {
    const piece = freePieces.pop() ?? Buffer.allocUnsafeSlow(pieceBytes)
    this.#used = 0
    for (const part of this.#parts) this.#used += part.copy(piece, this.#used)
    this.#parts = []
    this.#partBytes = 0
    return piece
  }
}

function reuse(piece: Buffer): void {
  if (freePieces.length < maxFreePieces) freePieces.push(piece)
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}
