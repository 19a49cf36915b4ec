/**
 * What a loop has written and not yet seen in its informer: creations by their number, deletions by UID. While an owner
 * has open expectations its informer is behind the loop's own writes, and the loop must neither create nor delete for
 * it: it would do so twice.
 *
 * Owners are named by UID, so an owner that is deleted and created anew starts without expectations. What is never seen,
 * such as a pod that was created and deleted while a watch was broken, is given up after five minutes.
 */
import type { Clock } from '../../../base/time/clock.ts'

const expiryMs = 5 * 60_000

interface Open {
  creations: number
  readonly deletions: Set<string>
  readonly since: number
}

/** Writes of one loop that its informer has not shown yet, by owner. */
export class Expectations {
  readonly #clock: Clock
  readonly #open = new Map<string, Open>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** To be called before the creations are sent: an event may come before the answer. */
  expectCreations(owner: string, count: number): void {
    this.#entry(owner).creations += count
  }

  /** To be called before the deletions are sent. */
  expectDeletions(owner: string, uids: Iterable<string>): void {
    const { deletions } = this.#entry(owner)
    for (const uid of uids) deletions.add(uid)
  }

  /** A created object was seen, or could not be created. */
  settleCreation(owner: string, count = 1): void {
    const open = this.#open.get(owner)
    if (open === undefined) return
    open.creations = Math.max(0, open.creations - count)
    this.#closeIfMet(owner, open)
  }

  /** An object was seen to be deleted or marked for deletion, or could not be deleted. */
  settleDeletion(owner: string, uid: string): void {
    const open = this.#open.get(owner)
    if (open === undefined) return
    open.deletions.delete(uid)
    this.#closeIfMet(owner, open)
  }

  /** 0 where everything expected has been seen; else after how many milliseconds the rest is given up. */
  waitMs(owner: string): number {
    const open = this.#open.get(owner)
    if (open === undefined) return 0
    const restMs = open.since + expiryMs - this.#clock.monotonic()
    if (restMs > 0) return restMs
    this.#open.delete(owner)
    return 0
  }

  /** The owner is gone. */
  forget(owner: string): void {
    this.#open.delete(owner)
  }

  #entry(owner: string): Open {
    const known = this.#open.get(owner)
    if (known !== undefined) return known
    const open: Open = { creations: 0, deletions: new Set(), since: this.#clock.monotonic() }
    this.#open.set(owner, open)
    return open
  }

  #closeIfMet(owner: string, { creations, deletions }: Open): void {
    if (creations === 0 && deletions.size === 0) this.#open.delete(owner)
  }
}
