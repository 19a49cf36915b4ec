/**
 * Writes in the store's thread: a group of commits in one transaction with one sync. Each commit of a group is a
 * separate compare-and-set. The group either becomes durable as a whole or does not happen.
 *
 * A delete must succeed even on a full disk, because deletes free space. If there is no space for the log record, which
 * contains the deleted value, no log record is written. The history window then starts at the revision of the delete
 * (`oldest` of the state).
 */

import { Packer, present, Unpacker } from '../pack.ts'
import type { Bytes, Note, Revision } from '../store.ts'
import { StoreError } from '../store.ts'
import { type DiskReservation, needOfChange, needOfRemoval } from './disk-reservation.ts'
import {
  append,
  cutKey,
  dueKey,
  formatVersion,
  heldRevision,
  logRecord,
  readState,
  remove,
  revisionKey,
  type State,
  type Tables,
  versionKey,
  write,
  writeFormat,
  writeHeld,
  writeState,
} from './tables.ts'

export interface CommitGroup {
  readonly batches: readonly ArrayBuffer[]
  readonly room: DiskReservation
  /** Collects the committed changes, in the format of the log. Undefined if no other thread needs them. */
  readonly changes?: Packer | undefined
}

/**
 * Commits all batches in one transaction and returns the reply of each. `state` is the last state that this thread
 * wrote.
 */
export function commitGroup(
  tables: Tables,
  state: State,
  { batches, room, changes }: CommitGroup,
): { state: State; replies: ArrayBuffer[] } {
  const result = tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    const place = { tables, room, changes, revision: state.revision, oldest: state.oldest }
    const replies = batches.map((batch) => {
      const reply = new Packer(Math.max(4096, batch.byteLength))
      const writes = new Unpacker(batch)
      while (!writes.done) commitOne(place, writes, reply)
      return reply.finish()
    })
    const { revision, oldest } = place
    const next = { format: formatVersion, revision, oldest }
    if (revision === state.revision) return { state, replies }
    if (state.format !== formatVersion) writeFormat(tables.meta)
    writeState(tables.meta, next)
    return { state: next, replies }
  })
  return result
}

/**
 * Throws an error if another process has written to the file, because the revisions of the two processes would collide.
 */
export function checkSoleWriter({ meta }: Tables, state: State): void {
  if (readState(meta).revision !== state.revision)
    throw new StoreError('another process has written to this data directory')
}

/** The state of the transaction that is being written, with the revisions assigned so far. */
export interface Place {
  readonly tables: Tables
  readonly room: DiskReservation
  readonly changes?: Packer | undefined
  revision: Revision
  oldest: Revision
}

function commitOne(place: Place, writes: Unpacker, reply: Packer): void {
  const { tables, revision } = place
  const expected = writes.number()
  const deletes = writes.number() === 1
  const due = writes.number()
  const key = writes.bytes()
  const value = writes.bytes()
  const guarded = readGuards(tables, writes)
  const claims = readReservations(tables, writes)
  const note = readNote(writes)
  const currentRecord = tables.current.get(key)
  const previous = currentRecord === undefined ? 0 : heldRevision(currentRecord)
  const wins = previous === expected && guarded && claims.free
  const replacedSize = (currentRecord?.length ?? 0) + claims.bytes + (note?.text.length ?? 0)
  const size = { value: deletes ? undefined : value.length, replaced: replacedSize, claims: claims.count }
  const trace = wins ? takeRoom(place.room, size) : undefined
  const next = revision + claims.count + 1
  reply.number(trace ? next : wins ? noRoom : 0)
  reply.number(previous)
  const replaced = currentRecord && reply.bytes(currentRecord).subarray(8)
  if (trace === undefined) return
  applyClaims(place, { revision, reply, trace, ...claims })
  applyPacked(place, { revision: next, previous, replaced, key, value: deletes ? undefined : value, note }, trace)
  if (due > 0) write(tables.expiry, dueKey(due, next), key)
  place.revision = next
  if (trace === 'none') place.oldest = next
}

function readNote(writes: Unpacker): Note | undefined {
  const time = writes.number()
  const text = writes.bytes()
  return time === 0 ? undefined : { time, text }
}

const noRoom = -1

/** Whether a change is recorded in the log, which watches and reads of old revisions use. */
export type Trace = 'logged' | 'none'

/** The sizes of a change in bytes, for the disk reservation. */
interface ChangeSize {
  /** Size of the new value. Undefined if the key is deleted. */
  readonly value: number | undefined
  readonly replaced: number
  /** The number of reserved and released keys. */
  readonly claims: number
}

