/**
 * What has come on a connection and is not read yet. Parts are joined in memory that doubles, and none is looked at
 * twice, so that a client that sends byte by byte costs no more than what it sends. No more is held than a head may have.
 */
import { maxHeaderBytes } from '../connection-limits.ts'

const [tab, lf, cr] = [0x09, 0x0a, 0x0d]
const endOfHead = Buffer.from('\r\n\r\n')
const nothing: Buffer = Buffer.alloc(0)

export class Unread {
  /** What was handed out of it stays as it is: it is only ever written behind `#to`. */
  #memory = nothing
  #from = 0
  #to = 0
  /** Before this there is no end of a head. */
  #looked = 0
  /** Whether a line break before the next head has been skipped. */
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

  /** Takes a head and the empty line after it. Undefined where it is not whole yet, false where it will never be one. */
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

  /** Some clients send one after a body, which belongs to nothing. */
  #skipLineBreak(): void {
    if (this.#hasSkipped || this.size < 2) return
    if (this.#memory[this.#from] !== cr || this.#memory[this.#from + 1] !== lf) return
    this.#hasSkipped = true
    this.skip(2)
  }

  /** Whether it has what no head may have, so that nobody waits for the end of a line that has none. */
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
