/**
 * Charges quotas, and gives back. Whether a charge fits is decided in the same step in which it is stored: a
 * compare-and-set on the quota's status, so no number of servers and clients can charge more than there is.
 *
 * While one change of a quota is being stored, all others that come wait and are stored together by the next: fifty
 * clients cost a few commits, not fifty. What waits is bounded by the requests that are under way. Charges and what is
 * given back are stored one after the other, so that they never cancel out: every charge makes a new version of the
 * quota, by which `controllers/resource-quota.ts` knows that a write is under way.
 */
import type { ResourceQuota } from '../../kinds/core/resource-quota.ts'
import { resourceQuotas } from '../../kinds/stored-types.ts'
import { ApiError } from '../../model/api-error.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ObjectName } from '../../model/lookup.ts'
import { asJson } from '../../model/object.ts'
import type { Amounts } from '../../model/quota/amounts.ts'
import type { OwnWrites } from '../own-writes.ts'
import { charged, type QuotaStatus, whyNot } from './judgement.ts'

interface Entry {
  readonly change: Amounts
  /** Whether it may be refused; what is given back may not. */
  readonly refusable: boolean
  /** Why it was refused, as of the last attempt. */
  refused: string | undefined
  readonly resolve: (refused: string | undefined) => void
  readonly reject: (error: unknown) => void
}

export class Ledger {
  readonly #writes: Pick<OwnWrites, 'changeStatus'>
  /** The quotas that are being changed, each with what waits for the next change. */
  readonly #waiting = new Map<string, Entry[]>()

  constructor(writes: Pick<OwnWrites, 'changeStatus'>) {
    this.#writes = writes
  }

  /** Charges a quota if that fits; else says why not. */
  async charge(quota: ObjectName, amounts: Amounts): Promise<string | undefined> {
    return await this.#enter(quota, { change: amounts, refusable: true })
  }

  /** Changes what is in use, whether that fits or not. */
  async adjust(quota: ObjectName, change: Amounts): Promise<void> {
    await this.#enter(quota, { change, refusable: false })
  }

  #enter(quota: ObjectName, wanted: Pick<Entry, 'change' | 'refusable'>): Promise<string | undefined> {
    const key = `${quota.namespace}/${quota.name}`
    return new Promise((resolve, reject) => {
      const entry: Entry = { ...wanted, refused: undefined, resolve, reject }
      const line = this.#waiting.get(key)
      if (line !== undefined) line.push(entry)
      else void this.#work(key, quota, [entry])
    })
  }

  async #work(key: string, quota: ObjectName, first: readonly Entry[]): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#waiting.get(key)!) {
      this.#waiting.set(key, [])
      // What is given back makes room, so it comes first.
      await this.#store(
        quota,
        batch.filter(({ refusable }) => !refusable),
      )
      await this.#store(
        quota,
        batch.filter(({ refusable }) => refusable),
      )
    }
    this.#waiting.delete(key)
  }

  /** Never fails: the outcome goes to each entry. */
  async #store(quota: ObjectName, batch: readonly Entry[]): Promise<void> {
    if (batch.length === 0) return
    try {
      await this.#writes.changeStatus(resourceQuotas, quota, (object) => book(object, batch))
      for (const { resolve, refused } of batch) resolve(refused)
    } catch (error) {
      // A quota that is gone limits nobody.
      const gone = error instanceof ApiError && error.reason === 'NotFound'
      for (const { resolve, reject } of batch) gone ? resolve(undefined) : reject(error)
    }
  }
}

/** The status with all that fits, in the order in which it came. May be called again with a newer state. */
function book(object: ResourceQuota, batch: readonly Entry[]): JsonObject {
  let { status = {} }: { status?: QuotaStatus } = object
  for (const entry of batch) {
    entry.refused = entry.refusable ? whyNot(object.metadata.name!, status, entry.change) : undefined
    if (entry.refused === undefined) status = charged(status, entry.change)
  }
  return asJson(status)
}
