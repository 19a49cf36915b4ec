/**
 * Checks whether etcd still has the log that this process has read. A resumed watch does not detect that etcd was
 * restored from a backup: it waits until etcd's revisions exceed the old ones, and then continues as if nothing had
 * happened. The check therefore looks up the last reported event at its revision. The check also runs before the first
 * read or commit on a new session. Comparing revisions in a transaction is not sufficient, because a restore does not
 * change the revisions of keys that are older than the backup.
 */
import type { StoreRestored } from '../store.ts'
import type { Connection } from './connection.ts'
import { isCompacted, isFuture } from './failure.ts'
import { decodeRange, type EtcdEvent, encodeRange, type KeyValue, methods } from './messages.ts'

export interface ReportedState {
  readonly connection: Pick<Connection, 'call'>
  /** The last event that etcd reported. Undefined if etcd has not reported any event. */
  readonly last: EtcdEvent | undefined
  /** The highest revision that etcd has reported, without the store's offset. */
  readonly etcdRevision: number
  /** Any key of the store, which the check looks up if etcd has not reported an event yet. */
  readonly anyKey: Uint8Array
  /**
   * Checks whether etcd's revision has gone backward. The check performs a write, because a read may return a stale
   * revision.
   */
  readonly isRolledBack: () => Promise<boolean>
  readonly restored: () => StoreRestored
}

/**
 * Throws StoreRestored if etcd no longer has the last event that it reported. If the event has been compacted, the
 * check passes, and the watch throws RevisionGone.
 */
export async function assertLogIntact(reported: ReportedState): Promise<void> {
  try {
    if (!(await matchesReport(reported))) throw reported.restored()
  } catch (error) {
    if (isCompacted(error)) return
    if (isFuture(error) && (await reported.isRolledBack())) throw reported.restored()
    throw error
  }
}

async function matchesReport({ connection, last, etcdRevision, anyKey }: ReportedState): Promise<boolean> {
  const lookUp = (key: Uint8Array, revision: number) => lookUpAt(connection, key, revision)
  // Another program may have stored a key that is not valid UTF-8, so the store cannot look it up.
  if (last === undefined || last.entry.key.includes('\ufffd')) {
    await lookUp(anyKey, etcdRevision)
    return true
  }
  const { deleted, entry } = last
  const key = Buffer.from(entry.key)
  const entryThen = await lookUp(key, entry.modRevision)
  if (deleted) return entryThen === undefined && (await lookUp(key, entry.modRevision - 1)) !== undefined
  return (
    entryThen !== undefined &&
    entryThen.modRevision === entry.modRevision &&
    Buffer.compare(entryThen.value, entry.value) === 0
  )
}

async function lookUpAt(
  connection: ReportedState['connection'],
  key: Uint8Array,
  revision: number,
): Promise<KeyValue | undefined> {
  const answer = await connection.call(methods.range, encodeRange({ key, revision }), { effect: 'read' })
  return decodeRange(answer).entries[0]
}
