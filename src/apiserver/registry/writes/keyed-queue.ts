/**
 * Queues the writers of each object, so that each writer starts with the result of the previous writer.
 *
 * Without queues, only one of many concurrent writers would succeed at a time, and the others would retry repeatedly.
 * Queues are an optimization and not needed for correctness: other servers write to the same store, so a commit can
 * still conflict and is then retried. A key with a single writer needs only one map entry during the write.
 */
import { ApiError, tooManyRequests } from '../../../api/model/api-error.ts'

/**
 * Maximum number of writers that wait for one object. A write takes about a millisecond, so the last writer waits a few
 * seconds at most.
 */
const maxQueueLength = 1000

export interface QueuePlace {
  readonly key: string
  /**
   * Returns a signal that aborts when the caller no longer waits. The writer then leaves the queue without writing. The
   * function is called only if the writer has to wait.
   */
  readonly abandoned: () => AbortSignal
}

interface Waiter {
  /** Wakes the writer, either because it is next or because it no longer needs to wait. */
  readonly call: () => void
}

export class KeyedQueue {
  /** The keys that are being written, each with its waiting writers. The value is undefined if no writer waits. */
  readonly #lines = new Map<string, Set<Waiter> | undefined>()

  /**
   * Waits in the queue of a key, then runs `write`. `waited` is true if other writes may have happened in the meantime.
   */
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
    if (line.size >= maxQueueLength)
      throw tooManyRequests(`${line.size} requests are already waiting to change this object; try again`)
    const signal = abandoned()
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.delete(waiter)
        reject(callerGoneError())
      }
      const waiter: Waiter = {
        call: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      if (signal.aborted) return reject(callerGoneError())
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

/** Returns the error for a caller that has disconnected or timed out. No client receives this error. */
function callerGoneError(): ApiError {
  return new ApiError(504, 'Timeout', 'the client no longer waits for this write; it was not executed')
}
