/**
 * The offset that is added to etcd's revisions, kept in a note. It is raised when etcd has gone back in time: then
 * every revision from now on is above all that were handed out before, and those are recognized as gone.
 *
 *   handed out up to 118, etcd restored at 90: the offset becomes 100118, and the present is 100208
 */
import { unfinishedText } from '../loading.ts'
import { type Revision, StoreError } from '../store.ts'
import type { Connection } from './connection.ts'
import { KeySpace } from './key-space.ts'
import { decodeRange, decodeSwap, encodeRange, encodeSwap, methods } from './messages.ts'

/** Room for revisions that other servers have handed out and the one that raises the offset does not know of. */
const margin = 100_000

export interface Placed {
  readonly space: KeySpace
  /** The present, as etcd counts. */
  readonly etcdRevision: number
}

/** Reads the offset, and raises it where it is not above `told`. Of several servers that raise it, one does. */
export async function readOffset(connection: Connection, prefix: string, told: Revision): Promise<Placed> {
  const bare = new KeySpace(prefix, 0)
  const note = bare.note('offset')
  for (let attempt = 0; attempt < 10; attempt++) {
    const answer = await connection.call(methods.range, encodeRange(bare.notes()), { effect: 'read' })
    const { revision, entries } = decodeRange(answer)
    if (entries.some(({ key }) => key === bare.note('unfinished').toString()))
      throw new StoreError(`the store under ${prefix} in etcd is not complete: ${unfinishedText}`)
    const held = entries.find((entry) => bare.isOffset(entry))
    const offset = held === undefined ? 0 : Number(Buffer.from(held.value).toString())
    if (offset >= told) return { space: new KeySpace(prefix, offset), etcdRevision: revision }
    const request = encodeSwap({
      key: note,
      compare: { target: 'modRevision', equals: held?.modRevision ?? 0 },
      value: Buffer.from(String(told + margin)),
    })
    // Whether it was this one or another's is seen when it is read again.
    decodeSwap(await connection.call(methods.txn, request, { effect: 'write' }))
  }
  throw new StoreError('etcd: the offset of revisions is changed too often')
}
