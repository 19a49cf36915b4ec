/**
 * Packs records into one block of memory, so that a batch can be moved between threads in one transfer, without copies
 * and without a separate object for each record. Numbers take eight bytes and are exact up to 2^53. Byte strings are
 * preceded by their length. The format has no version and no checksum, because both threads run the same program and
 * blocks are never written to disk.
 */
import type { Bytes, Key } from './store.ts'

/** The number that encodes the guard value `present`. */
export const present = -1

/** Writes records into a growing block. */
export class Packer {
  #bytes: Buffer
  #used = 0

  constructor(capacity = 4096) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
  }

  get size(): number {
    return this.#used
  }

  number(value: number): void {
    this.#reserve(8)
    this.#used = this.#bytes.writeDoubleLE(value, this.#used)
  }

  key(key: Key): void {
    this.#reserve(4 + 3 * key.length)
    const size = this.#bytes.write(key, this.#used + 4)
    this.#bytes.writeUInt32LE(size, this.#used)
    this.#used += 4 + size
  }

  /**
   * Packs bytes, preceded by `headroom` unused bytes that count toward the length. Returns the packed copy, which is
   * valid until the next call.
   */
  bytes(bytes: Bytes, headroom = 0): Buffer {
    const size = headroom + bytes.length
    this.#reserve(4 + size)
    this.#bytes.writeUInt32LE(size, this.#used)
    const start = this.#used + 4
    this.#bytes.set(bytes, start + headroom)
    this.#used = start + size
    return this.#bytes.subarray(start, this.#used)
  }

  /** Returns the packed records for transfer. The packer cannot be used afterward. */
  finish(): ArrayBuffer {
    return (this.#bytes.buffer as ArrayBuffer).transfer(this.#used)
  }

  #reserve(size: number): void {
    const neededBytes = this.#used + size
    if (neededBytes <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(neededBytes, 2 * this.#bytes.length))
    grown.set(this.#bytes.subarray(0, this.#used))
    this.#bytes = grown
  }
}

/** Reads the records of a block in the order in which they were packed. */
export class Unpacker {
  readonly #bytes: Buffer
  #at = 0

  constructor(block: ArrayBuffer | SharedArrayBuffer) {
    this.#bytes = Buffer.from(block)
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length
  }

  number(): number {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  key(): Key {
    const bytes = this.bytes()
    return bytes.toString('utf8')
  }

  /** Returns the bytes as a view of the block, not as a copy. */
  bytes(): Buffer {
    const start = this.#at + 4
    this.#at = start + this.#bytes.readUInt32LE(this.#at)
    return this.#bytes.subarray(start, this.#at)
  }
}
