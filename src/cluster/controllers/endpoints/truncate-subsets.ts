/** Endpoints that are too large: which addresses stay. */
import type { Endpoints } from '../../../api/kinds/core/endpoints.ts'

export type Subset = NonNullable<Endpoints['subsets']>[number]

/** At most so many addresses, ready ones first; each subset keeps its share of them. The same list where none are too many. */
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
    const kept = {
      ...(readyShares[i]! > 0 ? { addresses: addresses!.slice(0, readyShares[i]) } : {}),
      ...(otherShares[i]! > 0 ? { notReadyAddresses: notReadyAddresses!.slice(0, otherShares[i]) } : {}),
    }
    return Object.keys(kept).length === 0 ? [] : [{ ...subset, ...kept }]
  })
}

/** How many of each list may stay so that `max` of all do: in proportion, what is left over by rounding from the first. */
function shares(lengths: readonly number[], max: number): number[] {
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const parts = lengths.map((length) => (total <= max ? length : Math.floor((length * max) / total)))
  let left = Math.min(total, max) - parts.reduce((sum, part) => sum + part, 0)
  return parts.map((part, i) => {
    const more = Math.min(left, lengths[i]! - part)
    left -= more
    return part + more
  })
}
