/**
 * The body of a request in HTTP/1.1 as it arrives. Most are whole before anybody asks for them, and are never a stream.
 * Of others about `maxHeld` bytes are held: then the connection is not read until the reader asks for more. A stream holds
 * nothing itself, since it would hold each part by itself: `ByteQueue` bounds the memory.
 */
import { Readable } from 'node:stream'
import { ByteQueue } from '../../../base/collections/byte-queue.ts'
import { ChunkReader } from './chunks.ts'
import type { RequestHead } from './head.ts'

/** How much is held of a body that nobody reads yet, and of what follows a request. */
export const maxHeld = 64 * 1024

/** How much of a body that nobody wants is taken, so that the client gets to read the answer. */
export const maxDiscarded = 16 * 1024 * 1024

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
  readonly #held = new ByteQueue()
  #stream: Readable | undefined
  /** Whether the reader of the stream has asked for more. */
  #isWanted = false
  /** Whether the stream has been told that this is all. */
  #isEnded = false
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

  /** All of it, where it has arrived and nobody reads it as a stream. */
  get atHand(): Buffer | undefined {
    return this.isWhole && this.#stream === undefined ? this.#held.join() : undefined
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

  /** Takes what belongs to it, and tells how much that was; undefined where it is no body. */
  receive(bytes: Buffer): number | undefined {
    const read = this.#chunks === undefined ? this.#counted(bytes) : this.#chunks.read(bytes)
    if (read === undefined) return undefined
    if (read.said.length > 0) this.#hold(read.said)
    this.#handOver()
    return read.used
  }

  /** What is left of it is not wanted. */
  discard(): void {
    this.#discarded ??= 0
    this.#held.clear()
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
    this.#held.add(part)
    this.#handOver()
    if (this.#held.size > maxHeld) this.#source.onFull()
  }

  /** Passes on what is held where the reader of the stream has asked for more, and the end. */
  #handOver(): void {
    const stream = this.#stream
    if (stream === undefined) return
    if (this.#isWanted && this.#held.size > 0) {
      this.#isWanted = false
      for (const part of this.#held.takeParts()) stream.push(part)
    }
    if (this.#held.size > 0 || !this.isWhole || this.#isEnded) return
    this.#isEnded = true
    stream.push(null)
  }
}
