/**
 * A pool of large buffers. Reusing a buffer saves the cost of mapping and clearing new memory pages. No two buffers
 * share memory.
 */
export class BufferPool {
  readonly #bytes: number
  readonly #maxFree: number
  readonly #free: Buffer[] = []

  /** Creates a pool of buffers of this size. The pool keeps at most `maxFree` unused buffers. */
  constructor(bytes: number, maxFree: number) {
    this.#bytes = bytes
    this.#maxFree = maxFree
  }

  /** Returns a buffer from the pool. Its content is arbitrary. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bytes)
  }

  /** Returns a buffer to the pool. The caller must not use the buffer afterwards. */
  give(buffer: Buffer): void {
    if (this.#free.length < this.#maxFree) this.#free.push(buffer)
  }
}
