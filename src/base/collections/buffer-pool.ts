/**
 * Large buffers that are reused, because the pages of a new one have to be mapped and cleared by the system. A buffer
 * has its own memory, which it does not share with other buffers.
 */
export class BufferPool {
  readonly #bytes: number
  readonly #maxFree: number
  readonly #free: Buffer[] = []

  /** `maxFree` is the maximum number of unused buffers to keep. */
  constructor(bytes: number, maxFree: number) {
    this.#bytes = bytes
    this.#maxFree = maxFree
  }

  /** Returns a buffer with arbitrary content. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bytes)
  }

  /** Takes back a buffer that nothing refers to any more. */
  give(buffer: Buffer): void {
    if (this.#free.length < this.#maxFree) this.#free.push(buffer)
  }
}
