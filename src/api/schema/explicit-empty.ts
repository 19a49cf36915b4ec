/**
 * A note that a list or map was sent as an empty one, for the few fields where that says something although it is not
 * stored: a pod with `supplementalGroups: []` wants no groups, one without the field takes those that a policy gives.
 *
 * The note is a member of the object under a symbol. A copy by spread keeps it; who encodes, compares or merges objects
 * goes through their keys and does not meet it. A change that is made as JSON drops it, as it drops the empty list.
 */
const statedEmpty = Symbol('stated as empty')

interface Noted {
  [statedEmpty]?: readonly string[]
}

export function noteExplicitEmpty(object: object & Noted, field: string): void {
  object[statedEmpty] = [...(object[statedEmpty] ?? []), field]
}

/** Whether this field, which must say `emptyCounts`, was sent as an empty list or map. */
export function isExplicitlyEmpty(object: (object & Noted) | undefined, field: string): boolean {
  return object?.[statedEmpty]?.includes(field) === true
}
