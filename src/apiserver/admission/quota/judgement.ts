/**
 * Decides whether a charge fits into a quota, and computes the quota's new status. Both use the enforced limits and the
 * usage in the status.
 */
import type { ResourceQuota } from '../../../api/kinds/core/resource-quota.ts'
import { addQuantities, compareQuantities, type Quantity } from '../../../api/model/quantity.ts'
import {
  type Amounts,
  atLeastNone,
  describe,
  only,
  readAmount,
  type WrittenAmounts,
  writeAmounts,
} from '../../../api/model/quota/amounts.ts'

export type QuotaStatus = NonNullable<ResourceQuota['status']>

/** Returns the reason why a charge does not fit into a quota, or undefined if it fits. */
export function whyNot(name: string, { hard = {}, used = {} }: QuotaStatus, charge: Amounts): string | undefined {
  const limited = only(charge, hard)
  const unknown = [...limited.keys()].filter((each) => readAmount(used, each) === undefined)
  if (unknown.length > 0) return `status unknown for quota: ${name}, resources: ${unknown.sort().join(',')}`
  const isBeyond = ([each, amount]: [string, Quantity]) =>
    compareQuantities(addQuantities(readAmount(used, each)!, amount), readAmount(hard, each)!) > 0
  const exceeded = new Map([...limited].filter(isBeyond))
  if (exceeded.size === 0) return undefined
  const amountTexts = [used, hard].map((list) => describe(pick(list, exceeded.keys())))
  return `exceeded quota: ${name}, requested: ${describe(exceeded)}, used: ${amountTexts[0]}, limited: ${amountTexts[1]}`
}

function pick(list: WrittenAmounts, names: Iterable<string>): Amounts {
  return new Map([...names].map((name) => [name, readAmount(list, name)!]))
}

/** Returns only the amounts of those resources that the quota limits and whose usage is known. */
export function amountsWithKnownUsage({ hard = {}, used = {} }: QuotaStatus, amounts: Amounts): Map<string, Quantity> {
  return new Map([...only(amounts, hard)].filter(([name]) => readAmount(used, name) !== undefined))
}

/** Returns the status after a charge or refund. Unknown usage stays unknown. */
export function charged(status: QuotaStatus, change: Amounts): QuotaStatus {
  const { used = {} } = status
  const after = [...amountsWithKnownUsage(status, change)].map(([name, amount]): [string, Quantity] => [
    name,
    atLeastNone(addQuantities(readAmount(used, name)!, amount)),
  ])
  return { ...status, used: { ...used, ...writeAmounts(new Map(after)) } }
}
