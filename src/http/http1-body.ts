/**
 * The body of a request in HTTP/1.1 as it comes. Most are there in one piece with their head, and are never a stream.
 * Of others no more is held than a stream holds: then the connection is not read until somebody has taken it.
 */
import { Readable } from 'node:stream'
import { ChunkReader } from './http1-chunks.ts'
import type { RequestHead } from './http1-head.ts'

/** How much is held of a body that nobody reads yet, and of what follows a request. */
export const maxHeld = 64 * 1024

/** How much of a body that nobody wants is taken, so that the client gets to read the answer. */
const maxDiscarded = 16 * 1024 * 1024

const nothing = Buffer.alloc(0)

export interface BodySource {
  /** Somebody wants to read it: for the client that waits for that before it sends it, and to read on. */
  readonly onWanted: () => void
  /** More is held than should be. */
  readonly onFull: () => void
}

export class IncomingBody {
  readonly #source: BodySource
  readonly #chunks: ChunkReader | undefined
  #left: number
  #held: Buffer[] = []
  #heldBytes = 0
  #stream: Readable | undefined
  /** How much was dropped; undefined where it is not to be. */
  #discarded: number | undefined
  #isBroken = false

  constructor({ isChunked, length }: RequestHead, source: BodySource) {
    this.#chunks = isChunked ? new ChunkReader() : undefined
    this.#left = length
    this.#source = source
  }

  /** Whether all of it has come. */
  get isWhole(): boolean {
    return this.#chunks?.isDone ?? this.#left === 0
  }

  /** All of it, where it has come in one piece and nobody reads it as a stream. */
  get atHand(): Buffer | undefined {
    if (!this.isWhole || this.#stream !== undefined || this.#held.length > 1) return undefined
    return this.#held[0] ?? nothing
  }

  get stream(): Readable {
    if (this.#stream !== undefined) return this.#stream
    const stream = new Readable({ read: this.#source.onWanted })
    this.#stream = stream
    if (this.#isBroken) stream.destroy()
    for (const part of this.#held) stream.push(part)
    this.#held = []
    if (this.isWhole) stream.push(null)
    return stream
  }

  /** Takes what belongs to it, and tells how much that was; undefined where it is no body. */
  receive(bytes: Buffer): number | undefined {
    const read = this.#chunks === undefined ? this.#counted(bytes) : this.#chunks.read(bytes)
    if (read === undefined) return undefined
    if (read.said.length > 0) this.#hold(read.said)
    if (this.isWhole) this.#stream?.push(null)
    return read.used
  }

  /** What is left of it is not wanted. */
  discard(): void {
    this.#discarded ??= 0
    this.#held = []
    this.#stream?.resume()
    this.#source.onWanted()
  }

  /** Whether more came of it after it was not wanted than is taken. */
  get isExcessive(): boolean {
    return (this.#discarded ?? 0) > maxDiscarded
  }

  /** No more of it will come. */
  break(): void {
    if (this.isWhole) return
    this.#isBroken = true
    this.#stream?.destroy()
  }

  #counted(bytes: Buffer): { readonly used: number; readonly said: Buffer } {
    const used = Math.min(this.#left, bytes.length)
    this.#left -= used
    return { used, said: used === bytes.length ? bytes : bytes.subarray(0, used) }
  }

  #hold(part: Buffer): void {
    if (this.#discarded !== undefined) {
      this.#discarded += part.length
      return
    }
    if (this.#stream !== undefined) {
      if (!this.#stream.push(part)) this.#source.onFull()
      return
    }
    this.#held.push(part)
    this.#heldBytes += part.length
    if (this.#heldBytes > maxHeld) this.#source.onFull()
  }
}
