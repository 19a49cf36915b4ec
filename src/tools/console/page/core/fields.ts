/**
 * Addresses fields by path as in server-side apply: members by name, list elements by key. Compares two states of an
 * object, and builds the smallest configuration that contains the given fields.
 */
import { isObject, type Json, type JsonObject, own, sameJson, setKey } from '../../../../api/json/json.ts'
import type { Schema } from './schema.ts'

export type Step = { readonly member: string } | { readonly keys: JsonObject }
export type Path = readonly Step[]

export interface FieldChange {
  readonly path: Path
  readonly before: Json | undefined
  readonly after: Json | undefined
}

/** Formats a path as the server does in conflicts, such as `.spec.containers[name="web"].image`. */
export function pathText(path: Path): string {
  return path.map((step) => ('member' in step ? `.${step.member}` : `[${keysText(step.keys)}]`)).join('')
}

function keysText(keys: JsonObject): string {
  return Object.entries(keys)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')
}

/** Returns the value at a path, or undefined if there is none. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at = value
  for (const step of path) {
    if ('member' in step) at = isObject(at) ? own(at, step.member) : undefined
    else at = Array.isArray(at) ? at.find((element) => hasKeys(element, step.keys)) : undefined
  }
  return at
}

function hasKeys(element: Json, keys: JsonObject): boolean {
  return isObject(element) && Object.entries(keys).every(([name, value]) => sameJson(own(element, name), value))
}

/** Returns the fields that differ between two states. The schema defines keyed lists and atomic values. */
export function compareFields(before: Json | undefined, after: Json | undefined, schema?: Schema): FieldChange[] {
  const changes: FieldChange[] = []
  compare({ before, after, schema, path: [] }, changes)
  return changes
}

interface Pair {
  readonly before: Json | undefined
  readonly after: Json | undefined
  readonly schema: Schema | undefined
  readonly path: Path
}

function compare({ before, after, schema, path }: Pair, changes: FieldChange[]): void {
  if (before === after || (before !== undefined && after !== undefined && sameJson(before, after))) return
  if (isObject(before ?? after) && isObject(after ?? before) && !schema?.isAtomic) {
    const a = (before ?? {}) as JsonObject
    const b = (after ?? {}) as JsonObject
    const names = new Set([...Object.keys(a), ...Object.keys(b)])
    if (names.size > 0 && (before === undefined || after === undefined ? path.length < 2 : true)) {
      for (const member of names) {
        const inner = { before: own(a, member), after: own(b, member), schema: schema?.member(member) }
        compare({ ...inner, path: [...path, { member }] }, changes)
      }
      return
    }
  }
  const keys = listKeysOf(before ?? after, after ?? before, schema)
  if (keys !== undefined) {
    const a = (before ?? []) as JsonObject[]
    const b = (after ?? []) as JsonObject[]
    for (const key of distinct([...a, ...b].map((element) => keyOf(element, keys)))) {
      const inner = { before: a.find((each) => hasKeys(each, key)), after: b.find((each) => hasKeys(each, key)) }
      compare({ ...inner, schema: schema?.items, path: [...path, { keys: key }] }, changes)
    }
    return
  }
  changes.push({ path, before, after })
}

/** Returns the keys of a keyed list, provided that both states are lists. */
function listKeysOf(one: Json | undefined, other: Json | undefined, schema: Schema | undefined) {
  if (schema?.listType !== 'map' || !Array.isArray(one) || !Array.isArray(other)) return undefined
  const isKeyed = [...one, ...other].every((element) => isObject(element))
  return isKeyed && schema.listKeys.length > 0 ? schema.listKeys : undefined
}

function keyOf(element: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, own(element, name)]).filter(([, value]) => value !== undefined))
}

function distinct(keys: readonly JsonObject[]): JsonObject[] {
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()]
}

/** Sets a field in a configuration. Missing list elements are created with their keys. */
export function setField(target: JsonObject, path: Path, value: Json): void {
  let at: JsonObject | Json[] = target
  for (const [i, step] of path.entries()) {
    const isLast = i === path.length - 1
    const next = path[i + 1]
    if ('member' in step) {
      if (isLast) {
        setKey(at as JsonObject, step.member, value)
        return
      }
      const currentMember = own(at as JsonObject, step.member)
      const inner: JsonObject | Json[] = (currentMember as JsonObject | undefined) ?? (next && 'keys' in next ? [] : {})
      if (currentMember === undefined) setKey(at as JsonObject, step.member, inner)
      at = inner
    } else {
      const list = at as Json[]
      const matchingElement: Json | undefined = list.find((element) => hasKeys(element, step.keys))
      const inner = isObject(matchingElement) ? matchingElement : { ...step.keys }
      if (matchingElement === undefined) list.push(inner)
      if (isLast && isObject(value)) for (const [name, each] of Object.entries(value)) setKey(inner, name, each ?? null)
      at = inner
    }
  }
}

/** Converts the path to a JSON pointer into this object. Returns undefined if the object does not contain the path. */
export function pointerTo(object: Json, path: Path): string | undefined {
  let pointer = ''
  let at: Json | undefined = object
  for (const step of path) {
    if ('member' in step) {
      pointer += `/${step.member.replaceAll('~', '~0').replaceAll('/', '~1')}`
      at = isObject(at) ? own(at, step.member) : undefined
    } else {
      const index: number = Array.isArray(at) ? at.findIndex((element) => hasKeys(element, step.keys)) : -1
      pointer += `/${index}`
      at = Array.isArray(at) ? at[index] : undefined
    }
    if (at === undefined) return undefined
  }
  return pointer
}

/** Returns a copy of the object with one member changed or removed. */
export function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...rest } = object
  const next: JsonObject = { ...rest }
  if (value === undefined) return next
  // Keep the member order, so that form fields do not move while the user types.
  const ordered: JsonObject = {}
  const names = Object.hasOwn(object, name) ? Object.keys(object) : [...Object.keys(object), name]
  for (const each of names) setKey(ordered, each, each === name ? value : (own(object, each) ?? null))
  return ordered
}
