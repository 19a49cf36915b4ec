/** Truncates Endpoints with too many addresses. */
import type { Endpoints } from '../../../api/kinds/core/endpoints.ts'

export type Subset = NonNullable<Endpoints['subsets']>[number]

/**
 * Keeps at most `maxAddresses` addresses, preferring ready ones. The number kept in each subset is proportional to its
 * size. Returns the same array if nothing is removed.
 */
export function truncateSubsets(subsets: readonly Subset[], maxAddresses: number): readonly Subset[] {
  const count = (list: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0)
  const ready = count('addresses')
  const others = count('notReadyAddresses')
  if (ready + others <= maxAddresses) return subsets
  const readyShares = shares(
    subsets.map(({ addresses = [] }) => addresses.length),
    Math.min(ready, maxAddresses),
  )
  const otherShares = shares(
    subsets.map(({ notReadyAddresses = [] }) => notReadyAddresses.length),
    Math.max(0, maxAddresses - ready),
  )
  return subsets.flatMap(({ addresses, notReadyAddresses, ...subset }, i) => {
    const truncatedLists = {
      ...(readyShares[i]! > 0 ? { addresses: addresses!.slice(0, readyShares[i]) } : {}),
      ...(otherShares[i]! > 0 ? { notReadyAddresses: notReadyAddresses!.slice(0, otherShares[i]) } : {}),
    }
    return Object.keys(truncatedLists).length === 0 ? [] : [{ ...subset, ...truncatedLists }]
  })
}

/**
 * Returns how many items to keep from each list, `max` in total, in proportion to the lengths of the lists. The first
 * lists get the rounding remainder.
 */
function shares(lengths: readonly number[], max: number): number[] {
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const parts = lengths.map((length) => (total <= max ? length : Math.floor((length * max) / total)))
  let remainder = Math.min(total, max) - parts.reduce((sum, part) => sum + part, 0)
  return parts.map((part, i) => {
    const more = Math.min(remainder, lengths[i]! - part)
    remainder -= more
    return part + more
  })
}
