/**
 * Collects encoded events in chunks of shared memory, so that a long series of events costs about as much as a list of
 * the same objects. A chunk contains only whole events.
 */

/** Returns the memory for the next chunk. The memory can be reused after the chunk after the next one was requested. */
export type ChunkMemory = () => Buffer

export class EventChunks {
  readonly #memory: ChunkMemory
  readonly #onSent: (bytes: number) => void
  #chunk: Buffer | undefined
  #used = 0

  /** `onSent` is called with the size of each event. */
  constructor(memory: ChunkMemory, onSent: (bytes: number) => void) {
    this.#memory = memory
    this.#onSent = onSent
  }

  /** Adds events, each of which consists of consecutive parts. Yields the chunks that are full. */
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

  /** Yields the events that have not been yielded. */
  *flush(): Generator<Buffer> {
    const chunk = this.#chunk?.subarray(0, this.#used)
    this.#chunk = undefined
    this.#used = 0
    if (chunk !== undefined && chunk.length > 0) yield chunk
  }
}
