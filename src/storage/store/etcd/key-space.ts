/**
 * Where the store's keys and revisions lie within etcd's: keys under a prefix, revisions above an offset.
 *
 * The store's own notes lie under the prefix too, so that the one watch sees them: their names start with NUL, which no
 * key of the contract holds, so they sort before all keys and never meet one.
 */
import { type Change, type Entry, type Key, type Revision, StoreError } from '../store.ts'
import type { EtcdEvent, KeyValue } from './messages.ts'

export interface KeyRange {
  readonly key: Uint8Array
  readonly end: Uint8Array
}

/** The names of the notes. `change` and `history` are the journal's: see journal/layout.ts. */
export type Note = 'offset' | 'compact' | 'tick' | 'unfinished' | 'change' | 'history'

export class KeySpace {
  readonly prefix: string
  /** What is added to etcd's revision. Restoring and migrating raise it, so that no revision is ever reused. */
  readonly offset: number

  constructor(prefix: string, offset: number) {
    if (prefix === '' || prefix.includes('\0')) throw new StoreError(`not an etcd prefix: ${JSON.stringify(prefix)}`)
    if (!Number.isSafeInteger(offset) || offset < 0) throw new StoreError(`not a revision offset: ${offset}`)
    this.prefix = prefix
    this.offset = offset
  }

  key(key: Key): Buffer {
    return Buffer.from(this.prefix + key)
  }

  note(name: Note): Buffer {
    return Buffer.from(`${this.prefix}\0${name}`)
  }

  /** All notes. */
  notes(): KeyRange {
    const key = Buffer.from(`${this.prefix}\0`)
    return { key, end: endOf(key) }
  }

  /** A note of ours, or a stranger's write to the bare prefix: no key of the contract. */
  isNote(entry: KeyValue): boolean {
    return entry.key.length === this.prefix.length || entry.key.charCodeAt(this.prefix.length) === 0
  }

  isOffset(entry: KeyValue): boolean {
    return entry.key === `${this.prefix}\0offset`
  }

  isChangeNote(entry: KeyValue): boolean {
    return entry.key === `${this.prefix}\0change`
  }

  /** Everything under the prefix, notes included. */
  everything(): KeyRange {
    const key = Buffer.from(this.prefix)
    return { key, end: endOf(key) }
  }

  /** The keys that start with `prefix` and come after `after`. No key is empty, so `\x01` is where keys begin. */
  range(prefix: string, after: Key | undefined): KeyRange {
    const stem = this.key(prefix)
    const first = prefix === '' ? this.key('\x01') : stem
    const next = after === undefined ? first : this.key(`${after}\0`)
    return { key: Buffer.compare(next, first) > 0 ? next : first, end: endOf(stem) }
  }

  revision(etcdRevision: number): Revision {
    return etcdRevision + this.offset
  }

  /** At most 0 for a revision from before the offset was raised. */
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
 * The first key after all that start with `stem`: its last byte plus one. UTF-8 holds no byte 0xff, so there is room.
 * `/orch/` ends at `/orch0`.
 */
export function endOf(stem: Buffer): Buffer {
  const end = Buffer.from(stem)
  end[end.length - 1]! += 1
  return end
}
