/**
 * Pending changes to quotas ("debts"). The key of each debt contains the quota, and the value contains the change. The
 * commit that makes a debt due also creates its key, and the commit that settles the debt deletes the key. A server may
 * therefore crash at any time: at every revision, the recorded usage of a quota plus its debts equals the actual usage
 * of its objects.
 *
 * - A charge creates a debt for its refund. The commit that stores the object deletes the debt.
 * - A commit that reduces or removes an object's usage creates a debt for the refund.
 *
 * Servers settle their own debts immediately. `apiserver/upkeep/quota-debts.ts` settles the debts of crashed servers.
 *
 *   quota-debts/team-a/compute/6f1c... -> {"quota":"<uid>","change":{"pods":"-1"}}
 */
import { randomUUID } from 'node:crypto'
import { isObject, own } from '../../../api/json/json.ts'
import type { ObjectName } from '../../../api/model/lookup.ts'
import { type Amounts, readAmounts, type WrittenAmounts, writeAmounts } from '../../../api/model/quota/amounts.ts'
import type { ReservedKey } from '../commit-terms.ts'

/** Key prefix of all debts, which are pending changes to quotas. */
export const debtsPrefix = 'quota-debts/'

/** A pending change to a quota. */
export interface Debt {
  readonly key: string
  readonly quota: ObjectName
  /** Uid of the quota. The uid prevents a debt from being applied to another quota with the same name. */
  readonly uid: string
  readonly change: Amounts
}

/** Returns a new unique key for a quota debt. */
export function newDebtKey(quota: ObjectName): string {
  return debtsOf(quota) + randomUUID()
}

/** Returns the key prefix of a quota's debts. */
export function debtsOf({ namespace, name }: ObjectName): string {
  return `${debtsPrefix}${namespace}/${name}/`
}

/** Returns the key and the value of a debt. */
export function recordOf({ key, uid, change }: Debt): ReservedKey {
  return { key, value: Buffer.from(JSON.stringify({ quota: uid, change: writeAmounts(change) })) }
}

/**
 * Parses the record of a debt. An unreadable record is treated as an empty debt, so that it is deleted when settled.
 */
export function readDebt({ key, value }: ReservedKey): Debt {
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
    // Treat a value that is not valid JSON as an empty debt.
  }
  return { uid: '', change: new Map() }
}
