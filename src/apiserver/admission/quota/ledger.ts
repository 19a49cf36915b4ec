/**
 * Charges quotas, and settles their debts (`debts.ts`). Whether a charge fits is decided in the same step in which it is
 * stored: a compare-and-set on the quota's status, so no number of servers and clients can charge more than there is.
 *
 * While one change of a quota is being stored, all others that come wait and are stored together by the next: fifty
 * clients cost a few commits, not fifty. What waits is bounded by the requests that are under way. Charges and debts are
 * stored one after the other, so that they never cancel out: every charge makes a new version of the quota, by which
 * `cluster/controllers/resource-quota.ts` knows that a write is under way.
 */
import type { ResourceQuota } from '../../../api/kinds/core/resource-quota.ts'
import { resourceQuota as resourceQuotas } from '../../../api/kinds/core/resource-quota.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { ObjectName } from '../../../api/model/lookup.ts'
import { asJson } from '../../../api/model/object.ts'
import { type Amounts, negative } from '../../../api/model/quota/amounts.ts'
import type { OwnWrites, StatusChange } from '../own-writes.ts'
import { type Debt, debtsOf, newDebtKey, recordOf } from './debts.ts'
import { charged, knownOf, type QuotaStatus, whyNot } from './judgement.ts'

/** A charge that was stored leaves a debt, which the commit of the object is to cancel; where there is no quota, none. */
export type Charge = { readonly refused: string } | { readonly debt: Debt | undefined }

interface Entry {
  /** Undefined: it settles a debt, and is not refused. */
  readonly charge?: Amounts | undefined
  readonly debt?: Debt
  /** As of the last attempt. */
  outcome: Charge
  readonly resolve: (outcome: Charge) => void
  readonly reject: (error: unknown) => void
}

/** How many changes of a quota are stored together: each debt that is settled is compared in a transaction of etcd. */
const maxTogether = 50

/** Changes what quotas say is in use. */
export class Ledger {
  readonly #writes: Pick<OwnWrites, 'changeStatus' | 'taken' | 'release'>
  /** The quotas that are being changed, each with what waits for the next change. */
  readonly #waiting = new Map<string, Entry[]>()

  constructor(writes: Pick<OwnWrites, 'changeStatus' | 'taken' | 'release'>) {
    this.#writes = writes
  }

  /** Charges a quota if that fits; else says why not. */
  async charge(quota: ObjectName, amounts: Amounts): Promise<Charge> {
    return await this.#enter(quota, { charge: amounts })
  }

  /** Changes what is in use as the debt says, unless it has been settled. */
  async settle(debt: Debt): Promise<void> {
    await this.#enter(debt.quota, { debt })
  }

  #enter(quota: ObjectName, wanted: Pick<Entry, 'charge' | 'debt'>): Promise<Charge> {
    const key = `${quota.namespace}/${quota.name}`
    return new Promise((resolve, reject) => {
      const entry: Entry = { ...wanted, outcome: { debt: undefined }, resolve, reject }
      const line = this.#waiting.get(key)
      if (line !== undefined) line.push(entry)
      else void this.#work(key, quota, [entry])
    })
  }

  async #work(key: string, quota: ObjectName, first: readonly Entry[]): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#waiting.get(key)!.splice(0, maxTogether)) {
      if (!this.#waiting.has(key)) this.#waiting.set(key, [])
      // What is given back makes room, so it comes first.
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

  /** Never fails: the outcome goes to each entry. */
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

  /** Without debts that another server has settled meanwhile. */
  async #due(quota: ObjectName, batch: readonly Entry[]): Promise<readonly Entry[]> {
    if (batch.every(({ debt }) => debt === undefined)) return batch
    const there = new Set((await this.#writes.taken(debtsOf(quota))).map(({ key }) => key))
    return batch.filter(({ debt }) => debt === undefined || there.has(debt.key))
  }

  /** A quota that is gone limits nobody, and nothing is owed to it. */
  async #forget(batch: readonly Entry[]): Promise<void> {
    for (const { debt, resolve, reject } of batch)
      await (debt === undefined ? Promise.resolve() : this.#writes.release(debt.key)).then(
        () => resolve({ debt: undefined }),
        reject,
      )
  }
}

/** The status with all that fits, in the order in which it came. May be called again with a newer state. */
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
      const left: Debt = { key: newDebtKey(quota), quota, uid, change: negative(knownOf(status, charge)) }
      entry.outcome = refused === undefined ? { debt: left } : { refused }
      if (refused !== undefined) continue
      debts.push(left)
      status = charged(status, charge)
    }
  }
  return {
    status: asJson(status),
    guards: [...settled].map((key) => ({ key, revision: 'present' })),
    takes: debts.map(recordOf),
    releases: [...settled],
  }
}
