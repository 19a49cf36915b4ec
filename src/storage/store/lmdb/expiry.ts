/** Requests the deletion of expired keys from the store's thread every second, step by step. */

import { readChanges } from '../packed-changes.ts'
import type { Change, StoreError } from '../store.ts'
import type { Connection } from './connection.ts'

export interface ExpiryOptions {
  readonly connection: Connection
  readonly now: () => number
  /**
   * Called synchronously with the deletions, before any later reply from the thread is processed. Code that handles a
   * later reply therefore already knows about the deletions.
   */
  readonly onDeleted: (changes: readonly Change[]) => void
  /** Called for each failure, unless the previous failure had the same message. */
  readonly onError: (error: StoreError) => void
}

export const expiryTickMs = 1000

export class Expiry {
  readonly #options: ExpiryOptions
  #running = false
  #stopped = false
  #failure: string | undefined

  constructor(options: ExpiryOptions) {
    this.#options = options
  }

  /** Deletes expired keys, unless a run is already in progress. After a failure, the next call retries. */
  run(): void {
    if (this.#running || this.#stopped) return
    this.#running = true
    const { connection, now } = this.#options
    connection.send({ type: 'expire', now: now() }, [], {
      resolve: (reply) => this.#expired(reply as ArrayBuffer | undefined),
      reject: (error) => this.#failed(error),
    })
  }

  /** Stops sending requests for deletions. */
  stop(): void {
    this.#stopped = true
  }

  #expired(changes: ArrayBuffer | undefined): void {
    this.#running = false
    this.#failure = undefined
    if (changes === undefined) return
    this.#options.onDeleted(readChanges(changes))
    this.run()
  }

  #failed(error: StoreError): void {
    this.#running = false
    if (error.message !== this.#failure) this.#options.onError(error)
    this.#failure = error.message
  }
}
