/**
 * Records that a client sent an empty list or map. The record is needed for the few fields in which an empty value is
 * significant although it is not stored. For example, a pod with `supplementalGroups: []` requests no groups, whereas a
 * pod without the field gets the groups from the policy.
 *
 * The record is a symbol property of the object. Copying the object with spread preserves the record. Encoding,
 * comparing and merging ignore it because they iterate over string keys. A change made through JSON drops the record
 * together with the empty list.
 */
const statedEmpty = Symbol('stated as empty')

interface Noted {
  [statedEmpty]?: readonly string[]
}

export function noteExplicitEmpty(object: object & Noted, field: string): void {
  object[statedEmpty] = [...(object[statedEmpty] ?? []), field]
}

/** Whether the client sent the field as an empty list or map. The field must have the `emptyCounts` option. */
export function isExplicitlyEmpty(object: (object & Noted) | undefined, field: string): boolean {
  return object?.[statedEmpty]?.includes(field) === true
}
