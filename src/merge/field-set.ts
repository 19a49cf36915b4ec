/**
 * A set of places in an object, as a tree: which fields a manager owns, which fields a change touched.
 *
 * A step from one place to the next is written as it is on the wire:
 *   f:name        a field of an object or a key of a map
 *   k:{"name":"a"} the element of a keyed list with these key fields
 *   v:"a"         the element of a set with this value
 * So `{"f:data":{".":{},"f:k":{}}}` is the set of `data` itself and `data.k`: `.` says that the place is a member too.
 *
 * Sets are values: no function here changes its arguments.
 */
import { compareUtf8 } from '../base/utf8-order.ts'
import { isObject, type Json, type JsonObject, setKey } from '../model/json.ts'

export interface FieldSet {
  /** Whether the place itself belongs to the set. */
  readonly member: boolean
  readonly children: ReadonlyMap<string, FieldSet>
}

const noChildren: ReadonlyMap<string, FieldSet> = new Map()

export const emptySet: FieldSet = { member: false, children: noChildren }
export const justHere: FieldSet = { member: true, children: noChildren }

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0
}

/** A set from its parts, without empty branches. */
export function makeSet(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  const kept = new Map<string, FieldSet>()
  for (const [step, set] of children) if (!isEmpty(set)) kept.set(step, set)
  return kept.size === 0 ? (member ? justHere : emptySet) : { member, children: kept }
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b
  if (isEmpty(b)) return a
  const children = new Map(a.children)
  for (const [step, set] of b.children) children.set(step, union(children.get(step) ?? emptySet, set))
  return { member: a.member || b.member, children }
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = [...a.children].map(
    ([step, set]) => [step, intersection(set, b.children.get(step) ?? emptySet)] as const,
  )
  return makeSet(a.member && b.member, children)
}

/** What is in `a` and not in `b`. A place below a member of `b` stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a) || isEmpty(b)) return a
  const children = [...a.children].map(
    ([step, set]) => [step, difference(set, b.children.get(step) ?? emptySet)] as const,
  )
  return makeSet(a.member && !b.member, children)
}

/** What is in `a` and neither in `b` nor anywhere below a member of `b`. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (b.member) return emptySet
  if (isEmpty(a) || isEmpty(b)) return a
  return makeSet(
    a.member,
    [...a.children].map(([step, set]) => [step, differenceBelow(set, b.children.get(step) ?? emptySet)] as const),
  )
}

export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a.member !== b.member || a.children.size !== b.children.size) return false
  return [...a.children].every(([step, set]) => sameSet(set, b.children.get(step) ?? emptySet))
}

/** The set of the places at these paths, each a list of steps. */
export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  return paths.reduce<FieldSet>(
    (set, path) =>
      union(
        set,
        path.reduceRight<FieldSet>((below, step) => makeSet(false, [[step, below]]), justHere),
      ),
    emptySet,
  )
}

/** The form in `fieldsV1`. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const fields: JsonObject = {}
  if (set.member && set.children.size > 0) fields['.'] = {}
  for (const step of [...set.children.keys()].sort(compareUtf8))
    setKey(fields, step, toFieldsV1(set.children.get(step)!))
  return fields
}

/** Reads `fieldsV1`; undefined when it is not of that form. */
export function fromFieldsV1(fields: Json | undefined, top = true): FieldSet | undefined {
  if (!isObject(fields)) return undefined
  const keys = Object.keys(fields)
  if (keys.length === 0) return top ? emptySet : justHere
  const children = new Map<string, FieldSet>()
  for (const step of keys) {
    if (step === '.') continue
    const below = /^[fkvi]:/.test(step) ? fromFieldsV1(fields[step], false) : undefined
    if (below === undefined) return undefined
    children.set(step, below)
  }
  return makeSet(!top && Object.hasOwn(fields, '.'), children)
}
