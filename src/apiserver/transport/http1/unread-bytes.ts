/**
 * Buffers received bytes that have not been processed yet. A client that sends single bytes causes no more work than
 * one that sends large packets: the buffer doubles when it is full, and no byte is scanned twice. The size is limited
 * to the maximum size of a head.
 */
import { maxHeaderBytes } from '../connection-limits.ts'

const tab = 0x09
const lf = 0x0a
const cr = 0x0d
const endOfHead = Buffer.from('\r\n\r\n')
const nothing: Buffer = Buffer.alloc(0)

export class UnreadBytes {
  /**
   * The memory of the buffer. Slices of this memory that were returned remain valid, because data is written only after
   * `#to`.
   */
  #memory = nothing
  #from = 0
  #to = 0
  /** Offset up to which the buffer has been searched for the end of a head. */
  #looked = 0
  /** Whether the line break that some clients send before a head has been skipped. */
  #hasSkipped = false

  get size(): number {
    return this.#to - this.#from
  }

  get bytes(): Buffer {
    return this.#memory.subarray(this.#from, this.#to)
  }

  add(part: Buffer): void {
    if (this.#from === this.#to) {
      this.#memory = part
      this.#from = 0
      this.#to = part.length
      this.#looked = 0
      return
    }
    if (this.#to + part.length > this.#memory.length) this.#grow(part.length)
    part.copy(this.#memory, this.#to)
    this.#to += part.length
  }

  skip(count: number): void {
    this.#from += count
    this.#looked = this.#from
    if (this.#from === this.#to) this.#memory = nothing
  }

  drop(): void {
    this.skip(this.size)
  }

  /**
   * Removes and returns the head of a request, including the empty line after it. Returns undefined if the head is
   * incomplete, and false if it is invalid.
   */
  takeHead(): string | false | undefined {
    this.#skipLineBreak()
    const { bytes } = this
    const end = bytes.indexOf(endOfHead, Math.max(0, this.#looked - this.#from - endOfHead.length + 1))
    if (end < 0) return this.#isHopeless() ? false : undefined
    const text = bytes.toString('latin1', 0, end)
    this.skip(end + endOfHead.length)
    this.#hasSkipped = false
    return text
  }

  /** Skips a line break before a head. Some clients send an additional line break after a body. */
  #skipLineBreak(): void {
    if (this.#hasSkipped || this.size < 2) return
    if (this.#memory[this.#from] !== cr || this.#memory[this.#from + 1] !== lf) return
    this.#hasSkipped = true
    this.skip(2)
  }

  /**
   * Returns whether the received bytes cannot be the start of a request, so that the client can be rejected before the
   * end of the line arrives.
   */
  #isHopeless(): boolean {
    const memory = this.#memory
    for (let i = this.#looked; i < this.#to; i++) {
      const byte = memory[i]!
      const before = i > this.#from ? memory[i - 1] : undefined
      if (before === cr ? byte !== lf : byte === lf) return true
      if ((byte < 0x20 && byte !== tab && byte !== cr && byte !== lf) || byte === 0x7f) return true
    }
    this.#looked = this.#to
    return false
  }

  #grow(by: number): void {
    const needed = this.size + by
    const memory = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(2 * needed, maxHeaderBytes)))
    this.#memory.copy(memory, 0, this.#from, this.#to)
    this.#looked -= this.#from
    this.#to = this.size
    this.#from = 0
    this.#memory = memory
  }
}
