/**
 * What the store's thread does by itself: steps of expiry, which deletes keys whose lifetime is over, and of compaction,
 * which forgets old history. Each step is one transaction.
 */
import { type Bytes, type Revision, StoreFull } from '../store.ts'
import { type DiskReservation, needOfRemoval } from './disk-reservation.ts'
import { Packer } from './pack.ts'
import {
  heldRevision,
  type LogRecord,
  readLogRecord,
  readRevision,
  remove,
  revisionKey,
  type State,
  type Tables,
  versionKey,
  writeState,
} from './tables.ts'
import { type Applied, apply, checkSoleWriter, type Place, takeRoom } from './write.ts'

/** A record of `expiry` that is due. */
export interface Due {
  readonly record: Buffer
  readonly key: Buffer
}

/** A step of expiry ends at whichever comes first; one record is always taken. */
const expiryStep = { records: 50, bytes: 1024 * 1024 }

/** The first records that are due. */
export function readDue({ expiry, current }: Tables, now: number): Due[] {
  const due: Due[] = []
  for (const { key, value } of expiry.getRange({ end: revisionKey(now + 1), limit: expiryStep.records })) {
    due.push({ record: Buffer.from(key), key: Buffer.from(value) })
  }
  let bytes = 0
  const reach = due.findIndex(({ key }, i) => {
    bytes += current.get(key)?.length ?? 0
    return i > 0 && bytes > expiryStep.bytes
  })
  return reach === -1 ? due : due.slice(0, reach)
}

/**
 * Deletes the keys that are due, each at the next revision, unless they were written again since; as many as there is
 * room for. Throws StoreFull where there is none for the first.
 */
export function expireStep(
  tables: Tables,
  state: State,
  { due, room }: { due: readonly Due[]; room: DiskReservation },
): { state: State; changes: ArrayBuffer } {
  const changes = new Packer()
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    const place = { tables, room, revision: state.revision, oldest: state.oldest }
    const done = due.findIndex((each) => !expireOne(place, each, changes))
    if (done === 0) throw new StoreFull('no room to delete a key that is due')
    const next = { ...state, revision: place.revision, oldest: place.oldest }
    if (next.revision > state.revision) writeState(tables.meta, next)
    return { state: next, changes: changes.finish() }
  })
}

/** False where there is no room for it. */
function expireOne(place: Place, { record, key }: Due, changes: Packer): boolean {
  const { tables } = place
  const held = tables.current.get(key)
  const previous = readRevision(record, 8)
  const stands = held !== undefined && heldRevision(held) === previous
  const trace = takeRoom(place.room, { value: undefined, replaced: stands ? held.length : 0, claims: 1 })
  if (trace === undefined) return false
  if (stands) {
    const revision = ++place.revision
    const replaced = packDeletion(changes, { revision, previous, key, replaced: held.subarray(8) })
    apply(tables, { revision, previous, replaced, key, value: undefined }, trace)
    if (trace === 'none') place.oldest = revision
  }
  remove(tables.expiry, record)
  return true
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

export interface Compaction {
  readonly oldest: Revision
  /** Below `oldest` while somebody still reads there. */
  readonly upTo: Revision
  readonly budgetMs: number
  readonly room: DiskReservation
}

/**
 * Forgets part of what is older than `oldest` in one transaction, for about `budgetMs` and as much as there is room for:
 * the log up to `upTo` and the versions that it replaced. `more`: call again. Throws StoreFull where there is no room
 * for a single record. The state is written in any case: pages freed by a transaction can be used again from the one
 * after the next, so another step makes those of the one before it usable.
 */
export function compactStep(
  tables: Tables,
  state: State,
  { oldest, upTo, budgetMs, room }: Compaction,
): { state: State; more: boolean } {
  const end = performance.now() + budgetMs
  return tables.root.transactionSync(() => {
    checkSoleWriter(tables, state)
    const next = { ...state, oldest: Math.max(state.oldest, oldest) }
    writeState(tables.meta, next)
    for (let all = 0; ; ) {
      const records = oldestRecords(tables, upTo)
      const done = records.findIndex((record) => !forget(tables, record, room))
      if (all === 0 && done === 0) throw new StoreFull('no room to forget old versions')
      all += records.length
      if (records.length === 0) return { state: next, more: false }
      if (done !== -1 || performance.now() >= end) return { state: next, more: true }
    }
  })
}

function oldestRecords({ log }: Tables, upTo: Revision): [Bytes, LogRecord | undefined][] {
  const found: [Bytes, LogRecord | undefined][] = []
  for (const { key, value } of log.getRange({ end: revisionKey(upTo + 1), limit: recordsAtATime })) {
    found.push([key, readLogRecord(readRevision(key as Buffer, 0), value)])
  }
  return found
}

/**
 * False where there is no room for it. Of a damaged record nobody knows which version it replaced: that one's place in
 * `history` is left behind.
 */
function forget(
  { log, history }: Tables,
  [key, record]: [Bytes, LogRecord | undefined],
  room: DiskReservation,
): boolean {
  if (!room.take(needOfRemoval(), { frees: true })) return false
  remove(log, key)
  if (record !== undefined && record.previous !== 0) remove(history, versionKey(record.key, record.previous))
  return true
}
