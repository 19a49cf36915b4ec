/**
 * A queue of bytes that arrive in chunks of any size. The queue uses at most three times as much memory as its content,
 * even if the chunks are small. Small chunks, and small views of a large buffer (such as a TLS record), are copied into
 * a shared buffer. Other chunks are not copied until `join` is called.
 */

/**
 * Minimum size in bytes of a chunk that is stored without copying. For a smaller chunk, the Buffer object itself would
 * add more than 10% of memory.
 */
const minKeptBytes = 2048
/**
 * Maximum size in bytes of a copy that is allocated from Node's buffer pool. Such a copy costs a third of a separate
 * allocation. Most bodies are a single chunk that is smaller than this limit.
 */
const maxPooledBytes = 4096
const minTailBytes = 256
const maxTailBytes = 64 * 1024

const nothing: Buffer = Buffer.alloc(0)

/** A queue of bytes, in the order in which they arrive. */
export class ByteQueue {
  #parts: Buffer[] = []
  /** The only chunk of the queue. Undefined if the queue is empty or has several chunks. */
  #lone: Buffer | undefined
  /** Shared buffer into which small chunks are copied. */
  #tail = nothing
  #from = 0
  #to = 0
  #size = 0

  /** Number of bytes in the queue. */
  get size(): number {
    return this.#size
  }

  add(part: Buffer): void {
    if (this.#size === 0 && part.length < maxPooledBytes)
      this.#lone = isMostOfItsMemory(part) ? part : Buffer.from(part)
    else {
      this.#placeLone()
      this.#place(part)
    }
    this.#size += part.length
  }

  /** Returns all bytes as one buffer, without removing them from the queue. */
  join(): Buffer {
    if (this.#lone !== undefined) return this.#lone
    this.#seal()
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts, this.#size)]
    return this.#parts[0] ?? nothing
  }

  /** Empties the queue and returns its content as a few large buffers. */
  takeParts(): readonly Buffer[] {
    this.#seal()
    const parts = this.#lone === undefined ? this.#parts : [this.#lone]
    this.clear()
    return parts
  }

  clear(): void {
    this.#parts = []
    this.#lone = undefined
    this.#tail = nothing
    this.#from = 0
    this.#to = 0
    this.#size = 0
  }

  #placeLone(): void {
    const lone = this.#lone
    this.#lone = undefined
    if (lone !== undefined) this.#place(lone)
  }

  #place(part: Buffer): void {
    if (part.length >= minKeptBytes && isMostOfItsMemory(part)) {
      this.#seal()
      this.#parts.push(part)
      return
    }
    if (this.#to + part.length > this.#tail.length) this.#newTail(part.length)
    this.#to += part.copy(this.#tail, this.#to)
  }

  #newTail(needed: number): void {
    this.#seal()
    const bytes = Math.min(Math.max(minTailBytes, this.#size), maxTailBytes)
    this.#tail = Buffer.allocUnsafeSlow(Math.max(needed, bytes))
    this.#from = 0
    this.#to = 0
  }

  /** Moves the small chunks copied so far to the list of parts. */
  #seal(): void {
    if (this.#from === this.#to) return
    this.#parts.push(this.#tail.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}

/**
 * Whether a chunk uses most of the memory of its underlying buffer. A TLS socket returns either views of a 64 KiB
 * buffer that it fills gradually, or separate buffers.
 */
function isMostOfItsMemory(part: Buffer): boolean {
  return 2 * part.length >= part.buffer.byteLength
}
