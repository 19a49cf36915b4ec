/**
 * Writing, in the store's thread: a group of commits in one transaction with one sync, and steps of expiry and of
 * compaction. Each commit of a group is a compare-and-set of its own; the group is durable as a whole or did not happen
 * at all.
 */
import type { Bytes, Revision } from '../store.ts'
import { StoreError } from '../store.ts'
import { Packer, Unpacker } from './pack.ts'
import { bytesNeeded, pageSize, type Room } from './room.ts'
import {
  append,
  dueKey,
  formatVersion,
  heldRevision,
  type LogRecord,
  logRecord,
  readLogRecord,
  readRevision,
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

/** Commits all batches in one transaction and gives the reply of each. `state` is what this thread wrote last. */
export function commitGroup(
  tables: Tables,
  state: State,
  { batches, room }: { batches: readonly ArrayBuffer[]; room: Room },
): { state: State; replies: ArrayBuffer[] } {
  const result = tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    let revision = state.revision
    const replies = batches.map((batch) => {
      const reply = new Packer(Math.max(4096, batch.byteLength))
      const writes = new Unpacker(batch)
      while (!writes.done) revision = commitOne({ tables, room }, revision, writes, reply)
      return reply.finish()
    })
    const next = { format: formatVersion, revision, oldest: state.oldest }
    if (revision === state.revision) return { state, replies }
    if (state.format !== formatVersion) writeFormat(tables.meta)
    writeState(tables.meta, next)
    return { state: next, replies }
  })
  return result
}

/** Another process on the same file would number its commits like ours, and what we know of it would be old. */
export function checkSoleWriter({ meta }: Tables, state: State): void {
  if (readState(meta).revision !== state.revision)
    throw new StoreError('another process has written to this data directory')
}

interface Place {
  readonly tables: Tables
  readonly room: Room
}

/** Returns the revision that the store is at then: the next one, or the same when nothing was written. */
function commitOne({ tables, room }: Place, revision: Revision, writes: Unpacker, reply: Packer): Revision {
  const expected = writes.number()
  const deletes = writes.number() === 1
  const due = writes.number()
  const key = writes.bytes()
  const value = writes.bytes()
  const guarded = readGuards(tables, writes)
  const claims = readClaims(tables, writes)
  const held = tables.current.get(key)
  const previous = held === undefined ? 0 : heldRevision(held)
  const wins = previous === expected && guarded && claims.free
  const needed = bytesNeeded(value.length, held?.length ?? 0) + claims.count * claimBytes
  const fits = wins && room.take(needed, { frees: deletes })
  const next = revision + claims.count + 1
  reply.number(fits ? next : wins ? noRoom : 0)
  reply.number(previous)
  const replaced = held && reply.bytes(held).subarray(8)
  if (!fits) return revision
  applyClaims(tables, { revision, holder: key, reply, ...claims })
  apply(tables, { revision: next, previous, replaced, key, value: deletes ? undefined : value })
  if (due > 0) write(tables.expiry, dueKey(due, next), key)
  return next
}

const noRoom = -1
/** What a claim writes: a few pages, most of which it shares with others. */
const claimBytes = 4 * pageSize

/** What a write takes and releases. */
interface Claims {
  /** Whether nobody holds what is to be taken. */
  readonly free: boolean
  /** How many keys change. */
  readonly count: number
  readonly takes: readonly Bytes[]
  readonly releases: readonly { readonly key: Bytes; readonly held: Buffer | undefined }[]
}

function readClaims({ current }: Tables, writes: Unpacker): Claims {
  const takes = readKeys(writes)
  const copy = (held: Uint8Array | undefined) => held && Buffer.from(held)
  const releases = readKeys(writes).map((key) => ({ key, held: copy(current.get(key)) }))
  const there = releases.filter(({ held }) => held !== undefined).length
  return { free: takes.every((key) => current.get(key) === undefined), count: takes.length + there, takes, releases }
}

function readKeys(writes: Unpacker): Bytes[] {
  return Array.from({ length: writes.number() }, () => writes.bytes())
}

/** The revisions after `revision` are theirs, one by one. */
function applyClaims(
  tables: Tables,
  { revision, holder, reply, takes, releases }: Claims & { revision: Revision; holder: Bytes; reply: Packer },
): void {
  let next = revision
  for (const { key, held } of releases) {
    const previous = held === undefined ? 0 : heldRevision(held)
    reply.number(previous)
    if (held === undefined) continue
    const replaced = reply.bytes(held).subarray(8)
    apply(tables, { revision: ++next, previous, replaced, key, value: undefined })
  }
  for (const key of takes) {
    const value = Buffer.concat([Buffer.alloc(8), holder])
    apply(tables, { revision: ++next, previous: 0, replaced: undefined, key, value })
  }
}

