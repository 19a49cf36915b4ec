/**
 * Where elements stand after a strategic merge.
 *
 * An element is known by its identity: a scalar by its value, an object by its merge key. The elements that the patch
 * names come in the order of the patch; the others keep theirs. One of the others goes before a named one only if both
 * were there already and it stood before it:
 *   a b c d   patched in the order   d x b   gives   a d x b c
 */
import { isObject, type Json, own } from '../json/json.ts'

/** What identifies an element; undefined for one that has no such thing, which is then like no other. */
export type Identity = string | undefined
export type Identify = (element: Json) => Identity

/** Elements that are scalars are identified by their value. */
export function identifyScalar(value: Json | undefined): Identity {
  return value === undefined || value === null || typeof value === 'object' ? undefined : `${typeof value} ${value}`
}

/** Elements that are objects are identified by one of their fields. */
export function identifyBy(key: string): Identify {
  return (element) => (isObject(element) ? identifyScalar(own(element, key)) : undefined)
}

/** Orders elements by `order`; what it does not name stays as it stood among those in `before`. */
export function arrange(
  elements: readonly Json[],
  identify: Identify,
  order: readonly Identity[],
  before: readonly Identity[],
): Json[] {
  const rank = ranks(order)
  const place = ranks(before)
  const named = elements.filter((element) => rank.has(identify(element)))
  const others = elements.filter((element) => !rank.has(identify(element)))
  named.sort((a, b) => rank.get(identify(a))! - rank.get(identify(b))!)
  return interleave(others, named, (other, next) => {
    const [a, b] = [place.get(identify(other)), place.get(identify(next))]
    return a !== undefined && b !== undefined && a < b
  })
}

/** Whether all of `part` occurs in `whole` in the same order. */
export function isSubsequence(part: readonly Identity[], whole: readonly Identity[]): boolean {
  let found = 0
  for (const identity of whole) if (found < part.length && part[found] === identity) found++
  return found === part.length
}

/** The first index of each identity. */
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
