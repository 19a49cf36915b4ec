/**
 * Caches custom objects in the form that their current definition requires, if that form differs from the stored form.
 * All kinds share one size limit. At the limit, the oldest entries are evicted and are recomputed on demand.
 */

const maxBytes = 64 * 1024 * 1024

interface CacheEntry {
  readonly size: number
  readonly forget: () => void
}

let bytes = 0
const queue = new Set<CacheEntry>()

/** Caches the upgraded objects of one version. The key is the buffer with an object's stored bytes. */
export class UpgradedObjectCache {
  readonly #upgraded = new WeakMap<Buffer, Buffer>()
  readonly #byId = new Map<string, Buffer>()

  get(json: Buffer): Buffer | undefined {
    return this.#upgraded.get(json)
  }

  /** Finds an upgraded object by the ID of its content, because different buffers can contain the same bytes. */
  find(id: string): Buffer | undefined {
    return this.#byId.get(id)
  }

  set(json: Buffer, upgraded: Buffer, id?: string): void {
    this.#upgraded.set(json, upgraded)
    // Do not count the buffer if it is the stored one or is already in the cache.
    if (json === upgraded || (id !== undefined && this.#byId.get(id) === upgraded)) return
    if (id !== undefined) this.#byId.set(id, upgraded)
    this.#count({ size: upgraded.length, forget: () => this.#forget(json, id) })
  }

  #forget(json: Buffer, id: string | undefined): void {
    this.#upgraded.delete(json)
    if (id !== undefined) this.#byId.delete(id)
  }

  #count(upgraded: CacheEntry): void {
    queue.add(upgraded)
    bytes += upgraded.size
    for (const oldest of queue) {
      if (bytes <= maxBytes) return
      queue.delete(oldest)
      bytes -= oldest.size
      oldest.forget()
    }
  }
}
