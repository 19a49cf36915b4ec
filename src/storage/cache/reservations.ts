/**
 * Tracks the values that objects reserve from shared pools, such as addresses and ports. The reservations may be made
 * through any server. The store contains a key under `claims/` for each reservation. The value of the key names the
 * object that owns the reservation. The feed that updates the caches also updates the reservations, so both reflect the
 * same revision.
 *
 * claims/node-ports/30080 -> objects/core/services/default/web
 */
import type { Change, Entry } from '../store/store.ts'

/** The prefix of all reservation keys. */
export const reservationsPrefix = 'claims/'

/** A reserved value and the object that owns the reservation. */
export interface HeldReservation {
  readonly key: string
  readonly revision: number
  /** The key of the object that owns the reservation. */
  readonly holder: string
}

/** Returns the key that reserves a value. */
export function reservationKey(pool: string, value: string): string {
  return `${reservationsPrefix}${pool}/${value}`
}

/** The reserved values, by pool. */
export class Reservations {
  #byKey = new Map<string, HeldReservation>()
  #counts = new Map<string, number>()

  has(pool: string, value: string): boolean {
    return this.#byKey.has(reservationKey(pool, value))
  }

  get(pool: string, value: string): HeldReservation | undefined {
    return this.#byKey.get(reservationKey(pool, value))
  }

  /** Returns the number of reserved values in a pool. */
  count(pool: string): number {
    return this.#counts.get(pool) ?? 0
  }

  all(): IterableIterator<HeldReservation> {
    return this.#byKey.values()
  }

  /** Replaces all reservations of all pools. */
  load(entries: readonly Entry[]): void {
    this.#byKey = new Map()
    this.#counts = new Map()
    for (const entry of entries) this.#set(entry)
  }

  apply({ key, revision, value }: Change): void {
    if (value !== undefined) this.#set({ key, revision, value })
    else if (this.#byKey.delete(key)) this.#add(key, -1)
  }

  #set({ key, revision, value }: Entry): void {
    if (!this.#byKey.has(key)) this.#add(key, 1)
    this.#byKey.set(key, { key, revision, holder: Buffer.from(value).toString() })
  }

  #add(key: string, more: number): void {
    const pool = key.slice(reservationsPrefix.length, key.indexOf('/', reservationsPrefix.length))
    this.#counts.set(pool, this.count(pool) + more)
  }
}
