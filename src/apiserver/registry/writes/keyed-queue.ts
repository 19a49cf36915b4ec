/**
 * Turns: writers of one object, one after the other, so that each works on what the one before it stored.
 *
 * Without turns, of many who change one object at once one wins and all others did their work in vain, again and again.
 * This saves work and promises nothing: other servers write to the same store, so a commit can still lose its race, and
 * whoever has the turn tries again. A key that nobody else writes to costs one entry in a map, while it is written.
 */
import { ApiError, tooManyRequests } from '../../../api/model/api-error.ts'

/** How many may wait for one object. A write takes about a millisecond, so the last of them waits for a few seconds. */
const longestLine = 1000

export interface QueuePlace {
  readonly key: string
  /** Aborts when the writer no longer waits: it leaves the line, and nothing is written for it. Asked for only then. */
  readonly abandoned: () => AbortSignal
}

interface Waiter {
  /** Hands it the turn. */
  readonly call: () => void
}

export class KeyedQueue {
  /** The keys that somebody has the turn for, each with those who wait; undefined: nobody does. */
  readonly #lines = new Map<string, Set<Waiter> | undefined>()

  /** Runs `write` when it is its turn. `waited` says that others may have written since it was asked for. */
  async take<T>(place: QueuePlace, write: (waited: boolean) => Promise<T>): Promise<T> {
    const waited = this.#lines.has(place.key)
    if (waited) await this.#wait(place)
    else this.#lines.set(place.key, undefined)
    try {
      return await write(waited)
    } finally {
      this.#pass(place.key)
    }
  }

  #wait({ key, abandoned }: QueuePlace): Promise<void> {
    const line = this.#lines.get(key) ?? new Set()
    this.#lines.set(key, line)
    if (line.size >= longestLine)
      throw tooManyRequests(`${line.size} writers wait to change this object already; try again`)
    const signal = abandoned()
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.delete(waiter)
        reject(gone())
      }
      const waiter: Waiter = {
        call: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      if (signal.aborted) return reject(gone())
      signal.addEventListener('abort', leave, { once: true })
      line.add(waiter)
    })
  }

  #pass(key: string): void {
    const line = this.#lines.get(key)
    const [next] = line ?? []
    if (next === undefined) {
      this.#lines.delete(key)
      return
    }
    line!.delete(next)
    next.call()
  }
}

/** Nobody sees this error: the client has gone, or was already answered that its time is over. */
function gone(): ApiError {
  return new ApiError(504, 'Timeout', 'nobody waits for this write any more; it was not carried out')
}
