/**
 * Reads old changes from etcd for one reader that is behind the log tail. A separate watch runs until it reaches the
 * tail.
 *
 * etcd does not report when a watch has delivered all past events. However, every watch reports the event at the tail's
 * revision, and before that event it delivers all earlier changes.
 */
import type { Batch, Change, Revision } from '../store.ts'
import type { Connection } from './connection.ts'
import type { KeySpace } from './key-space.ts'
import { watchFrom } from './watch.ts'

export class LogReader {
  #batches: AsyncGenerator<Batch> | undefined
  /** The revision of the last change that was returned to the reader. */
  #after: Revision = -1
  /**
   * All changes up to this revision have been returned to the reader. There may be no change at the revision itself.
   */
  #through: Revision = -1
  readonly #connection: Connection
  readonly #space: KeySpace
  readonly #signal: AbortSignal

  constructor(connection: Connection, space: KeySpace, signal: AbortSignal) {
    this.#connection = connection
    this.#space = space
    this.#signal = signal
  }

  /**
   * Returns the next changes after a revision, or an empty list if there are no changes up to `meeting`. `meeting` must
   * be a revision at which the watch certainly reports an event.
   */
  async read(after: Revision, meeting: Revision): Promise<readonly Change[]> {
    if (this.#batches === undefined || this.#after !== after) await this.#restart(after)
    while (this.#through < meeting) {
      const { value, done } = await this.#batches!.next()
      if (done) return []
      this.#through = value.through
      if (value.changes.length === 0) continue
      this.#after = value.changes.at(-1)!.revision
      return value.changes
    }
    return []
  }

  async close(): Promise<void> {
    await this.#batches?.return(undefined)
  }

  async #restart(after: Revision): Promise<void> {
    await this.close()
    this.#after = after
    this.#through = after
    this.#batches = watchFrom(this.#connection, this.#space, { after, signal: this.#signal })
  }
}
