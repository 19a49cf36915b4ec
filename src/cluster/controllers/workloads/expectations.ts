/**
 * Tracks the writes of a loop that the loop's informer has not delivered yet: creates by number, and deletes by UID.
 * While an owner has open expectations, the cache lags behind the loop's own writes. The loop must then neither create
 * nor delete objects for that owner, because it would repeat these writes.
 *
 * Owners are identified by UID, so a recreated owner starts without expectations. Expectations that are never
 * fulfilled, for example because a pod was created and deleted while a watch was broken, expire after five minutes.
 */
import type { Clock } from '../../../base/time/clock.ts'

const expiryMs = 5 * 60_000

interface Open {
  creations: number
  readonly deletions: Set<string>
  readonly since: number
}

/** The writes of one loop that the loop's informer has not delivered yet, by owner UID. */
export class Expectations {
  readonly #clock: Clock
  readonly #open = new Map<string, Open>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Records creates that are about to be sent. Must be called before sending them, because an event may arrive before
   * the response.
   */
  expectCreations(owner: string, count: number): void {
    this.#entry(owner).creations += count
  }

  /** Records deletes that are about to be sent. Must be called before sending them. */
  expectDeletions(owner: string, uids: Iterable<string>): void {
    const { deletions } = this.#entry(owner)
    for (const uid of uids) deletions.add(uid)
  }

  /** Records that a created object was observed or could not be created. */
  settleCreation(owner: string, count = 1): void {
    const open = this.#open.get(owner)
    if (open === undefined) return
    open.creations = Math.max(0, open.creations - count)
    this.#closeIfMet(owner, open)
  }

  /**
   * Fulfills the expectation of a deletion. Must be called when the object was deleted or marked for deletion, or when
   * the delete request failed.
   */
  settleDeletion(owner: string, uid: string): void {
    const open = this.#open.get(owner)
    if (open === undefined) return
    open.deletions.delete(uid)
    this.#closeIfMet(owner, open)
  }

  /**
   * Returns 0 if all expected writes have been observed. Otherwise returns the milliseconds until the expectations
   * expire.
   */
  waitMs(owner: string): number {
    const open = this.#open.get(owner)
    if (open === undefined) return 0
    const restMs = open.since + expiryMs - this.#clock.monotonic()
    if (restMs > 0) return restMs
    this.#open.delete(owner)
    return 0
  }

  /** Returns the number of expected creates that the informer has not delivered yet. */
  pendingCreations(owner: string): number {
    return this.#open.get(owner)?.creations ?? 0
  }

  /** Drops the expectations of a deleted owner. */
  forget(owner: string): void {
    this.#open.delete(owner)
  }

  #entry(owner: string): Open {
    const existing = this.#open.get(owner)
    if (existing !== undefined) return existing
    const open: Open = { creations: 0, deletions: new Set(), since: this.#clock.monotonic() }
    this.#open.set(owner, open)
    return open
  }

  #closeIfMet(owner: string, { creations, deletions }: Open): void {
    if (creations === 0 && deletions.size === 0) this.#open.delete(owner)
  }
}
