/**
 * Reads entries, lists and the log by sending requests to the store's thread. `History` determines the oldest revision
 * that can be read.
 */

import { Unpacker } from '../pack.ts'
import { readChanges } from '../packed-changes.ts'
import type { Change, Entry, Key, ListRange, Revision, Snapshot } from '../store.ts'
import type { Connection } from './connection.ts'
import type { HistoryWindow } from './history-window.ts'
import type { CountReply, ListReply, Reach, SliceRange } from './messages.ts'

export class Reader {
  readonly #connection: Connection
  readonly #history: HistoryWindow

  constructor(connection: Connection, history: HistoryWindow) {
    this.#connection = connection
    this.#history = history
  }

  async get(key: Key): Promise<Entry | undefined> {
    const reply = new Unpacker((await this.#connection.request({ type: 'get', key })) as ArrayBuffer)
    return reply.done ? undefined : { key, revision: reply.number(), value: reply.bytes() }
  }

  /** Returns the exact state at a revision, which the store must have reached. Throws RevisionGone. */
  async listAt(
    at: Revision,
    { prefix, after, limit = Number.POSITIVE_INFINITY, count = true }: ListRange,
    reach: Reach,
  ): Promise<Snapshot> {
    return await this.#history.pinned(at, reach, async () => {
      const { entries, resume } = await this.#readEntries({ prefix, after, revision: at }, limit)
      const remaining = resume === undefined ? 0 : count ? await this.#countEntries(resume) : 1
      return { revision: at, entries, remaining }
    })
  }

  /**
   * Returns changes after a revision. Returns at least one change, unless there are no changes after the revision.
   * Throws RevisionGone.
   */
  async log(after: Revision, limit: number): Promise<readonly Change[]> {
    this.#history.assertKept(after, 'history')
    const reply = (await this.#connection.request({ type: 'log', after, limit })) as ArrayBuffer
    // Check again, because compaction may have deleted changes while the log was being read.
    this.#history.assertKept(after, 'history')
    return readChanges(reply)
  }

  async #readEntries(range: SliceRange, limit: number): Promise<{ entries: Entry[]; resume: SliceRange | undefined }> {
    const entries: Entry[] = []
    let rest: SliceRange | undefined = range
    while (rest && entries.length < limit) {
      const request = { type: 'list', range: rest, limit: limit - entries.length } as const
      const reply = (await this.#connection.request(request)) as ListReply
      this.#history.assertReadable(range.revision)
      readEntries(new Unpacker(reply.entries), entries)
      rest = reply.resume === undefined ? undefined : { ...range, after: reply.resume }
    }
    return { entries, resume: rest }
  }

  async #countEntries(range: SliceRange): Promise<number> {
    let count = 0
    let rest: SliceRange | undefined = range
    while (rest) {
      const reply = (await this.#connection.request({ type: 'count', range: rest })) as CountReply
      this.#history.assertReadable(range.revision)
      count += reply.count
      rest = reply.resume === undefined ? undefined : { ...range, after: reply.resume }
    }
    return count
  }
}

function readEntries(packed: Unpacker, entries: Entry[]): void {
  while (!packed.done) {
    const revision = packed.number()
    entries.push({ key: packed.key(), revision, value: packed.bytes() })
  }
}
