/** Defines what the journal stores in etcd and how it is encoded: notes, records and segments. */
import { WireReader, WireWriter } from '../../../../wire/protobuf/protobuf-wire.ts'
import type { Bytes, Key, Note, Revision } from '../../store.ts'

/** The archive position, which defines the changes that the journal contains. */
export interface ArchivePosition {
  /**
   * The revision offset at the time of writing. If the store's offset has changed since then, the journal is invalid.
   */
  readonly offset: number
  /**
   * The journal contains every change after `cut` up to this revision, except for the oldest changes if they have
   * already been deleted.
   */
  readonly through: Revision
  /** The end of the latest gap in the journal. Readers ignore all changes before this revision. */
  readonly cut: Revision
  /** Total number of bytes ever written to the journal. */
  readonly total: number
}

export function writePosition(position: ArchivePosition): Buffer {
  return Buffer.from(JSON.stringify(position))
}

export function readPosition(value: Bytes): ArchivePosition {
  return JSON.parse(Buffer.from(value).toString()) as ArchivePosition
}

/** Encodes the note of a commit, which is written in the same transaction. */
export function writeNote({ time, text }: Note): Buffer {
  const writer = new WireWriter(0, text.length + 16)
  writer.integer(1, time)
  writer.bytes(2, text)
  return writer.finish()
}

export function readNote(value: Bytes): Note {
  const reader = new WireReader(value)
  let time: number = 0
  let text: Bytes = new Uint8Array(0)
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) time = reader.int64()
    else if (field === 2) text = reader.bytes()
    else reader.skip()
  }
  return { time, text }
}

/** The journal record of one change to a key. */
export interface ChangeRecord {
  /** The revision that the change replaced, or 0 if the key was absent. */
  readonly replaced: Revision
  readonly deleted: boolean
  /** Whether the journal also contains the replaced value. */
  readonly hasValue: boolean
  readonly note: Note
}

export function writeRecord({ replaced, deleted, hasValue, note }: ChangeRecord): Buffer {
  const writer = new WireWriter(0, note.text.length + 32)
  writer.integer(1, replaced)
  writer.bool(2, deleted)
  writer.bool(3, hasValue)
  writer.bytes(4, writeNote(note))
  return writer.finish()
}

export function readRecord(value: Bytes): ChangeRecord {
  const reader = new WireReader(value)
  let replaced = 0
  let deleted = false
  let hasValue = false
  let note = { time: 0, text: new Uint8Array(0) } as Note
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) replaced = reader.int64()
    else if (field === 2) deleted = reader.bool()
    else if (field === 3) hasValue = reader.bool()
    else if (field === 4) note = readNote(reader.bytes())
    else reader.skip()
  }
  return { replaced, deleted, hasValue, note }
}

/** A journal segment: changes that were archived in one transaction and are deleted in one transaction. */
export interface Segment {
  /** The segment starts after this revision. */
  readonly from: Revision
  readonly through: Revision
  /** Total number of journal bytes written before this segment. */
  readonly start: number
  /** The archived changes in revision order. */
  readonly changes: readonly {
    readonly key: Key
    readonly revision: Revision
    readonly time: number
    readonly hasValue: boolean
  }[]
}

export function writeSegment(segment: Segment): Buffer {
  return Buffer.from(JSON.stringify(segment))
}

export function readSegment(value: Bytes): Segment {
  return JSON.parse(Buffer.from(value).toString()) as Segment
}
