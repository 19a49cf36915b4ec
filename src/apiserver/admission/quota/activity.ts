/**
 * Tracks the active writes that quotas account for, from the first charge to the last refund. During such a write, the
 * recorded usage may differ from the actual usage. A recount therefore runs only while no such write is active, and new
 * writes wait briefly. Both waits are bounded, so that neither a slow write nor a long recount blocks other work.
 */
import { setTimeout as pause } from 'node:timers/promises'

export interface StillnessBounds {
  /** Maximum time in milliseconds that a recount waits for active writes. The recount is abandoned after this time. */
  readonly drainMs: number
  /** Maximum time in milliseconds that new writes wait for a recount. */
  readonly holdMs: number
}

const defaultBounds: StillnessBounds = { drainMs: 500, holdMs: 2000 }

interface Place {
  underWay: number
  /** Number of writes that have started so far. A recount uses this number to detect new writes. */
  begun: number
  /** Resolves when a recount has ended, so that new writes may start. Undefined if no recount is in progress. */
  gate: Promise<void> | undefined
  onStill: () => void
}

/** Active writes that quotas account for, by namespace. */
export class QuotaActivity {
  readonly #bounds: StillnessBounds
  readonly #isAlone: () => boolean
  readonly #places = new Map<string, Place>()

  /** Creates the tracker. `isAlone` returns false if other servers or workers may write to the same store. */
  constructor(bounds = defaultBounds, isAlone: () => boolean = () => true) {
    this.#bounds = bounds
    this.#isAlone = isAlone
  }

  /**
   * Starts a write in the namespace, after waiting for a recount if necessary. Returns a function that ends the write.
   * The caller must call this function exactly once.
   */
  async begin(namespace: string): Promise<() => void> {
    const place = this.#namespaceActivity(namespace)
    if (place.gate !== undefined) await place.gate
    place.underWay++
    place.begun++
    return () => {
      place.underWay--
      if (place.underWay === 0) place.onStill()
      this.#forget(namespace, place)
    }
  }

  /**
   * Runs a recount while no write is active in the namespace. New writes wait for `run`, but only for a limited time.
   * `run` must therefore check with `isStill` that no write has started. Returns undefined without calling `run` if
   * writes are active or if other workers may write.
   */
  async whileStill<T>(namespace: string, run: (isStill: () => boolean) => Promise<T>): Promise<T | undefined> {
    const place = this.#namespaceActivity(namespace)
    if (place.gate !== undefined || !this.#isAlone()) return undefined
    const { promise, resolve: open } = Promise.withResolvers<void>()
    const timer = setTimeout(open, this.#bounds.holdMs)
    place.gate = promise.then(() => {
      place.gate = undefined
    })
    try {
      if (!(await this.#drained(place))) return undefined
      const { begun } = place
      return await run(() => place.begun === begun && this.#isAlone())
    } finally {
      clearTimeout(timer)
      open()
      await place.gate
      this.#forget(namespace, place)
    }
  }

  async #drained(place: Place): Promise<boolean> {
    if (place.underWay === 0) return true
    const { promise, resolve } = Promise.withResolvers<void>()
    place.onStill = resolve
    const end = new AbortController()
    await Promise.race([promise, pause(this.#bounds.drainMs, undefined, { signal: end.signal }).catch(() => {})])
    end.abort()
    place.onStill = () => {}
    return place.underWay === 0
  }

  #namespaceActivity(namespace: string): Place {
    const existingPlace = this.#places.get(namespace)
    if (existingPlace !== undefined) return existingPlace
    const place: Place = { underWay: 0, begun: 0, gate: undefined, onStill: () => {} }
    this.#places.set(namespace, place)
    return place
  }

  #forget(namespace: string, place: Place): void {
    if (place.underWay === 0 && place.gate === undefined) this.#places.delete(namespace)
  }
}
