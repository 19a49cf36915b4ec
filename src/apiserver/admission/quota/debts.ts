/**
 * What is yet to be done to a quota, as keys of the store: each says by how much the quota is to be changed. A debt comes
 * into being in the very commit that makes it due, and goes in the very commit that settles it, so that a server may be
 * killed at any moment: at every revision what a quota says is in use, together with its debts, is what its objects use.
 *
 *  - A charge leaves the debt to give it back. The commit that stores the object cancels it.
 *  - A commit that makes an object use less, or removes it, leaves the debt to give that back.
 *
 * Servers settle their own debts at once; `apiserver/upkeep/quota-debts.ts` settles what a server left behind.
 *
 *   quota-debts/team-a/compute/6f1c... -> {"quota":"<uid>","change":{"pods":"-1"}}
 */
import { randomUUID } from 'node:crypto'
import { isObject, own } from '../../../api/json/json.ts'
import type { ObjectName } from '../../../api/model/lookup.ts'
import { type Amounts, readAmounts, type WrittenAmounts, writeAmounts } from '../../../api/model/quota/amounts.ts'
import type { TakenKey } from '../commit-terms.ts'

/** The keys of all debts begin with it. */
export const debtsPrefix = 'quota-debts/'

/** A change of a quota that is due. */
export interface Debt {
  readonly key: string
  readonly quota: ObjectName
  /** Which object of that name is meant; another that took its place owes nothing. */
  readonly uid: string
  readonly change: Amounts
}

/** A new key for a debt of this quota. */
export function newDebtKey(quota: ObjectName): string {
  return debtsOf(quota) + randomUUID()
}

/** Where the debts of a quota are. */
export function debtsOf({ namespace, name }: ObjectName): string {
  return `${debtsPrefix}${namespace}/${name}/`
}

/** The debt as a commit takes it. */
export function recordOf({ key, uid, change }: Debt): TakenKey {
  return { key, value: Buffer.from(JSON.stringify({ quota: uid, change: writeAmounts(change) })) }
}

/** A record that cannot be read is a debt of nothing: settling it clears it away. */
export function readDebt({ key, value }: TakenKey): Debt {
  const [namespace = '', name = ''] = key.slice(debtsPrefix.length).split('/')
  const { uid, change } = readRecord(Buffer.from(value).toString())
  return { key, quota: { namespace, name }, uid, change }
}

function readRecord(text: string): Pick<Debt, 'uid' | 'change'> {
  try {
    const record: unknown = JSON.parse(text)
    const uid = isObject(record) ? own(record, 'quota') : undefined
    const change = isObject(record) ? own(record, 'change') : undefined
    if (typeof uid === 'string' && isObject(change)) return { uid, change: readAmounts(change as WrittenAmounts) }
  } catch {
    // As below.
  }
  return { uid: '', change: new Map() }
}
