/**
 * Custom objects as their definition has them now, where that differs from what is stored: kept for the next reader, up
 * to a number of bytes for all kinds together. What was made first goes first, and is made again for whoever asks.
 */

const maxBytes = 64 * 1024 * 1024

interface Shown {
  readonly size: number
  readonly forget: () => void
}

let bytes = 0
const queue = new Set<Shown>()

/** What one version of a kind shows, by the bytes that are stored. */
export class ShownForms {
  readonly #shown = new WeakMap<Buffer, Buffer>()
  readonly #byId = new Map<string, Buffer>()

  get(json: Buffer): Buffer | undefined {
    return this.#shown.get(json)
  }

  /** What was kept under an id that tells contents apart: the same bytes may be in memory more than once. */
  find(id: string): Buffer | undefined {
    return this.#byId.get(id)
  }

  set(json: Buffer, shown: Buffer, id?: string): void {
    this.#shown.set(json, shown)
    // The very bytes take no memory of their own, and what is kept under its id is counted there.
    if (json === shown || (id !== undefined && this.#byId.get(id) === shown)) return
    if (id !== undefined) this.#byId.set(id, shown)
    this.#count({ size: shown.length, forget: () => this.#forget(json, id) })
  }

  #forget(json: Buffer, id: string | undefined): void {
    this.#shown.delete(json)
    if (id !== undefined) this.#byId.delete(id)
  }

  #count(shown: Shown): void {
    queue.add(shown)
    bytes += shown.size
    for (const oldest of queue) {
      if (bytes <= maxBytes) return
      queue.delete(oldest)
      bytes -= oldest.size
      oldest.forget()
    }
  }
}
