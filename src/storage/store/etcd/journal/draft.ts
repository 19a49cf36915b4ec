/**
 * A journal segment under construction. Changes are added in whole revisions until the segment reaches the size of one
 * etcd transaction.
 */
import type { Bytes, Change, Note, Retention, Revision } from '../../store.ts'
import { type ArchivePosition, type Segment, writeRecord, writeSegment } from './encoding.ts'
import type { Layout } from './layout.ts'

const max = { changes: 100, bytes: 512 * 1024 }
/** Approximate overhead of etcd per key, in bytes. */
const perKey = 100

interface DraftChange {
  readonly change: Change
  readonly note: Note
  /** The value before the change. Undefined if the key was absent or if the journal excludes the key's values. */
  readonly value: Bytes | undefined
}

interface Put {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

export class Draft {
  through: Revision
  #bytes = 0
  readonly #draftChanges: DraftChange[] = []
  readonly #start: ArchivePosition
  readonly #retention: Retention

  /** Starts an empty segment, which follows the changes up to the given archive position. */
  constructor(position: ArchivePosition, retention: Retention) {
    this.#start = position
    this.#retention = retention
    this.through = position.through
  }

  get isEmpty(): boolean {
    return this.#draftChanges.length === 0
  }

  /**
   * Whether the given changes fit into the segment. Changes of one revision are never split, so the first revision
   * always fits.
   */
  takes(changes: readonly Change[]): boolean {
    const bytes = changes.reduce((sum, change) => sum + sizeOf(this.#valueOf(change)), this.#bytes)
    const most = Math.min(max.bytes, this.#retention.bytes / 8)
    return this.isEmpty || (this.#draftChanges.length + changes.length <= max.changes && bytes <= most)
  }

  add(revision: Revision, changes: readonly Change[], note: Note): void {
    for (const change of changes) {
      const value = this.#valueOf(change)
      this.#draftChanges.push({ change, note, value })
      this.#bytes += sizeOf(value)
    }
    this.through = revision
  }

  /** Returns the archive position and the keys to write. */
  finish(
    layout: Layout,
    values: 'with' | 'without',
  ): { readonly position: ArchivePosition; readonly puts: readonly Put[] } {
    const draftChanges =
      values === 'with' ? this.#draftChanges : this.#draftChanges.map((each) => ({ ...each, value: undefined }))
    const segment: Segment = {
      from: this.#start.through,
      through: this.through,
      start: this.#start.total,
      changes: draftChanges.map(({ change: { key, revision }, note, value }) => ({
        key,
        revision,
        time: note.time,
        hasValue: value !== undefined,
      })),
    }
    const puts = [
      { key: layout.segment(this.through), value: writeSegment(segment) },
      ...draftChanges.flatMap((each) => putsOf(layout, each)),
    ]
    const bytes = puts.reduce((sum, { key, value }) => sum + key.length + value.length + perKey, 0)
    return { position: { ...this.#start, through: this.through, total: this.#start.total + bytes }, puts }
  }

  #valueOf({ key, previous }: Change): Bytes | undefined {
    return this.#retention.withoutValues.some((prefix) => key.startsWith(prefix)) ? undefined : previous?.value
  }
}

function putsOf(layout: Layout, { change, note, value }: DraftChange): Put[] {
  const record = writeRecord({
    replaced: change.previous?.revision ?? 0,
    deleted: change.value === undefined,
    note,
    hasValue: value !== undefined,
  })
  const recordPut = { key: layout.record(change), value: record }
  return value === undefined ? [recordPut] : [recordPut, { key: layout.value(change), value }]
}

function sizeOf(value: Bytes | undefined): number {
  return (value?.length ?? 0) + 4 * perKey
}
