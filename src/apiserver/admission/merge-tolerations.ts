/** Merges two lists of tolerations. Drops tolerations that are covered by another toleration. */

import { sameJson } from '../../api/json/json.ts'
import type { Toleration } from '../../api/kinds/core/types/scheduling.ts'

/**
 * Longer lists are merged without removing duplicates. Duplicates are harmless, and comparing all pairs would take too
 * long.
 */
const maxCompared = 500

export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  if (all.length > maxCompared) return all
  const merged: Toleration[] = []
  for (const [i, one] of all.entries()) {
    const isCovered = merged.some((other) => covers(other, one))
    const isOutdone = all.slice(i + 1).some((other) => !same(other, one) && covers(other, one))
    if (!isCovered && !isOutdone) merged.push(one)
  }
  return merged
}

function same(a: Toleration, b: Toleration): boolean {
  return sameJson(a, b)
}

/** Whether the first toleration covers every taint that the second toleration covers, for at least the same time. */
export function covers(first: Toleration, second: Toleration): boolean {
  if (same(first, second)) return true
  const { key = '', operator = 'Equal', value = '', effect = '' } = first
  const ofAllKeys = key === '' && operator === 'Exists'
  if (!ofAllKeys && key !== (second.key ?? '')) return false
  if (effect !== '' && effect !== second.effect) return false
  if (!lastsAsLong(first, second)) return false
  return operator === 'Exists' || ((second.operator ?? 'Equal') === 'Equal' && value === (second.value ?? ''))
}

function lastsAsLong({ tolerationSeconds: first }: Toleration, { tolerationSeconds: second }: Toleration): boolean {
  return first === undefined || (second !== undefined && second <= first)
}
