/**
 * Limits the readers of the store's history: watches that lag behind the caches, and lists of past states. Each reader
 * buffers data until its client receives the data, so the number of readers is limited per server and per user.
 */
import { tooManyRequests } from '../../../api/model/api-error.ts'

export interface ReaderLimits {
  readonly server: number
  readonly user: number
}

const defaultLimits: ReaderLimits = { server: 256, user: 64 }
const retryAfterSeconds = 2

/**
 * Returns the limits of one worker, which are an equal share of the server's limits. The number of workers can change.
 */
export function readerLimits(workers: () => number): ReaderLimits {
  return {
    get server() {
      return Math.ceil(defaultLimits.server / workers())
    },
    get user() {
      return Math.ceil(defaultLimits.user / workers())
    },
  }
}

/** Limits the number of concurrent history readers, per user and in total. */
export class HistoryReaders {
  readonly #limits: ReaderLimits
  readonly #byUser = new Map<string, number>()
  #all = 0

  constructor(limits: ReaderLimits = defaultLimits) {
    this.#limits = limits
  }

  /**
   * Registers a reader. Returns a function that unregisters the reader; further calls have no effect. Throws 429 if a
   * limit is reached.
   */
  enter(user: string): () => void {
    const mine = this.#byUser.get(user) ?? 0
    if (mine >= this.#limits.user || this.#all >= this.#limits.server) {
      const whose = mine >= this.#limits.user ? `${mine} requests from this user` : `${this.#all} requests`
      throw tooManyRequests(
        `${whose} are already reading old versions; try again later, or list the newest version`,
        retryAfterSeconds,
      )
    }
    this.#all++
    this.#byUser.set(user, mine + 1)
    let inside = true
    return () => {
      if (inside) this.#leave(user)
      inside = false
    }
  }

  #leave(user: string): void {
    this.#all--
    const remainingReaders = this.#byUser.get(user)! - 1
    if (remainingReaders === 0) this.#byUser.delete(user)
    else this.#byUser.set(user, remainingReaders)
  }
}
