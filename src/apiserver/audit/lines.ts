/**
 * Lines of text gathered as bytes. A string that was put together from many pieces keeps all of them until it is used; as
 * bytes a line is one copy, and nothing that the garbage collector has to carry along.
 */

/** Of UTF-8, for one unit of a string. */
const maxBytesPerUnit = 3
const newline = 10

const none = Buffer.alloc(0)
const firstRoom = 16 * 1024

export class Lines {
  readonly #keptRoom: number
  #buffer = none
  #length = 0
  #count = 0

  /** Memory for up to so many bytes is kept for further lines when these are cleared. */
  constructor(keptRoom: number) {
    this.#keptRoom = keptRoom
  }

  /** In bytes, with the ends of lines. */
  get length(): number {
    return this.#length
  }

  get count(): number {
    return this.#count
  }

  /** Not a copy: to be used before the lines are cleared. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** The lines, without their ends. */
  get texts(): string[] {
    return this.bytes.toString().split('\n').slice(0, -1)
  }

  /** Adds a line; it must not contain the end of one. */
  add(line: string): void {
    this.#makeRoom(line.length * maxBytesPerUnit + 1)
    this.#length += this.#buffer.write(line, this.#length)
    this.#buffer[this.#length++] = newline
    this.#count++
  }

  clear(): void {
    if (this.#buffer.length > this.#keptRoom) this.#buffer = none
    this.#length = 0
    this.#count = 0
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length, firstRoom))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
