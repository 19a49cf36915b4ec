/**
 * The writes of this server that quotas account for, from before the first charge until the last amount is given back:
 * while one is under way, what a quota says is in use need not be what the objects use. A count that is to be exact is
 * made while none is: those that come meanwhile wait for a moment. Both waits are bounded, so that neither a slow write
 * nor a long count holds up others.
 */
import { setTimeout as pause } from 'node:timers/promises'

export interface StillnessBounds {
  /** How long what is under way may take to end before the count is given up. */
  readonly drainMs: number
  /** How long new writes wait at most. */
  readonly holdMs: number
}

const defaultBounds: StillnessBounds = { drainMs: 500, holdMs: 2000 }

interface Place {
  underWay: number
  /** Moves on with every write that begins. */
  begun: number
  /** Resolves when new writes may begin; undefined: now. */
  gate: Promise<void> | undefined
  onStill: () => void
}

/** The writes under way that quotas account for, by namespace. */
export class QuotaActivity {
  readonly #bounds: StillnessBounds
  readonly #places = new Map<string, Place>()

  constructor(bounds = defaultBounds) {
    this.#bounds = bounds
  }

  /**
   * Begins a write in the namespace, as soon as that is allowed. Returns a function that ends it, to be called once.
   */
  async begin(namespace: string): Promise<() => void> {
    const place = this.#placeOf(namespace)
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
   * Does this while no write is under way in the namespace; undefined where that could not be. `isStill` says whether
   * none has begun since: a long run outlasts the time for which new writes wait.
   */
  async whileStill<T>(namespace: string, run: (isStill: () => boolean) => Promise<T>): Promise<T | undefined> {
    const place = this.#placeOf(namespace)
    if (place.gate !== undefined) return undefined
    const { promise, resolve: open } = Promise.withResolvers<void>()
    const timer = setTimeout(open, this.#bounds.holdMs)
    place.gate = promise.then(() => {
      place.gate = undefined
    })
    try {
      if (!(await this.#drained(place))) return undefined
      const { begun } = place
      return await run(() => place.begun === begun)
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

  #placeOf(namespace: string): Place {
    const found = this.#places.get(namespace)
    if (found !== undefined) return found
    const place: Place = { underWay: 0, begun: 0, gate: undefined, onStill: () => {} }
    this.#places.set(namespace, place)
    return place
  }

  #forget(namespace: string, place: Place): void {
    if (place.underWay === 0 && place.gate === undefined) this.#places.delete(namespace)
  }
}
