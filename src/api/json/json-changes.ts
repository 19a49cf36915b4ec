/**
 * Compares two JSON values field by field. The differences are used to display an object's history and to undo changes.
 * Members are identified by key. List elements are identified by their `name` if all names are unique and occur in the
 * same order in both lists. All other lists are compared as a whole. Examples of changes:
 *
 *   .spec.replicas                        1 -> 3
 *   .spec.containers[name=web].image      web:1 -> web:2
 */
import { isObject, type Json, type JsonObject, own, sameJson, setKey } from './json.ts'

/** An element of a path: a member of an object, or a list element with a `name`. */
export type PathElement = { readonly member: string } | { readonly named: string }

/** A change to one field. */
export interface JsonChange {
  readonly path: readonly PathElement[]
  /** The value before the change. Undefined if the field was absent. */
  readonly before: Json | undefined
  /** The value after the change. Undefined if the field is absent. */
  readonly after: Json | undefined
}

/**
 * Returns the differences between two values. Changed and removed fields of the first value come first, followed by
 * added fields.
 */
export function jsonChanges(
  before: Json | undefined,
  after: Json | undefined,
  path: readonly PathElement[] = [],
): JsonChange[] {
  const then = partsOf(before)
  const now = partsOf(after)
  if (then === undefined || now === undefined || !areComparable(then, now))
    return sameJson(before, after) ? [] : [{ path, before, after }]
  const names = new Set([...then.parts.keys(), ...now.parts.keys()])
  return [...names].flatMap((name) =>
    jsonChanges(then.parts.get(name), now.parts.get(name), [...path, pathElement(then.sort, name)]),
  )
}

interface Parts {
  readonly sort: 'members' | 'elements'
  readonly parts: ReadonlyMap<string, Json>
}

function partsOf(value: Json | undefined): Parts | undefined {
  if (isObject(value)) return { sort: 'members', parts: new Map(Object.entries(value) as [string, Json][]) }
  if (!Array.isArray(value)) return undefined
  const named = value.flatMap((item): [string, Json][] => {
    const name = isObject(item) ? own(item, 'name') : undefined
    return typeof name === 'string' ? [[name, item]] : []
  })
  const parts = new Map(named)
  return value.length > 0 && parts.size === value.length ? { sort: 'elements', parts } : undefined
}

/**
 * Whether two lists can be compared element by element. This is possible if elements were only changed in place, added
 * at the end or removed from the end. In all other cases, the order of the elements is part of the change.
 */
function areComparable(then: Parts, now: Parts): boolean {
  if (then.sort !== now.sort) return false
  if (then.sort === 'members') return true
  const names = [...then.parts.keys()]
  const others = [...now.parts.keys()]
  return names.every((name, i) => i >= others.length || name === others[i])
}

/** Returns the paths of all leaves. Paths are formed as in `jsonChanges`. */
export function leavesOf(value: Json, path: readonly PathElement[] = []): (readonly PathElement[])[] {
  const { sort, parts } = partsOf(value) ?? { sort: 'members', parts: new Map<string, Json>() }
  if (parts.size === 0) return [path]
  return [...parts].flatMap(([name, part]) => leavesOf(part, [...path, pathElement(sort, name)]))
}

function pathElement(sort: Parts['sort'], name: string): PathElement {
  return sort === 'members' ? { member: name } : { named: name }
}

/** Whether two paths are equal or one is a prefix of the other. */
export function isOneWithinOther(path: readonly PathElement[], other: readonly PathElement[]): boolean {
  const [shorter, longer] = path.length < other.length ? [path, other] : [other, path]
  return shorter.every((step, i) => isSameElement(step, longer[i]!))
}

function isSameElement(step: PathElement, other: PathElement): boolean {
  if ('member' in step) return 'member' in other && step.member === other.member
  return 'named' in other && step.named === other.named
}

/** Formats a path for display. */
export function pathText(path: readonly PathElement[]): string {
  return path.map((step) => ('member' in step ? memberText(step.member) : `[name=${step.named}]`)).join('') || '.'
}

function memberText(member: string): string {
  return /^[A-Za-z0-9_-]+$/.test(member) ? `.${member}` : `[${JSON.stringify(member)}]`
}

/** Returns the value at a path, or undefined if there is no such value. */
export function valueAt(value: Json | undefined, path: readonly PathElement[]): Json | undefined {
  let currentValue = value
  for (const step of path) {
    if ('member' in step) currentValue = isObject(currentValue) ? own(currentValue, step.member) : undefined
    else currentValue = Array.isArray(currentValue) ? currentValue.find((item) => hasName(item, step.named)) : undefined
  }
  return currentValue
}

/** Returns a copy of a value with the value at a path replaced or removed. Missing parent objects are created. */
export function withValueAt(
  value: Json | undefined,
  path: readonly PathElement[],
  next: Json | undefined,
): Json | undefined {
  const [step, ...rest] = path
  if (step === undefined) return next
  if ('named' in step)
    return withElement(Array.isArray(value) ? value : [], step.named, (item) => withValueAt(item, rest, next))
  const object: JsonObject = isObject(value) ? { ...value } : {}
  const member = withValueAt(own(object, step.member), rest, next)
  if (member === undefined) delete object[step.member]
  else setKey(object, step.member, member)
  return object
}

function withElement(
  items: readonly Json[],
  name: string,
  change: (item: Json | undefined) => Json | undefined,
): Json[] {
  const at = items.findIndex((item) => hasName(item, name))
  const changed = change(at < 0 ? undefined : items[at])
  if (changed === undefined) return items.filter((_, i) => i !== at)
  return at < 0 ? [...items, changed] : items.with(at, changed)
}

function hasName(item: Json, name: string): boolean {
  return isObject(item) && own(item, 'name') === name
}
