/**
 * Distributes the changes from this process's only etcd watch. All watchers read these changes from one log tail, and
 * callers can wait until the change stream reaches a revision. The watch runs either in this thread
 * (`watched-changes.ts`) or in another thread (`relayed-changes.ts`).
 *
 * The tail is never ahead of the watch: a reader that has received revision N has received all changes up to N.
 */

import { LogTail, type LogTailLimits } from '../log-tail.ts'
import type { Batch, Revision, RevisionGone, StoreError } from '../store.ts'

/** The position up to which a change stream has read etcd's log. */
export interface ChangeStreamPosition {
  readonly revision: Revision
  /** The revision of the last change. Before the first change, the revision at which the change stream started. */
  readonly newest: Revision
  /** Whether etcd's watch has reported `revision`. False if `revision` is only the start revision. */
  readonly anchored: boolean
}

export class ChangeStream implements ChangeStreamPosition {
  tail: LogTail
  newest: Revision
  anchored: boolean
  /** The reason why the change stream is stalled or has ended. Undefined while it is running. */
  failure: StoreError | undefined
  #ended = false
  readonly #limits: LogTailLimits | undefined
  readonly #waiting = new Set<() => void>()

  /** Creates a change stream that starts at a revision, or at the position of another change stream. */
  constructor(start: Revision | ChangeStreamPosition, limits?: LogTailLimits) {
    const { revision, newest, anchored } =
      typeof start === 'number' ? { revision: start, newest: start, anchored: false } : start
    this.#limits = limits
    this.tail = new LogTail(revision, limits)
    this.newest = newest
    this.anchored = anchored
  }

  get revision(): Revision {
    return this.tail.revision
  }

  append({ changes, through }: Batch): void {
    const last = changes.at(-1)
    this.failure = undefined
    this.anchored = true
    if (last !== undefined) {
      this.newest = last.revision
      this.tail.append(changes)
    }
    this.tail.advance(through)
    this.#wake()
  }

  /** Restarts at `revision` after a gap. Existing readers fail with the given error. */
  beginAnew(revision: Revision, gap: RevisionGone): void {
    this.tail.end(gap)
    this.tail = new LogTail(revision, this.#limits)
    this.newest = revision
    this.anchored = false
    this.#wake()
  }

  /**
   * Waits up to `ms` milliseconds for the change stream to reach a revision. Resolves to true if the stream reaches the
   * revision in time.
   */
  async reached(revision: Revision, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (this.tail.revision < revision && !this.#ended) {
      const remainingMs = deadline - performance.now()
      if (remainingMs <= 0) return false
      await this.#more(remainingMs)
    }
    return this.tail.revision >= revision
  }

  /** Ends all readers of the change stream. */
  end(reason: StoreError): void {
    this.failure = reason
    this.#ended = true
    this.tail.end(reason)
    this.#wake()
  }

  #more(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#waiting.add(done)
    })
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done()
  }
}
