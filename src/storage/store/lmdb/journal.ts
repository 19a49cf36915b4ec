/**
 * The journal of the embedded store, for code outside the thread that owns the file. Each method sends a request to
 * that thread (read-journal.ts).
 */
import { assertKey } from '../key.ts'
import { Unpacker } from '../pack.ts'
import type { Journal, JournalChange, Key, ListRange, Retention, Revision, Snapshot } from '../store.ts'
import type { Connection } from './connection.ts'
import type { HistoryWindow } from './history-window.ts'
import type { WhenReply } from './messages.ts'

export interface JournalParts {
  readonly connection: Connection
  readonly history: HistoryWindow
  readonly list: (range: ListRange & { readonly revision: Revision }) => Promise<Snapshot>
}

/** Opens the journal. Returns undefined if the store has no journal. */
export function openJournal(retention: Retention | undefined, parts: JournalParts): Journal | undefined {
  return (retention?.time ?? 0) > 0 ? new LmdbJournal(parts) : undefined
}

class LmdbJournal implements Journal {
  readonly #parts: JournalParts

  constructor(parts: JournalParts) {
    this.#parts = parts
  }

  async changes(key: Key, before: Revision, limit: number): Promise<readonly JournalChange[]> {
    assertKey(key)
    const reply = await this.#parts.connection.request({ type: 'journalChanges', key, before, limit })
    return readPast(new Unpacker(reply as ArrayBuffer))
  }

  async list(range: ListRange & { readonly revision: Revision }): Promise<Snapshot> {
    return await this.#parts.list(range)
  }

  async revisionAt(time: number): Promise<Revision | undefined> {
    const reply = await this.#parts.connection.request({ type: 'when', time })
    return (reply as WhenReply).revision
  }

  async oldest(): Promise<Revision> {
    return this.#parts.history.floor
  }

  async forget(): Promise<void> {
    await this.#parts.history.forgetJournal()
  }
}

function readPast(packed: Unpacker): JournalChange[] {
  const journalChanges: JournalChange[] = []
  while (!packed.done) {
    const revision = packed.number()
    const deleted = packed.number() === 1
    const time = packed.number()
    const text = packed.bytes()
    const value = packed.number() === 1 ? packed.bytes() : undefined
    journalChanges.push({ revision, deleted, value, note: time === 0 ? undefined : { time, text } })
  }
  return journalChanges
}