/** Whether every guard is at its revision. */
function readGuards({ current }: Tables, writes: Unpacker): boolean {
  let hold = true
  for (let left = writes.number(); left > 0; left--) {
    const revision = writes.number()
    const held = current.get(writes.bytes())
    if ((held === undefined ? 0 : heldRevision(held)) !== revision) hold = false
  }
  return hold
}

interface Applied {
  readonly revision: Revision
  readonly previous: Revision
  /** The value that the key held. */
  readonly replaced: Bytes | undefined
  readonly key: Bytes
  /** Eight bytes of room and the value; undefined deletes the key. */
  readonly value: Buffer | undefined
}

function apply(tables: Tables, { revision, previous, replaced, key, value }: Applied): void {
  const record = logRecord(revision, { previous, deletes: value === undefined, key, replaced: replaced ?? nothing })
  append(tables.log, revisionKey(revision), record)
  if (replaced) write(tables.history, versionKey(key, previous), revisionKey(revision))
  if (value === undefined) {
    remove(tables.current, key)
  } else {
    writeHeld(value, key, revision)
    write(tables.current, key, value)
  }
}

const nothing = new Uint8Array(0)

/** A record of `expiry` that is due. */
export interface Due {
  readonly record: Buffer
  readonly key: Buffer
}

/** A step of expiry ends at whichever comes first; one record is always taken. */
const expiryStep = { records: 50, bytes: 1024 * 1024 }

/** The first records that are due, and how many bytes their keys hold now. */
export function readDue({ expiry, current }: Tables, now: number): { due: Due[]; bytes: number } {
  const due: Due[] = []
  for (const { key, value } of expiry.getRange({ end: revisionKey(now + 1), limit: expiryStep.records })) {
    due.push({ record: Buffer.from(key), key: Buffer.from(value) })
  }
  let bytes = 0
  const reach = due.findIndex(({ key }, i) => {
    bytes += current.get(key)?.length ?? 0
    return i > 0 && bytes > expiryStep.bytes
  })
  return { due: reach === -1 ? due : due.slice(0, reach), bytes }
}

/** Deletes the keys that are due, each at the next revision, unless they were written again since. */
export function expireStep(tables: Tables, state: State, due: readonly Due[]): { state: State; changes: ArrayBuffer } {
  const changes = new Packer()
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    let { revision } = state
    for (const { record, key } of due) {
      remove(tables.expiry, record)
      const held = tables.current.get(key)
      const previous = readRevision(record, 8)
      if (held === undefined || heldRevision(held) !== previous) continue
      const replaced = packDeletion(changes, { revision: ++revision, previous, key, replaced: held.subarray(8) })
      apply(tables, { revision, previous, replaced, key, value: undefined })
    }
    const next = { ...state, revision }
    if (revision > state.revision) writeState(tables.meta, next)
    return { state: next, changes: changes.finish() }
  })
}

/** Gives the packed copy of the value. */
function packDeletion(
  changes: Packer,
  { revision, previous, key, replaced }: Omit<Applied, 'value'> & { replaced: Bytes },
): Bytes {
  changes.number(revision)
  changes.number(1)
  changes.bytes(key)
  changes.number(previous)
  return changes.bytes(replaced)
}

const recordsAtATime = 64

/**
 * Forgets part of what is older than `oldest`, for about `budgetMs`, in one transaction: the log up to `upTo` and the
 * versions that it replaced. `upTo` is below `oldest` while somebody still reads there. `more`: call again.
 */
export function compactStep(
  tables: Tables,
  state: State,
  { oldest, upTo, budgetMs }: { oldest: Revision; upTo: Revision; budgetMs: number },
): { state: State; more: boolean } {
  const end = performance.now() + budgetMs
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    const next = { ...state, oldest: Math.max(state.oldest, oldest) }
    if (next.oldest !== state.oldest) writeState(tables.meta, next)
    let records = oldestRecords(tables, upTo)
    while (records.length > 0) {
      for (const [key, record] of records) forget(tables, key, record)
      if (performance.now() >= end) break
      records = oldestRecords(tables, upTo)
    }
    return { state: next, more: records.length > 0 }
  })
}

function oldestRecords({ log }: Tables, upTo: Revision): [Bytes, LogRecord | undefined][] {
  const found: [Bytes, LogRecord | undefined][] = []
  for (const { key, value } of log.getRange({ end: revisionKey(upTo + 1), limit: recordsAtATime })) {
    found.push([key, readLogRecord(readRevision(key as Buffer, 0), value)])
  }
  return found
}

/** Of a damaged record nobody knows which version it replaced: that one's place in `history` is left behind. */
function forget({ log, history }: Tables, key: Bytes, record: LogRecord | undefined): void {
  remove(log, key)
  if (record !== undefined && record.previous !== 0) remove(history, versionKey(record.key, record.previous))
}
