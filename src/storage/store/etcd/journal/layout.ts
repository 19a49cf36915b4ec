/**
 * The layout of the journal in etcd. Two notes are under the prefix of the store. Every commit writes the note `change`
 * (who made the change and when) together with its key. The note `history` is the archive position up to which changes
 * are archived. Archived data is outside the prefix, so that no watch or list of the store reads it:
 *
 *   /orch/\0change                   the note of the last commit
 *   /orch/\0history                  the archive position
 *   /orch\0history/k/KEY\0REVISION   a change to a key: its note, and the revision that it replaced
 *   /orch\0history/v/KEY\0REVISION   the value that it replaced
 *   /orch\0history/s/REVISION        a segment: the changes archived in one transaction, up to this revision
 *
 * Revisions have a fixed number of digits so that they sort. NUL sorts before every character that could continue a
 * longer key.
 */
import type { Key, Revision } from '../../store.ts'
import { endOf, type KeyRange, type KeySpace } from '../key-space.ts'

const digits = 14

function revisionText(revision: Revision): string {
  return Math.min(revision, Number.MAX_SAFE_INTEGER).toString(16).padStart(digits, '0')
}

/** The key and the revision of a change, which together identify its record in the archive. */
export interface ChangePlace {
  readonly key: Key
  readonly revision: Revision
}

export class Layout {
  readonly #root: string

  constructor({ prefix }: KeySpace) {
    this.#root = `${prefix.replace(/\/$/, '')}\0history/`
  }

  record({ key, revision }: ChangePlace): Buffer {
    return Buffer.from(`${this.#root}k/${key}\0${revisionText(revision)}`)
  }

  value({ key, revision }: ChangePlace): Buffer {
    return Buffer.from(`${this.#root}v/${key}\0${revisionText(revision)}`)
  }

  segment(through: Revision): Buffer {
    return Buffer.from(`${this.#root}s/${revisionText(through)}`)
  }

  /** Returns the key range of the segments that end at or after a revision. */
  segments(from: Revision): KeyRange {
    return { key: this.segment(from), end: endOf(Buffer.from(`${this.#root}s/`)) }
  }

  /** Returns the key range of all archived data. */
  everything(): KeyRange {
    const key = Buffer.from(this.#root)
    return { key, end: endOf(key) }
  }

  /** Returns the key range of one key's changes, from the revision `from` up to but excluding `before`. */
  recordsOf(key: Key, from: Revision, before: Revision): KeyRange {
    return { key: this.record({ key, revision: from }), end: this.record({ key, revision: before }) }
  }

  /** Returns the key range of all changes to the keys that start with `prefix` and come after `after`. */
  records(prefix: string, after: Key | undefined): KeyRange {
    const stem = Buffer.from(`${this.#root}k/${prefix}`)
    const next = after === undefined ? stem : this.#behind(after)
    return { key: Buffer.compare(next, stem) > 0 ? next : stem, end: endOf(stem) }
  }

  locationOf(recordKey: string): ChangePlace {
    const text = recordKey.slice(this.#root.length + 2)
    const end = text.indexOf('\0')
    return { key: text.slice(0, end), revision: Number.parseInt(text.slice(end + 1), 16) }
  }

  /** Returns the first possible archive key after all changes to the given key. */
  #behind(key: Key): Buffer {
    return Buffer.from(`${this.#root}k/${key}\x01`)
  }
}
