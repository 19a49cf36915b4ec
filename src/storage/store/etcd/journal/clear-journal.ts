/**
 * Deletes the data of an invalid or abandoned journal, that is, a journal of an earlier store or of another generation,
 * or a journal to which no server writes anymore. Each step is limited in size and requires the archive position to be
 * unchanged. If a server starts a journal in the meantime, the new journal therefore does not lose any data.
 */
import { randomBytes } from 'node:crypto'
import type { Revision } from '../../store.ts'
import type { Connection } from '../connection.ts'
import { noteFailure } from '../failure.ts'
import type { KeySpace } from '../key-space.ts'
import { decodeRange, decodeSwap, encodeRange, encodeSwap, methods } from '../messages.ts'
import { readPosition } from './encoding.ts'
import { Layout } from './layout.ts'

export interface ClearParts {
  readonly connection: Connection
  readonly space: KeySpace
}

const keysAtOnce = 100

/**
 * Deletes the data of a journal. `positionRevision` is the etcd revision at which the archive position was written, or
 * 0 if there is no position. Returns false if a server has written the position since then.
 */
export async function clearJournal({ connection, space }: ClearParts, positionRevision: number): Promise<boolean> {
  const request = encodeRange({ ...new Layout(space).everything(), limit: keysAtOnce, keysOnly: true })
  const guards = [{ key: space.note('history'), compare: { target: 'modRevision', equals: positionRevision } }] as const
  try {
    for (;;) {
      const { entries } = decodeRange(await connection.call(methods.range, request, { effect: 'read' }))
      if (entries.length === 0) return true
      const step = encodeSwap({
        key: space.note('tick'),
        compare: { target: 'version', above: -1 },
        guards,
        // This progress write is part of the deletion, so that the change streams of all servers pass its revision.
        value: randomBytes(8),
        deletes: entries.map(({ key }) => Buffer.from(key)),
      })
      if (!decodeSwap(await connection.call(methods.txn, step, { effect: 'write' })).succeeded) return false
    }
  } catch (error) {
    throw noteFailure(error)
  }
}

/**
 * Deletes the journal if no server maintains it anymore. This function is called by a server without a journal. The
 * caller passes an old change, which a maintained journal would already contain.
 */
export async function clearAbandoned(parts: ClearParts, change: Revision): Promise<void> {
  const { connection, space } = parts
  const key = space.note('history')
  const { entries } = decodeRange(await connection.call(methods.range, encodeRange({ key }), { effect: 'read' }))
  const [entry] = entries
  if (entry === undefined || readPosition(entry.value).through >= change) return
  if (!(await clearJournal(parts, entry.modRevision))) return
  const compare = { target: 'modRevision', equals: entry.modRevision } as const
  const deletes = [space.note('change')]
  await connection.call(methods.txn, encodeSwap({ key, compare, value: undefined, deletes }), { effect: 'write' })
}
