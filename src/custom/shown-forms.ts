/**
 * Custom objects as their definition has them now, where that differs from what is stored: kept for the next reader, up
 * to a number of bytes for all kinds together. What was made first goes first, and is made again for whoever asks.
 */

const maxBytes = 64 * 1024 * 1024

interface Shown {
  readonly json: Buffer
  readonly shown: Buffer
  readonly home: WeakMap<Buffer, Buffer>
}

let bytes = 0
const queue = new Set<Shown>()

/** What one version of a kind shows, by the bytes that are stored. */
export class ShownForms {
  readonly #shown = new WeakMap<Buffer, Buffer>()

  get(json: Buffer): Buffer | undefined {
    return this.#shown.get(json)
  }

  set(json: Buffer, shown: Buffer): void {
    this.#shown.set(json, shown)
    // The very bytes take no memory of their own.
    if (json === shown) return
    queue.add({ json, shown, home: this.#shown })
    bytes += shown.length
    for (const oldest of queue) {
      if (bytes <= maxBytes) return
      queue.delete(oldest)
      bytes -= oldest.shown.length
      oldest.home.delete(oldest.json)
    }
  }
}
