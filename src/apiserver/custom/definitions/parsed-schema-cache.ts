/**
 * Caches parsed schemas, so that a schema that has just been validated is not parsed again when its definition is
 * served a moment later. Entries are keyed by the full text, so different schemas cannot be confused. The cache is
 * bounded and evicts schemas that are validated but never served, as in dry runs.
 */

/** Maximum total length of the schema texts. A parsed schema takes a small multiple of its length in memory. */
const maxCharacters = 1024 * 1024

export class ParsedSchemaCache<T> {
  readonly #parsed = new Map<string, T>()
  #characters = 0

  put(text: string, parsed: T): void {
    this.take(text)
    this.#parsed.set(text, parsed)
    this.#characters += text.length
    for (const oldest of this.#parsed.keys()) {
      if (this.#characters <= maxCharacters) return
      this.take(oldest)
    }
  }

  /** Returns the parsed schema for the text and removes it from the cache. */
  take(text: string): T | undefined {
    const cachedSchema = this.#parsed.get(text)
    if (this.#parsed.delete(text)) this.#characters -= text.length
    return cachedSchema
  }
}
