/**
 * The offset that is added to etcd's revisions and stored in a note. The offset is raised when etcd has gone back in
 * time. From then on, all new revisions are above every revision that clients have received, and the store rejects
 * older revisions with RevisionGone.
 *
 * For example, if clients have received revisions up to 118 and etcd is restored at revision 90, the offset becomes
 * 100118 and the current revision becomes 100208.
 */

import { type Revision, StoreError } from '../store.ts'
import { unfinishedText } from '../store-load.ts'
import type { Connection } from './connection.ts'
import { KeySpace } from './key-space.ts'
import { decodeRange, decodeSwap, encodeRange, encodeSwap, methods } from './messages.ts'

/**
 * Margin that is added to the offset, because other servers may have returned higher revisions than those known to the
 * server that raises the offset.
 */
const margin = 100_000

export interface Placed {
  readonly space: KeySpace
  /** The current revision of etcd, without the store's offset. */
  readonly etcdRevision: number
}

/**
 * Reads the offset, and raises it if it is below `reportedRevision`. If several servers try to raise the offset, only
 * one of them succeeds.
 */
export async function readOffset(connection: Connection, prefix: string, reportedRevision: Revision): Promise<Placed> {
  const bare = new KeySpace(prefix, 0)
  const note = bare.note('offset')
  for (let attempt = 0; attempt < 10; attempt++) {
    const answer = await connection.call(methods.range, encodeRange(bare.notes()), { effect: 'read' })
    const { revision, entries } = decodeRange(answer)
    if (entries.some(({ key }) => key === bare.note('unfinished').toString()))
      throw new StoreError(`the store under ${prefix} in etcd is incomplete: ${unfinishedText}`)
    const offsetEntry = entries.find((entry) => bare.isOffset(entry))
    const offset = offsetEntry === undefined ? 0 : Number(Buffer.from(offsetEntry.value).toString())
    if (offset >= reportedRevision) return { space: new KeySpace(prefix, offset), etcdRevision: revision }
    const request = encodeSwap({
      key: note,
      compare: { target: 'modRevision', equals: offsetEntry?.modRevision ?? 0 },
      value: Buffer.from(String(reportedRevision + margin)),
    })
    // The outcome does not matter, because the next read returns the offset written by the server that succeeded.
    decodeSwap(await connection.call(methods.txn, request, { effect: 'write' }))
  }
  throw new StoreError('the revision offset in etcd changes too often')
}
