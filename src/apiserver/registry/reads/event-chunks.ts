/**
 * Collects encoded events in chunks of shared memory, so that a long series of events costs about as much as a list of
 * the same objects. A chunk contains only whole events.
 */

/** Returns a buffer for the next chunk. The caller may use a buffer until it has requested two more buffers. */
export type ChunkMemory = () => Buffer

export class EventChunks {
  readonly #memory: ChunkMemory
  readonly #onSent: (bytes: number) => void
  #chunk: Buffer | undefined
  #used = 0

  /** Creates an empty collection. `onSent` is called with the size in bytes of each event. */
  constructor(memory: ChunkMemory, onSent: (bytes: number) => void) {
    this.#memory = memory
    this.#onSent = onSent
  }

  /** Adds events, each given as a list of buffers to concatenate. Yields every chunk that becomes full. */
  *add(events: Iterable<readonly Buffer[]>): Generator<Buffer> {
    for (const parts of events) {
      let size = 0
      for (const { length } of parts) size += length
      this.#onSent(size)
      if (this.#chunk !== undefined && this.#used + size > this.#chunk.length) yield* this.flush()
      const chunk = this.#chunk ?? this.#memory()
      this.#chunk = chunk
      if (size > chunk.length) yield Buffer.concat(parts)
      else for (const part of parts) this.#used += part.copy(chunk, this.#used)
    }
  }

  /** Yields the last chunk, which is not full. */
  *flush(): Generator<Buffer> {
    const chunk = this.#chunk?.subarray(0, this.#used)
    this.#chunk = undefined
    this.#used = 0
    if (chunk !== undefined && chunk.length > 0) yield chunk
  }
}
