/**
 * Schemas that have been read, until they are used: a definition is judged when it comes, and served a moment later by
 * the same schema. Found by the whole text, so whatever has come between the two cannot be mixed up. Bounded: what is
 * judged and never served, as in a dry run, gives way to what comes after it.
 */

/** In characters of the texts: what was read takes a small multiple of that. */
const maxCharacters = 1024 * 1024

export class ReadAhead<T> {
  readonly #read = new Map<string, T>()
  #characters = 0

  put(text: string, read: T): void {
    this.take(text)
    this.#read.set(text, read)
    this.#characters += text.length
    for (const oldest of this.#read.keys()) {
      if (this.#characters <= maxCharacters) return
      this.take(oldest)
    }
  }

  /** Returns what was read of this text, and lets go of it. */
  take(text: string): T | undefined {
    const found = this.#read.get(text)
    if (this.#read.delete(text)) this.#characters -= text.length
    return found
  }
}
