/**
 * Collects lines of text as bytes. A concatenated string would keep all its pieces in memory until it is flattened. The
 * bytes, in contrast, are a single copy that the garbage collector need not trace.
 */

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const maxBytesPerUnit = 3
const newline = 10

const none = Buffer.alloc(0)
const firstRoom = 16 * 1024

export class Lines {
  readonly #keptRoom: number
  #buffer = none
  #length = 0
  #count = 0

  /** Creates an empty collection. `clear` keeps a buffer of up to `keptRoom` bytes for the next lines. */
  constructor(keptRoom: number) {
    this.#keptRoom = keptRoom
  }

  /** Returns the total length of the lines in bytes, including newlines. */
  get length(): number {
    return this.#length
  }

  get count(): number {
    return this.#count
  }

  /** Returns the lines as bytes. The result is a view, not a copy, and is valid until the lines are cleared. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Returns the lines as strings, without newlines. */
  get texts(): string[] {
    return this.bytes.toString().split('\n').slice(0, -1)
  }

  /** Adds a line, which must not contain a newline. */
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
