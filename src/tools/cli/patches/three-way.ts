/**
 * Computes a three-way merge patch that updates a live object to match a file. It uses three states: the last applied
 * file (`original`), the current file (`modified`) and the live object (`current`). The patch sets fields that differ
 * in the file, removes fields that the file no longer contains, and leaves all other fields, such as those set by
 * control loops, unchanged. For example:
 *
 *   original {a: 1, b: 2}, modified {a: 3}, current {a: 1, b: 2, c: 4}  gives  {a: 3, b: null}
 *
 * With the schema of the kind, the result is a strategic merge patch: lists with a merge key are merged by that key.
 * Without a schema, or below the fields that the schema describes, it is a JSON merge patch, which replaces whole
 * lists.
 */
import { isObject, type Json, type JsonObject, own, sameJson, setKey } from '../../../api/json/json.ts'
import type { ListSchema, Schema } from '../../../api/schema/schema.ts'

export interface States {
  readonly original: Json | undefined
  readonly modified: JsonObject
  readonly current: Json | undefined
}

/** Default schema for values that no schema describes. */
export const undescribed: Schema = { type: 'any' }

/** Computes the patch. The patch is an empty object if nothing changes. */
export function threeWayPatch({ original, modified, current }: States, schema: Schema = undescribed): JsonObject {
  const patch: JsonObject = {}
  const before = isObject(original) ? original : {}
  const now = isObject(current) ? current : {}
  for (const [name, value] of Object.entries(modified)) {
    const states = { original: own(before, name), modified: value ?? null, current: own(now, name) }
    patchMember(patch, name, { states, schema: memberSchema(schema, name), retains: retainsKeys(schema, name) })
  }
  for (const name of Object.keys(before))
    if (!Object.hasOwn(modified, name) && Object.hasOwn(now, name)) setKey(patch, name, null)
  return patch
}

interface Member {
  readonly states: { readonly original: Json | undefined; readonly modified: Json; readonly current: Json | undefined }
  readonly schema: Schema
  readonly retains: boolean
}

function patchMember(patch: JsonObject, name: string, { states, schema, retains }: Member): void {
  const { modified, current, original } = states
  if (isObject(modified) && isObject(current)) {
    const inner = threeWayPatch({ original, modified, current }, schema)
    // `$retainKeys` removes members that the server set by default for another variant of the union.
    if (retains && hasMembers(inner)) setKey(inner, '$retainKeys', Object.keys(modified).sort())
    if (hasMembers(inner)) setKey(patch, name, inner)
  } else if (Array.isArray(modified) && Array.isArray(current) && schema.type === 'list' && schema.patch === 'merge') {
    patchList(patch, name, { original: Array.isArray(original) ? original : [], modified, current, schema })
  } else if (modified === null ? current !== undefined : !sameJson(modified, current)) {
    setKey(patch, name, modified)
  }
}

function hasMembers(object: JsonObject): boolean {
  return Object.keys(object).length > 0
}

export function memberSchema(schema: Schema, name: string): Schema {
  if (schema.type === 'map') return schema.values
  if (schema.type === 'object' && Object.hasOwn(schema.fields, name)) return schema.fields[name]!.schema
  return undescribed
}

function retainsKeys(schema: Schema, name: string): boolean {
  return schema.type === 'object' && Object.hasOwn(schema.fields, name) && schema.fields[name]!.patch === 'retainKeys'
}

interface ListStates {
  readonly original: readonly Json[]
  readonly modified: readonly Json[]
  readonly current: readonly Json[]
  readonly schema: ListSchema
}

/** Returns the merge key of the list's elements, or undefined for a list of scalars. */
export function mergeKeyOf({ patch, mergeKey, keys }: ListSchema): string | undefined {
  return patch === 'merge' ? (mergeKey ?? keys?.[0]) : undefined
}

function patchList(patch: JsonObject, name: string, states: ListStates): void {
  const key = mergeKeyOf(states.schema)
  if (key === undefined) patchSet(patch, name, states)
  else patchKeyedList(patch, name, { ...states, key })
}

/** Patches a set of scalars: adds new values, and removes obsolete values with a directive. */
function patchSet(patch: JsonObject, name: string, { original, modified, current }: ListStates): void {
  const added = modified.filter((value) => !current.includes(value))
  const removedValues = original.filter((value) => !modified.includes(value) && current.includes(value))
  if (added.length > 0) setKey(patch, name, added)
  if (removedValues.length > 0) setKey(patch, `$deleteFromPrimitiveList/${name}`, removedValues)
}

function patchKeyedList(
  patch: JsonObject,
  name: string,
  { original, modified, current, schema, key }: ListStates & { readonly key: string },
): void {
  const before = byKey(original, key)
  const now = byKey(current, key)
  const elements = modified.flatMap((element) => elementPatch(element, { before, now, key, schema }))
  const desiredElements = byKey(modified, key)
  for (const [id, element] of before)
    if (!desiredElements.has(id) && now.has(id)) elements.push({ $patch: 'delete', [key]: own(element, key)! })
  if (elements.length === 0 && sameOrder([...desiredElements.keys()], [...now.keys()])) return
  if (elements.length > 0) setKey(patch, name, elements)
  setKey(
    patch,
    `$setElementOrder/${name}`,
    modified.filter(isObject).map((element) => ({ [key]: own(element, key) ?? null })),
  )
}

interface ElementContext {
  readonly before: ReadonlyMap<string, JsonObject>
  readonly now: ReadonlyMap<string, JsonObject>
  readonly key: string
  readonly schema: ListSchema
}

/** Returns the changes to one element together with its merge key. If the element is new, returns it unchanged. */
function elementPatch(element: Json, { before, now, key, schema }: ElementContext): Json[] {
  if (!isObject(element)) return [element]
  const id = JSON.stringify(own(element, key) ?? null)
  const current = now.get(id)
  if (current === undefined) return [element]
  const inner = threeWayPatch({ original: before.get(id), modified: element, current }, schema.items)
  if (!hasMembers(inner)) return []
  if (schema.retainKeys) setKey(inner, '$retainKeys', Object.keys(element).sort())
  return [{ ...inner, [key]: own(element, key)! }]
}

function byKey(list: readonly Json[], key: string): Map<string, JsonObject> {
  return new Map(list.filter(isObject).map((element) => [JSON.stringify(own(element, key) ?? null), element]))
}

/** Whether the desired elements occur in the desired order, possibly with other elements in between. */
function sameOrder(desiredOrder: readonly string[], present: readonly string[]): boolean {
  const shared = present.filter((id) => desiredOrder.includes(id))
  return shared.every((id, i) => id === desiredOrder[i])
}
