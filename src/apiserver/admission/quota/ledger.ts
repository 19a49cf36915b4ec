/**
 * Charges quotas and carries out pending refunds (`pending-refunds.ts`). The check and the charge are one
 * compare-and-set on the quota's status, so that concurrent servers and clients cannot exceed the limits.
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
import { amountsWithKnownUsage, charged, type QuotaStatus, whyNot } from './judgement.ts'
import { newRefundKey, type PendingRefund, recordOf, refundsPrefixOf } from './pending-refunds.ts'

/**
 * The result of a charge: the reason for its rejection, or the pending refund that the commit of the object must delete.
 * Undefined if the quota was deleted.
 */
export type Charge = { readonly refused: string } | { readonly refund: PendingRefund | undefined }

interface Entry {
  /** The amounts to charge. Undefined if the entry is a refund, which always fits. */
  readonly charge?: Amounts | undefined
  readonly refund?: PendingRefund
  /** The result of the last attempt to commit this change. */
  outcome: Charge
  readonly resolve: (outcome: Charge) => void
  readonly reject: (error: unknown) => void
}

/** Maximum number of changes per commit, because each refund adds a comparison to the etcd transaction. */
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

  /** Carries out a pending refund, unless another server has already done so. */
  async refund(refund: PendingRefund): Promise<void> {
    await this.#enter(refund.quota, { refund })
  }

  #enter(quota: ObjectName, newEntry: Pick<Entry, 'charge' | 'refund'>): Promise<Charge> {
    const key = `${quota.namespace}/${quota.name}`
    return new Promise((resolve, reject) => {
      const entry: Entry = { ...newEntry, outcome: { refund: undefined }, resolve, reject }
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

  /** Drops refunds that another server has already carried out. */
  async #due(quota: ObjectName, batch: readonly Entry[]): Promise<readonly Entry[]> {
    if (batch.every(({ refund }) => refund === undefined)) return batch
    const there = new Set((await this.#writes.reservedKeys(refundsPrefixOf(quota))).map(({ key }) => key))
    return batch.filter(({ refund }) => refund === undefined || there.has(refund.key))
  }

  /** Deletes refunds whose quota was deleted, because there is nothing to update. */
  async #forget(batch: readonly Entry[]): Promise<void> {
    for (const { refund, resolve, reject } of batch)
      await (refund === undefined ? Promise.resolve() : this.#writes.release(refund.key)).then(
        () => resolve({ refund: undefined }),
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
  const refunds: PendingRefund[] = []
  const refundedKeys = new Set<string>()
  let { status = {} }: { status?: QuotaStatus } = object
  for (const entry of batch) {
    const { charge, refund } = entry
    if (refund !== undefined) {
      if (refund.uid === uid && !refundedKeys.has(refund.key)) status = charged(status, refund.change)
      refundedKeys.add(refund.key)
    } else if (charge !== undefined) {
      const refused = whyNot(name, status, charge)
      const quota = { namespace, name }
      const newRefund: PendingRefund = {
        key: newRefundKey(quota),
        quota,
        uid,
        change: negative(amountsWithKnownUsage(status, charge)),
      }
      entry.outcome = refused === undefined ? { refund: newRefund } : { refused }
      if (refused !== undefined) continue
      refunds.push(newRefund)
      status = charged(status, charge)
    }
  }
  return {
    status: asJson(status),
    guards: [...refundedKeys].map((key) => ({ key, revision: 'present' })),
    reserves: refunds.map(recordOf),
    releases: [...refundedKeys],
  }
}
