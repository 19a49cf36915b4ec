/**
 * Pending refunds of quotas. The key of each refund contains the quota, and the value contains the change. The commit
 * that makes a refund necessary also creates its key, and the commit that carries out the refund deletes the key. A
 * server may therefore crash at any time: at every revision, the recorded usage of a quota plus the changes of its
 * pending refunds equals the actual usage of its objects.
 *
 * - A commit that charges a quota creates a refund of the charge. The commit that stores the object deletes the refund.
 * - A commit that reduces or removes an object's usage creates a refund of the difference.
 *
 * Servers carry out their own refunds immediately. `apiserver/upkeep/quota-refunds.ts` carries out the refunds of
 * crashed servers.
 *
 *   quota-debts/team-a/compute/6f1c... -> {"quota":"<uid>","change":{"pods":"-1"}}
 */
import { randomUUID } from 'node:crypto'
import { isObject, own } from '../../../api/json/json.ts'
import type { ObjectName } from '../../../api/model/lookup.ts'
import { type Amounts, readAmounts, type WrittenAmounts, writeAmounts } from '../../../api/model/quota/amounts.ts'
import type { ReservedKey } from '../commit-terms.ts'

/** Key prefix of all pending refunds. The prefix must not change, because keys with this prefix are already stored. */
export const refundsPrefix = 'quota-debts/'

/** A pending refund of a quota. */
export interface PendingRefund {
  readonly key: string
  readonly quota: ObjectName
  /** Uid of the quota. The uid prevents a refund from being applied to another quota with the same name. */
  readonly uid: string
  readonly change: Amounts
}

/** Returns a new unique key for a pending refund. */
export function newRefundKey(quota: ObjectName): string {
  return refundsPrefixOf(quota) + randomUUID()
}

/** Returns the key prefix of a quota's pending refunds. */
export function refundsPrefixOf({ namespace, name }: ObjectName): string {
  return `${refundsPrefix}${namespace}/${name}/`
}

/** Returns the key and the value of a pending refund. */
export function recordOf({ key, uid, change }: PendingRefund): ReservedKey {
  return { key, value: Buffer.from(JSON.stringify({ quota: uid, change: writeAmounts(change) })) }
}

/**
 * Parses the record of a pending refund. An unreadable record is treated as an empty refund, so that carrying out the
 * refund only deletes the record.
 */
export function readRefund({ key, value }: ReservedKey): PendingRefund {
  const [namespace = '', name = ''] = key.slice(refundsPrefix.length).split('/')
  const { uid, change } = readRecord(Buffer.from(value).toString())
  return { key, quota: { namespace, name }, uid, change }
}

function readRecord(text: string): Pick<PendingRefund, 'uid' | 'change'> {
  try {
    const record: unknown = JSON.parse(text)
    const uid = isObject(record) ? own(record, 'quota') : undefined
    const change = isObject(record) ? own(record, 'change') : undefined
    if (typeof uid === 'string' && isObject(change)) return { uid, change: readAmounts(change as WrittenAmounts) }
  } catch {
    // Treat a value that is not valid JSON as an empty refund.
  }
  return { uid: '', change: new Map() }
}
