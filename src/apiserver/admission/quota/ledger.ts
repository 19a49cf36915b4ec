/**
 * Charges quotas and settles their debts (`debts.ts`). The check and the charge are one compare-and-set on the quota's
 * status, so that concurrent servers and clients cannot exceed the limits.
 *
 * While one change to a quota is being committed, later changes to it wait and share the next commit. Fifty concurrent
 * clients therefore need a few commits, not fifty. The number of waiting changes is bounded by the number of active
 * requests. Charges and refunds are committed separately so that they never cancel each other out: every charge creates
 * a new version of the quota, and `cluster/controllers/resource-quota.ts` uses the version to detect active writes.
 */
import type { ResourceQuota } from '../../../api/kinds/core/resource-quota.ts'
import { resourceQuota as resourceQuotas } from '../../../api/kinds/core/resource-quota.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { ObjectName } from '../../../api/model/lookup.ts'
import { asJson } from '../../../api/model/object.ts'
import { type Amounts, negative } from '../../../api/model/quota/amounts.ts'
import type { OwnWrites, StatusChange } from '../own-writes.ts'
import { type Debt, debtsOf, newDebtKey, recordOf } from './debts.ts'
import { amountsWithKnownUsage, charged, type QuotaStatus, whyNot } from './judgement.ts'

/**
 * The result of a charge: the reason for its rejection, or the debt that the commit of the object must delete. A
 * deleted quota creates no debt.
 */
export type Charge = { readonly refused: string } | { readonly debt: Debt | undefined }

interface Entry {
  /** The amounts to charge. Undefined if the entry settles a debt, which always fits. */
  readonly charge?: Amounts | undefined
  readonly debt?: Debt
  /** The result of the last attempt to commit this change. */
  outcome: Charge
  readonly resolve: (outcome: Charge) => void
  readonly reject: (error: unknown) => void
}

/** Maximum number of changes per commit, because each settled debt adds a comparison to the etcd transaction. */
const maxTogether = 50

/** Updates the recorded usage of quotas. */
export class Ledger {
  readonly #writes: Pick<OwnWrites, 'changeStatus' | 'reservedKeys' | 'release'>
  /** Changes that wait for the next commit, by quota. A quota is in the map while a commit is in progress. */
  readonly #waiting = new Map<string, Entry[]>()

  constructor(writes: Pick<OwnWrites, 'changeStatus' | 'reservedKeys' | 'release'>) {
    this.#writes = writes
  }

  /** Charges a quota. Returns the reason for the rejection if the charge does not fit. */
  async charge(quota: ObjectName, amounts: Amounts): Promise<Charge> {
    return await this.#enter(quota, { charge: amounts })
  }

  /** Applies a debt to its quota, unless another server has already done so. */
  async settle(debt: Debt): Promise<void> {
    await this.#enter(debt.quota, { debt })
  }

  #enter(quota: ObjectName, newEntry: Pick<Entry, 'charge' | 'debt'>): Promise<Charge> {
    const key = `${quota.namespace}/${quota.name}`
    return new Promise((resolve, reject) => {
      const entry: Entry = { ...newEntry, outcome: { debt: undefined }, resolve, reject }
      const line = this.#waiting.get(key)
      if (line !== undefined) line.push(entry)
      else void this.#work(key, quota, [entry])
    })
  }

  async #work(key: string, quota: ObjectName, first: readonly Entry[]): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#waiting.get(key)!.splice(0, maxTogether)) {
      if (!this.#waiting.has(key)) this.#waiting.set(key, [])
      // Applies refunds before charges, because refunds make room for charges.
      await this.#store(
        quota,
        batch.filter(({ charge }) => charge === undefined),
      )
      await this.#store(
        quota,
        batch.filter(({ charge }) => charge !== undefined),
      )
    }
    this.#waiting.delete(key)
  }

  /** Commits a batch of changes. Never throws an error, because each change has its own outcome. */
  async #store(quota: ObjectName, batch: readonly Entry[]): Promise<void> {
    if (batch.length === 0) return
    let attempts = 0
    try {
      await this.#writes.changeStatus(resourceQuotas, quota, async (object) =>
        book(object, attempts++ === 0 ? batch : await this.#due(quota, batch)),
      )
      for (const { resolve, outcome } of batch) resolve(outcome)
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'NotFound') await this.#forget(batch)
      else for (const { reject } of batch) reject(error)
    }
  }

  /** Drops debts that another server has already settled. */
  async #due(quota: ObjectName, batch: readonly Entry[]): Promise<readonly Entry[]> {
    if (batch.every(({ debt }) => debt === undefined)) return batch
    const there = new Set((await this.#writes.reservedKeys(debtsOf(quota))).map(({ key }) => key))
    return batch.filter(({ debt }) => debt === undefined || there.has(debt.key))
  }

  /** Deletes debts whose quota was deleted, because there is nothing to update. */
  async #forget(batch: readonly Entry[]): Promise<void> {
    for (const { debt, resolve, reject } of batch)
      await (debt === undefined ? Promise.resolve() : this.#writes.release(debt.key)).then(
        () => resolve({ debt: undefined }),
        reject,
      )
  }
}

/**
 * Computes the status after applying as many changes as fit, in order of arrival. May be called again with a newer
 * state of the quota.
 */
function book(object: ResourceQuota, batch: readonly Entry[]): StatusChange {
  const { name = '', namespace = '', uid = '' } = object.metadata
  const debts: Debt[] = []
  const settled = new Set<string>()
  let { status = {} }: { status?: QuotaStatus } = object
  for (const entry of batch) {
    const { charge, debt } = entry
    if (debt !== undefined) {
      if (debt.uid === uid && !settled.has(debt.key)) status = charged(status, debt.change)
      settled.add(debt.key)
    } else if (charge !== undefined) {
      const refused = whyNot(name, status, charge)
      const quota = { namespace, name }
      const newDebt: Debt = {
        key: newDebtKey(quota),
        quota,
        uid,
        change: negative(amountsWithKnownUsage(status, charge)),
      }
      entry.outcome = refused === undefined ? { debt: newDebt } : { refused }
      if (refused !== undefined) continue
      debts.push(newDebt)
      status = charged(status, charge)
    }
  }
  return {
    status: asJson(status),
    guards: [...settled].map((key) => ({ key, revision: 'present' })),
    reserves: debts.map(recordOf),
    releases: [...settled],
  }
}
