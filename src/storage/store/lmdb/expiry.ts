/** Asks the store's thread, every second, to delete the keys whose lifetime is over: one step after the other. */

import { readChanges } from '../packed-changes.ts'
import type { Change, StoreError } from '../store.ts'
import type { Connection } from './connection.ts'

export interface ExpiryOptions {
  readonly connection: Connection
  readonly now: () => number
  /** Called at once, so that what was deleted is known before anything that the thread answers later is seen. */
  readonly onDeleted: (changes: readonly Change[]) => void
  /** The same failure is reported once. */
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

  /** Deletes what is due, unless that is under way. What failed is tried again at the next call. */
  run(): void {
    if (this.#running || this.#stopped) return
    this.#running = true
    const { connection, now } = this.#options
    connection.send({ type: 'expire', now: now() }, [], {
      resolve: (reply) => this.#expired(reply as ArrayBuffer | undefined),
      reject: (error) => this.#failed(error),
    })
  }

  /** Nothing more is asked for. */
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
