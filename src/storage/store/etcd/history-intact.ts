/**
 * Checks whether etcd still has the log that this process has read. A watch that resumes after a break would not notice
 * a restore: on an etcd that was restored from a backup it would wait until revisions exceed the old ones and then
 * continue silently. So the last reported event is looked up at its revision. The same check runs before the first read
 * or commit on a new session: a transaction compares revisions, and a key that is older than the backup has the same
 * revision after the restore.
 */
import type { StoreRestored } from '../store.ts'
import type { Connection } from './connection.ts'
import { isCompacted, isFuture } from './failure.ts'
import { decodeRange, type EtcdEvent, encodeRange, type KeyValue, methods } from './messages.ts'

export interface Known {
  readonly connection: Pick<Connection, 'call'>
  /** The last event that etcd reported; undefined if there is none yet. */
  readonly last: EtcdEvent | undefined
  /** The highest revision that etcd has reported, by its own count. */
  readonly etcdRevision: number
  /** A key to look up if no event is known. */
  readonly anyKey: Uint8Array
  /** Checks whether etcd's revision is below a reported one. Writes because a read may be stale. */
  readonly isRolledBack: () => Promise<boolean>
  readonly restored: () => StoreRestored
}

/** Throws StoreRestored if the log differs. Compacted events cannot be compared: the watch then throws RevisionGone. */
export async function assertHistoryIntact(known: Known): Promise<void> {
  try {
    if (!(await isAsTold(known))) throw known.restored()
  } catch (error) {
    if (isCompacted(error)) return
    if (isFuture(error) && (await known.isRolledBack())) throw known.restored()
    throw error
  }
}

async function isAsTold({ connection, last, etcdRevision, anyKey }: Known): Promise<boolean> {
  const look = (key: Uint8Array, revision: number) => lookAt(connection, key, revision)
  // A foreign key that is not UTF-8 cannot be looked up.
  if (last === undefined || last.entry.key.includes('\ufffd')) {
    await look(anyKey, etcdRevision)
    return true
  }
  const { deleted, entry } = last
  const key = Buffer.from(entry.key)
  const found = await look(key, entry.modRevision)
  if (deleted) return found === undefined && (await look(key, entry.modRevision - 1)) !== undefined
  return (
    found !== undefined && found.modRevision === entry.modRevision && Buffer.compare(found.value, entry.value) === 0
  )
}

async function lookAt(
  connection: Known['connection'],
  key: Uint8Array,
  revision: number,
): Promise<KeyValue | undefined> {
  const answer = await connection.call(methods.range, encodeRange({ key, revision }), { effect: 'read' })
  return decodeRange(answer).entries[0]
}
