/**
 * Settles the quota debts of servers that were killed or could not reach the store (see
 * apiserver/admission/quota/debts.ts). Settling a debt refunds its charge. A running server settles its own debts
 * immediately. A debt that exists in two consecutive checks therefore belongs to a killed server or to a slow write.
 * Settling the debt of a slow write is safe, because that write then retries with a new charge.
 */

import type { Log } from '../../base/telemetry/log.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { OwnWrites } from '../admission/own-writes.ts'
import { type Debt, debtsPrefix, readDebt } from '../admission/quota/debts.ts'
import { Ledger } from '../admission/quota/ledger.ts'

const periodMs = 5000

/** Returns a loop that refunds the charges of debts that exist in two consecutive checks. */
export function quotaDebtsLoop(ownWrites: OwnWrites, log: Log): Loop {
  const ledger = new Ledger(ownWrites)
  let previousKeys: ReadonlySet<string> = new Set()
  return {
    name: 'quota-debts',
    sources: [every(periodMs, 'all')],
    reconcile: async () => {
      const entries = await ownWrites.reservedKeys(debtsPrefix)
      const abandonedDebts = entries.filter(({ key }) => previousKeys.has(key)).map(readDebt)
      previousKeys = new Set(entries.map(({ key }) => key))
      if (abandonedDebts.length === 0) return 'done'
      await Promise.all(abandonedDebts.map((debt) => ledger.settle(debt)))
      log.warn('released quota charged by interrupted writes', summary(abandonedDebts))
      return 'done'
    },
  }
}

function summary(debts: readonly Debt[]) {
  const quotas = new Set(debts.map(({ quota }) => `${quota.namespace}/${quota.name}`))
  return { count: debts.length, quotas: [...quotas].slice(0, 10).join(' ') }
}