/**
 * Reserves disk space for a change. Returns whether there is space for a log record of the change, or undefined if
 * there is no space for the change at all.
 */
export function takeRoom(room: DiskReservation, { value, replaced, claims }: ChangeSize): Trace | undefined {
  if (room.take(needOfChange(value ?? 0, replaced, claims), { frees: false })) return 'logged'
  return value === undefined && room.take(needOfRemoval(claims), { frees: true }) ? 'none' : undefined
}

/** The keys that a write reserves and releases. */
interface Reservations {
  /** Whether all keys that a write reserves are free. */
  readonly free: boolean
  /** Number of keys to reserve or release. */
  readonly count: number
  readonly reserves: readonly { readonly key: Bytes; readonly value: Buffer }[]
  /** Total size of the reserved keys' values in bytes. */
  readonly bytes: number
  readonly releases: readonly { readonly key: Bytes; readonly currentRecord: Buffer | undefined }[]
}

function readReservations({ current }: Tables, writes: Unpacker): Reservations {
  const reserves = Array.from({ length: writes.number() }, () => ({ key: writes.bytes(), value: writes.bytes() }))
  const copy = (currentRecord: Uint8Array | undefined) => currentRecord && Buffer.from(currentRecord)
  const releases = readKeys(writes).map((key) => ({ key, currentRecord: copy(current.get(key)) }))
  const there = releases.filter(({ currentRecord }) => currentRecord !== undefined).length
  const free = reserves.every(({ key }) => current.get(key) === undefined)
  const bytes = reserves.reduce((sum, { value }) => sum + value.length, 0)
  return { free, count: reserves.length + there, bytes, reserves, releases }
}

function readKeys(writes: Unpacker): Bytes[] {
  return Array.from({ length: writes.number() }, () => writes.bytes())
}

/** Reserves and releases keys at consecutive revisions, starting after `revision`. */
function applyClaims(
  place: Place,
  { revision, reply, trace, reserves, releases }: Reservations & { revision: Revision; reply: Packer; trace: Trace },
): void {
  let next = revision
  for (const { key, currentRecord } of releases) {
    const previous = currentRecord === undefined ? 0 : heldRevision(currentRecord)
    reply.number(previous)
    if (currentRecord === undefined) continue
    const replaced = reply.bytes(currentRecord).subarray(8)
    applyPacked(place, { revision: ++next, previous, replaced, key, value: undefined }, trace)
  }
  for (const { key, value } of reserves)
    applyPacked(place, { revision: ++next, previous: 0, replaced: undefined, key, value }, trace)
}

/** Reads the preconditions of a write and checks all of them. Returns whether they are met. */
function readGuards({ current }: Tables, writes: Unpacker): boolean {
  let hold = true
  for (let remainingWrites = writes.number(); remainingWrites > 0; remainingWrites--) {
    const revision = writes.number()
    const currentRecord = current.get(writes.bytes())
    if (
      revision === present
        ? currentRecord === undefined
        : (currentRecord ? heldRevision(currentRecord) : 0) !== revision
    )
      hold = false
  }
  return hold
}

export interface Applied {
  readonly revision: Revision
  readonly previous: Revision
  /** The value that a write replaces. */
  readonly replaced: Bytes | undefined
  readonly key: Bytes
  /** Eight bytes of headroom followed by the new value. If undefined, the key is deleted. */
  readonly value: Buffer | undefined
  readonly note?: Note | undefined
}

function applyPacked({ tables, changes }: Place, change: Applied, trace: Trace): void {
  if (changes) packChange(changes, change)
  apply(tables, change, trace)
}

function packChange(changes: Packer, { revision, previous, replaced, key, value }: Applied): void {
  changes.number(revision)
  changes.number(value === undefined ? 1 : 0)
  changes.bytes(key)
  changes.number(previous)
  if (previous !== 0) changes.bytes(replaced ?? nothing)
  if (value !== undefined) changes.bytes(value.subarray(8))
}

export function apply(tables: Tables, change: Applied, trace: Trace): void {
  const { revision, key, value } = change
  if (trace === 'logged') log(tables, change)
  else write(tables.meta, cutKey, revisionKey(revision))
  if (value === undefined) {
    remove(tables.current, key)
  } else {
    writeHeld(value, key, revision)
    write(tables.current, key, value)
  }
}

function log(tables: Tables, { revision, previous, replaced, key, value, note }: Applied): void {
  const deletes = value === undefined
  const record = logRecord(revision, { previous, deletes, key, replaced: replaced ?? nothing, note })
  append(tables.log, revisionKey(revision), record)
  if (replaced) write(tables.history, versionKey(key, previous), revisionKey(revision))
}

const nothing = new Uint8Array(0)
