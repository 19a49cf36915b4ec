/**
 * Which revisions are outdated: older than the time for which history is kept. What was the newest revision is noted
 * now and then, so the answer is late by a sixteenth of that time at most, and never early.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { Revision } from '../store/store.ts'

/** How long history is kept, and by which clock. */
export interface HistoryTime {
  readonly historyMs: number
  readonly clock: Pick<Clock, 'monotonic'>
}

const marksPerHistory = 16

/** Knows roughly when revisions were the newest. */
export class RevisionTimes {
  readonly #kept: HistoryTime
  /** Each revision was reached at this time or before; the oldest first. */
  #marks: { readonly revision: Revision; readonly time: number }[] = []

  constructor(kept: HistoryTime) {
    this.#kept = kept
  }

  /** This is the newest revision now. True where that was worth remembering. */
  note(revision: Revision): boolean {
    const time = this.#kept.clock.monotonic()
    const last = this.#marks.at(-1)
    if (last !== undefined && time - last.time < this.#kept.historyMs / marksPerHistory) return false
    this.#marks.push({ revision, time })
    return true
  }

  /** All changes up to this revision are older than history is kept; 0: none is. */
  outdated(): Revision {
    const end = this.#kept.clock.monotonic() - this.#kept.historyMs
    const fresh = this.#marks.findIndex(({ time }) => time > end)
    const old = fresh === -1 ? this.#marks.length : fresh
    if (old === 0) return 0
    // The last of the old ones says all that they do.
    this.#marks = this.#marks.slice(old - 1)
    return this.#marks[0]!.revision
  }
}
