/**
 * Informs operators that a store is full but still running, with a log line and a note in `/readyz?verbose`. A store
 * may switch between full and not full many times a second. There is therefore at most one log line per minute, plus
 * one when the store has recovered.
 */

import type { Log } from '../../base/telemetry/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { OnCapacity } from '../../storage/store/fullness.ts'

const quietMs = 60_000

/** Reports in the log and in `/readyz?verbose` that a store is full. Logs at most one line per minute. */
export class StoreNotice {
  readonly #log: Log
  readonly #clock: Clock
  readonly #remedy: string
  #since: number | undefined
  #toldAt = Number.NEGATIVE_INFINITY
  #wasReported = false

  /** Creates the notice for a full store. `remedy` explains to administrators how to free space. */
  constructor(log: Log, clock: Clock, remedy: string) {
    this.#log = log
    this.#clock = clock
    this.#remedy = remedy
  }

  /** Called by the store when it becomes full or has space again. */
  readonly onCapacity: OnCapacity = (now) => {
    this.#since = now === 'full' ? this.#clock.now() : undefined
    if (now === 'full') this.#tellFull()
    else this.#tellOver()
  }

  /** Returns a note about a full store for the readiness check. */
  note(): string | undefined {
    if (this.#since === undefined) return undefined
    return `it has been full since ${new Date(this.#since).toISOString()}: writes are rejected, deletes are allowed; ${this.#remedy}`
  }

  #tellFull(): void {
    const now = this.#clock.monotonic()
    if (now - this.#toldAt < quietMs) return
    this.#toldAt = now
    this.#wasReported = true
    this.#log.warn(`the store is full: writes are rejected, deletes are allowed; ${this.#remedy}`)
  }

  #tellOver(): void {
    if (!this.#wasReported) return
    this.#wasReported = false
    this.#log.info('the store accepts writes again')
  }
}
