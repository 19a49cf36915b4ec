/**
 * Broadcasts changes from the thread that owns the file to the stores of other threads (`worker-store.ts`). Each store
 * receives every change in order, before any reply that could depend on it. The bytes of the changes are in shared
 * memory. A revision that a store is reading is pinned: compaction preserves it until the read ends or the store's
 * thread exits.
 */
import type { MessagePort } from 'node:worker_threads'
import { shareBlock } from '../packed-changes.ts'
import { SharedRevisions } from '../shared-revisions.ts'
import type { Revision } from '../store.ts'
import type { Broadcast } from './messages.ts'

/** Number of readers at each revision. */
type Pins = Map<Revision, number>

export class Followers {
  readonly #pins = new Map<MessagePort, Pins>()
  #shared: SharedRevisions | undefined

  /** Whether a store of another thread is connected. */
  get any(): boolean {
    return this.#pins.size > 0
  }

  /** The oldest revision that a store in another thread is reading, or Infinity if no store is reading. */
  get oldestPin(): Revision {
    return Math.min(...this.#pins.values().flatMap((pins) => pins.keys()))
  }

  add(port: MessagePort, memory: SharedArrayBuffer): void {
    this.#shared ??= new SharedRevisions(memory)
    this.#pins.set(port, new Map())
  }

  remove(port: MessagePort): void {
    this.#pins.delete(port)
  }

  pin(port: MessagePort, revision: Revision): void {
    const pins = this.#pins.get(port)
    pins?.set(revision, (pins.get(revision) ?? 0) + 1)
  }

  unpin(port: MessagePort, revision: Revision): void {
    const pins = this.#pins.get(port)
    const readers = (pins?.get(revision) ?? 0) - 1
    if (readers > 0) pins?.set(revision, readers)
    else pins?.delete(revision)
  }

  /** Moves the start of the history window. Must be called before changes older than the window are deleted. */
  forget(oldest: Revision): void {
    this.#shared?.raise('oldest', oldest)
  }

  /** Moves the start of the journal. Revisions that a store is reading remain readable. */
  forgetJournal(floor: Revision): void {
    this.#shared?.raise('floor', floor)
  }

  /** Broadcasts durable changes. `cut` is set if revisions before it can no longer be read. */
  publish(revision: Revision, changes: ArrayBuffer, cut?: Revision): void {
    if (cut !== undefined) {
      this.#shared?.raise('oldest', cut)
      this.#shared?.raise('cut', cut)
      this.#shared?.raise('floor', cut)
    }
    this.#shared?.raise('revision', revision)
    if (changes.byteLength === 0 || !this.any) return
    const shared = shareBlock(changes)
    for (const port of this.#pins.keys()) port.postMessage({ changes: shared } satisfies Broadcast)
  }
}
