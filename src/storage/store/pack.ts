/**
 * Records packed into one block of memory, so that a batch crosses between the threads by one transfer, without
 * copies and without an object per record. Numbers are eight bytes (exact up to 2^53), byte strings carry their length.
 * Both sides run the same program, so there is no version and no check: a packed block never reaches a disk.
 */
import type { Bytes, Key } from './store.ts'

/** Stands for the revision of a key that is only to be there. */
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

  /** Packs bytes, with room before them that counts as theirs; returns the packed copy, valid until the next call. */
  bytes(bytes: Bytes, headroom = 0): Buffer {
    const size = headroom + bytes.length
    this.#reserve(4 + size)
    this.#bytes.writeUInt32LE(size, this.#used)
    const start = this.#used + 4
    this.#bytes.set(bytes, start + headroom)
    this.#used = start + size
    return this.#bytes.subarray(start, this.#used)
  }

  /** The packed records, to be transferred. The packer is spent. */
  finish(): ArrayBuffer {
    return (this.#bytes.buffer as ArrayBuffer).transfer(this.#used)
  }

  #reserve(size: number): void {
    const needed = this.#used + size
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
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

  /** The bytes themselves, inside the block: they live as long as anybody holds them. */
  bytes(): Buffer {
    const start = this.#at + 4
    this.#at = start + this.#bytes.readUInt32LE(this.#at)
    return this.#bytes.subarray(start, this.#at)
  }
}
