/** Writes changes with notes, and reads the notes back from a journal. */
import assert from 'node:assert/strict'
import type { Journal, JournalChange, Store } from '../../../src/storage/store/store.ts'

/** A revision that is greater than any other. */
export const latest = Number.MAX_SAFE_INTEGER

/** Writes keys one after another. Each write of a key replaces its previous value. */
export class JournalWriter {
  readonly #revisions = new Map<string, number>()
  readonly #store: Store
  readonly #time: () => number

  constructor(store: Store, time: () => number = Date.now) {
    this.#store = store
    this.#time = time
  }

  /** Writes a key. An undefined value deletes the key. */
  async write(
    key: string,
    value: string | undefined,
    { note = `note of ${value}`, store = this.#store }: { note?: string; store?: Store } = {},
  ): Promise<number> {
    const result = await store.commit({
      key,
      expected: this.#revisions.get(key) ?? 0,
      value: value === undefined ? undefined : Buffer.from(value),
      note: { time: this.#time(), text: Buffer.from(note) },
    })
    assert.ok(result.outcome === 'committed')
    this.#revisions.set(key, value === undefined ? 0 : result.revision)
    return result.revision
  }
}

function changeFields({ revision, deleted, value, note }: JournalChange): unknown[] {
  return [revision, deleted, value && Buffer.from(value).toString(), note && Buffer.from(note.text).toString()]
}

/** Returns the revision, the value and the text of the note of each change, and whether the change is a deletion. */
export async function changesOf(journal: Journal, key: string, before = latest, limit = 100): Promise<unknown[][]> {
  return (await journal.changes(key, before, limit)).map(changeFields)
}

/** Returns keys and values at a revision. */
export async function stateAt(journal: Journal, revision: number): Promise<[string, string][]> {
  const { entries } = await journal.list({ prefix: '', revision })
  return entries.map(({ key, value }) => [key, Buffer.from(value).toString()])
}
