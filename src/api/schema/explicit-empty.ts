/**
 * Records that a client sent an empty list or map, for the few fields where this is significant although it is not
 * stored. For example, a pod with `supplementalGroups: []` requests no groups, while a pod without the field gets the
 * groups of the policy.
 *
 * The record is a symbol property of the object. Copies by spread preserve it; encoding, comparing and merging ignore
 * it because they iterate over string keys. A change made through JSON drops the record together with the empty list.
 */
const statedEmpty = Symbol('stated as empty')

interface Noted {
  [statedEmpty]?: readonly string[]
}

export function noteExplicitEmpty(object: object & Noted, field: string): void {
  object[statedEmpty] = [...(object[statedEmpty] ?? []), field]
}

/** Reports whether the field, which must have the `emptyCounts` option, was sent as an empty list or map. */
export function isExplicitlyEmpty(object: (object & Noted) | undefined, field: string): boolean {
  return object?.[statedEmpty]?.includes(field) === true
}
