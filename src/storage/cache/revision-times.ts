/**
 * Finds the revisions that are older than the history retention time. The newest revision is recorded at intervals. A
 * revision may therefore be reported late, by up to a sixteenth of the retention time, but never early.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { Revision } from '../store/store.ts'

/** The history retention time and the clock that measures it. */
export interface HistoryTime {
  readonly historyMs: number
  readonly clock: Pick<Clock, 'monotonic'>
}

const marksPerHistory = 16

/** Records the approximate time at which the store reached each revision. */
export class RevisionTimes {
  readonly #retention: HistoryTime
  /** Recorded revisions, oldest first, each with a time when the store had already reached the revision. */
  #marks: { readonly revision: Revision; readonly time: number }[] = []

  constructor(retention: HistoryTime) {
    this.#retention = retention
  }

  /** Records the newest revision. Returns false if the last record is recent enough. */
  note(revision: Revision): boolean {
    const time = this.#retention.clock.monotonic()
    const last = this.#marks.at(-1)
    if (last !== undefined && time - last.time < this.#retention.historyMs / marksPerHistory) return false
    this.#marks.push({ revision, time })
    return true
  }

  /** Returns the newest revision whose changes are all older than the retention time, or 0 if there is none. */
  outdated(): Revision {
    const end = this.#retention.clock.monotonic() - this.#retention.historyMs
    const fresh = this.#marks.findIndex(({ time }) => time > end)
    const old = fresh === -1 ? this.#marks.length : fresh
    if (old === 0) return 0
    // Keep only the newest record that is old enough, and all later records.
    this.#marks = this.#marks.slice(old - 1)
    return this.#marks[0]!.revision
  }
}
