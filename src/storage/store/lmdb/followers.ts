/**
 * The stores of other threads on the file that this thread owns (`worker-store.ts`). Each is sent every change, in order and
 * before any answer that could show it; the bytes lie in memory that all of them share. What one of them is reading is
 * kept from compaction until it has read it, or has ended.
 */
import type { MessagePort } from 'node:worker_threads'
import { shareBlock } from '../packed-changes.ts'
import { SharedRevisions } from '../shared-revisions.ts'
import type { Revision } from '../store.ts'
import type { Broadcast } from './messages.ts'

/** How many readers there are at each revision. */
type Pins = Map<Revision, number>

export class Followers {
  readonly #pins = new Map<MessagePort, Pins>()
  #shared: SharedRevisions | undefined

  /** Whether there are any. */
  get any(): boolean {
    return this.#pins.size > 0
  }

  /** The oldest revision that one of them reads. */
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

  /** History begins here from now on: to be called before anything older is deleted. */
  forget(oldest: Revision): void {
    this.#shared?.raise('oldest', oldest)
  }

  /** The same for the journal; what was pinned is there still. */
  forgetJournal(floor: Revision): void {
    this.#shared?.raise('floor', floor)
  }

  /** What is durable now. `cut`: nothing before this revision can be read any more. */
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
