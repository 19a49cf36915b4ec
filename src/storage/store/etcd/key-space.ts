/**
 * Maps the store's keys and revisions to keys and revisions of etcd. All keys are under a prefix, and all revisions are
 * above an offset.
 *
 * The store's notes are also under the prefix, so that the watch reports them. The names of the notes start with NUL.
 * No key contains a NUL, so notes sort before all keys and never collide with a key.
 */
import { type Change, type Entry, type Key, type Revision, StoreError } from '../store.ts'
import type { EtcdEvent, KeyValue } from './messages.ts'

export interface KeyRange {
  readonly key: Uint8Array
  readonly end: Uint8Array
}

/**
 * The names of the notes. `tick` is the target of progress writes. `change` and `history` belong to the journal (see
 * journal/layout.ts).
 */
export type Note = 'offset' | 'compact' | 'tick' | 'unfinished' | 'change' | 'history'

export class KeySpace {
  readonly prefix: string
  /**
   * The number that is added to each etcd revision. Raised by restores and migrations, so that revisions never decrease
   * for clients.
   */
  readonly offset: number

  constructor(prefix: string, offset: number) {
    if (prefix === '' || prefix.includes('\0')) throw new StoreError(`invalid etcd prefix: ${JSON.stringify(prefix)}`)
    if (!Number.isSafeInteger(offset) || offset < 0) throw new StoreError(`invalid revision offset: ${offset}`)
    this.prefix = prefix
    this.offset = offset
  }

  key(key: Key): Buffer {
    return Buffer.from(this.prefix + key)
  }

  note(name: Note): Buffer {
    return Buffer.from(`${this.prefix}\0${name}`)
  }

  /** Returns the key range of all notes. */
  notes(): KeyRange {
    const key = Buffer.from(`${this.prefix}\0`)
    return { key, end: endOf(key) }
  }

  /**
   * Whether an etcd entry is not a key of the store. Such an entry is a note, or a key that equals the prefix and that
   * another program has written.
   */
  isNote(entry: KeyValue): boolean {
    return entry.key.length === this.prefix.length || entry.key.charCodeAt(this.prefix.length) === 0
  }

  isOffset(entry: KeyValue): boolean {
    return entry.key === `${this.prefix}\0offset`
  }

  isChangeNote(entry: KeyValue): boolean {
    return entry.key === `${this.prefix}\0change`
  }

  /** Returns the key range of everything under the store's prefix, including notes. */
  everything(): KeyRange {
    const key = Buffer.from(this.prefix)
    return { key, end: endOf(key) }
  }

  /**
   * Returns the range of the keys that start with `prefix` and come after `after`. No key is empty, so the first
   * possible key is `\x01`.
   */
  range(prefix: string, after: Key | undefined): KeyRange {
    const stem = this.key(prefix)
    const first = prefix === '' ? this.key('\x01') : stem
    const next = after === undefined ? first : this.key(`${after}\0`)
    return { key: Buffer.compare(next, first) > 0 ? next : first, end: endOf(stem) }
  }

  revision(etcdRevision: number): Revision {
    return etcdRevision + this.offset
  }

  /**
   * Converts a store revision to an etcd revision. Returns 0 or less for a revision that the store assigned before the
   * offset was raised.
   */
  etcdRevision(revision: Revision): number {
    return revision - this.offset
  }

  entry(entry: KeyValue): Entry {
    return {
      key: entry.key.slice(this.prefix.length),
      revision: this.revision(entry.modRevision),
      value: entry.value,
    }
  }

  change({ deleted, entry, previous }: EtcdEvent): Change {
    return {
      key: entry.key.slice(this.prefix.length),
      revision: this.revision(entry.modRevision),
      value: deleted ? undefined : entry.value,
      previous: previous && this.entry(previous),
    }
  }
}

/**
 * Returns the first key after all keys that start with `stem`, by incrementing the last byte of `stem`. UTF-8 contains
 * no byte 0xff, so the byte never overflows. For example, the keys under `/orch/` end at `/orch0`.
 */
export function endOf(stem: Buffer): Buffer {
  const end = Buffer.from(stem)
  end[end.length - 1]! += 1
  return end
}
