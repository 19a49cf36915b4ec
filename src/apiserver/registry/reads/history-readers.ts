/**
 * Who reads the store's history at the moment: watches that are behind the caches, and lists of an older state. Each
 * holds a piece of what it reads until its client has taken it, so they are bounded, for the server and for each user.
 */
import { tooManyRequests } from '../../../api/model/api-error.ts'

export interface ReaderLimits {
  readonly server: number
  readonly user: number
}

const defaultLimits: ReaderLimits = { server: 256, user: 64 }
const retryAfterSeconds = 2

/** The limits of one of so many workers: an equal share of those of the server. */
export function readerLimits(workers: number): ReaderLimits {
  return { server: Math.ceil(defaultLimits.server / workers), user: Math.ceil(defaultLimits.user / workers) }
}

/** Limits how many watches read the past at once, per user and in all. */
export class HistoryReaders {
  readonly #limits: ReaderLimits
  readonly #byUser = new Map<string, number>()
  #all = 0

  constructor(limits: ReaderLimits = defaultLimits) {
    this.#limits = limits
  }

  /** Gives what ends the reading, to be called once or more. Throws 429 where there are too many. */
  enter(user: string): () => void {
    const mine = this.#byUser.get(user) ?? 0
    if (mine >= this.#limits.user || this.#all >= this.#limits.server) {
      const whose = mine >= this.#limits.user ? `${mine} requests of this user` : `${this.#all} requests`
      throw tooManyRequests(
        `${whose} read old versions at the moment; try again, or list the newest`,
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
    const left = this.#byUser.get(user)! - 1
    if (left === 0) this.#byUser.delete(user)
    else this.#byUser.set(user, left)
  }
}
