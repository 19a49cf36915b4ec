/**
 * Determines the order of list elements after a strategic merge.
 *
 * An element has an identity: the value of a scalar, or the merge key of an object. Elements in the patch take the
 * order of the patch. All other elements keep their order, and each of them precedes an element of the patch only if it
 * did so before the merge:
 *
 *   a b c d   patched in the order   d x b   gives   a d x b c
 */
import { isObject, type Json, own } from '../json/json.ts'

/** The identity of an element in its list. Undefined for an element that is never equal to another element. */
export type Identity = string | undefined
export type Identify = (element: Json) => Identity

/** Returns the identity of a scalar element, which is its value. */
export function identifyScalar(value: Json | undefined): Identity {
  return value === undefined || value === null || typeof value === 'object' ? undefined : `${typeof value} ${value}`
}

/** Returns a function that identifies objects by the value of their merge key. */
export function identifyBy(key: string): Identify {
  return (element) => (isObject(element) ? identifyScalar(own(element, key)) : undefined)
}

/**
 * Sorts the elements that `order` lists. The other elements keep their order, and precede the next sorted element if
 * they preceded it in `before`.
 */
export function arrange(
  elements: readonly Json[],
  identify: Identify,
  order: readonly Identity[],
  before: readonly Identity[],
): Json[] {
  const rank = ranks(order)
  const place = ranks(before)
  const rankedElements = elements.filter((element) => rank.has(identify(element)))
  const others = elements.filter((element) => !rank.has(identify(element)))
  rankedElements.sort((a, b) => rank.get(identify(a))! - rank.get(identify(b))!)
  return interleave(others, rankedElements, (other, next) => {
    const a = place.get(identify(other))
    const b = place.get(identify(next))
    return a !== undefined && b !== undefined && a < b
  })
}

/** Whether `whole` contains all elements of `part` in the same order. */
export function isSubsequence(part: readonly Identity[], whole: readonly Identity[]): boolean {
  let matchCount = 0
  for (const identity of whole) if (matchCount < part.length && part[matchCount] === identity) matchCount++
  return matchCount === part.length
}

/** Returns, for each identity, the index of the first element that has it. */
function ranks(identities: readonly Identity[]): ReadonlyMap<Identity, number> {
  const rank = new Map<Identity, number>()
  for (const [i, identity] of identities.entries()) {
    if (identity !== undefined && !rank.has(identity)) rank.set(identity, i)
  }
  return rank
}

function interleave(left: readonly Json[], right: readonly Json[], isLeftFirst: (a: Json, b: Json) => boolean): Json[] {
  const result: Json[] = []
  let l = 0
  let r = 0
  while (l < left.length && r < right.length) {
    result.push(isLeftFirst(left[l]!, right[r]!) ? left[l++]! : right[r++]!)
  }
  return [...result, ...left.slice(l), ...right.slice(r)]
}
