/**
 * Carries out the pending quota refunds of servers that were killed or could not reach the store (see
 * apiserver/admission/quota/pending-refunds.ts). A running server carries out its own refunds immediately. A refund that
 * is pending in two consecutive checks therefore belongs to a killed server or to a slow write. Carrying out the refund
 * of a slow write is safe, because that write then retries with a new charge.
 */

import type { Log } from '../../base/telemetry/log.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { OwnWrites } from '../admission/own-writes.ts'
import { Ledger } from '../admission/quota/ledger.ts'
import { type PendingRefund, readRefund, refundsPrefix } from '../admission/quota/pending-refunds.ts'

const periodMs = 5000

/** Returns a loop that carries out the refunds that are pending in two consecutive checks. */
export function quotaRefundsLoop(ownWrites: OwnWrites, log: Log): Loop {
  const ledger = new Ledger(ownWrites)
  let previousKeys: ReadonlySet<string> = new Set()
  return {
    name: 'quota-debts',
    sources: [every(periodMs, 'all')],
    reconcile: async () => {
      const entries = await ownWrites.reservedKeys(refundsPrefix)
      const abandonedRefunds = entries.filter(({ key }) => previousKeys.has(key)).map(readRefund)
      previousKeys = new Set(entries.map(({ key }) => key))
      if (abandonedRefunds.length === 0) return 'done'
      await Promise.all(abandonedRefunds.map((refund) => ledger.refund(refund)))
      log.warn('released quota charged by interrupted writes', summary(abandonedRefunds))
      return 'done'
    },
  }
}

function summary(refunds: readonly PendingRefund[]) {
  const quotas = new Set(refunds.map(({ quota }) => `${quota.namespace}/${quota.name}`))
  return { count: refunds.length, quotas: [...quotas].slice(0, 10).join(' ') }
}
