/**
 * Caches parsed schemas until they are used: a definition is validated when it is written and served a moment later
 * with the same schema. Entries are keyed by the full text, so they cannot be confused. The cache is bounded: schemas
 * that are validated but never served, as in dry runs, are evicted.
 */

/** Limit in characters of schema text. A parsed schema takes a small multiple of that. */
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

  /** Returns the parsed schema of this text and removes it. */
  take(text: string): T | undefined {
    const found = this.#read.get(text)
    if (this.#read.delete(text)) this.#characters -= text.length
    return found
  }
}
