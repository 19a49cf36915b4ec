/**
 * Strategic merge patch: a merge patch that uses the schema to determine which lists are sets or keyed lists.
 *
 * Objects are merged member by member and null removes a member. A list with `patch: 'merge'` is merged element by
 * element. Objects are matched by the merge key, and scalars by value. All other lists are replaced, and so are fields
 * with `patch: 'replace'`. Directives in the patch modify these rules:
 *
 *   $patch: replace | delete            replaces or deletes the enclosing object or element of a keyed list
 *   $retainKeys: [names]                keeps only these members of the object
 *   $setElementOrder/f: [...]           orders the elements of list f
 *   $deleteFromPrimitiveList/f: [...]   removes these values from list f, after everything else
 *
 * If there is no value to merge with, the value in the patch is used as sent, including nulls and directives, as in
 * Kubernetes 1.23. For the decoder, a null in a map is a zero value and a directive is an unknown field
 * (`withoutDirectives` is for callers without a decoder). Neither argument is modified. An inconsistent patch is
 * rejected with 400. A value of a wrong type is preserved, so that the decoder reports it.
 */
import { shorten } from '../../base/text/shorten.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { arrange, type Identify, type Identity, identifyBy, identifyScalar, isSubsequence } from './list-order.ts'
import { malformed } from './patch-faults.ts'

const orderPrefix = '$setElementOrder'
const deletionPrefix = '$deleteFromPrimitiveList'

/**
 * Maximum number of times that a patch may refer to one element. More than one reference can be legitimate: two ports
 * that differ only in protocol have the same merge key, the port number. The cost of each merge grows with the size of
 * the element.
 */
const maxRepeats = 10

/** Schema of values that no schema describes: objects are merged, and other values are replaced. */
const undescribed: Schema = { type: 'any' }

/** Returns the patched document. The schema determines how lists are merged. */
export function applyStrategicMergePatch(schema: Schema, document: Json, patch: JsonObject): Json {
  return mergeObject(schema, isObject(document) ? document : {}, patch)
}

function mergeObject(schema: Schema, document: JsonObject, patch: JsonObject): JsonObject {
  const mode = modeOf(patch)
  if (mode === 'replace') return withoutMode(patch)
  if (mode === 'delete') return {}
  const { members, retained, orders, deletions } = readDirectives(patch)
  const result = retained === undefined ? { ...document } : only(document, retained)
  for (const [name, value] of members) {
    if (isReplaced(schema, name)) delete result[name]
    mergeMember(memberSchema(schema, name), result, name, value)
  }
  for (const [name, order] of orders) reorder(memberSchema(schema, name), { result, document, patch, name, order })
  for (const [name, values] of deletions) deleteScalars(result, name, values)
  return result
}

function mergeMember(schema: Schema, result: JsonObject, name: string, value: Json): void {
  if (value === null) delete result[name]
  else setKey(result, name, mergeValue(schema, own(result, name), value))
}

function mergeValue(schema: Schema, present: Json | undefined, value: Json): Json {
  if (isObject(present) && isObject(value)) return mergeObject(schema, present, value)
  // With nothing to merge into, the patch's value is used as sent.
  if (Array.isArray(present) && present.length > 0 && Array.isArray(value)) return mergeList(schema, present, value)
  return value
}

function memberSchema(schema: Schema, name: string): Schema {
  if (schema.type === 'map') return schema.values
  if (schema.type === 'object' && Object.hasOwn(schema.fields, name)) return schema.fields[name]!.schema
  return undescribed
}

/** Whether a patch replaces this member instead of merging it (`patch: 'replace'`). */
function isReplaced(schema: Schema, name: string): boolean {
  return schema.type === 'object' && Object.hasOwn(schema.fields, name) && schema.fields[name]!.patch === 'replace'
}

/**
 * Removes nulls and directives that remain because there was no value to merge them with. Values without a schema are
 * unchanged.
 */
export function withoutDirectives(schema: Schema, value: Json): Json {
  if (schema.type === 'any') return value
  if (Array.isArray(value)) {
    const items = schema.type === 'list' ? schema.items : undescribed
    const elements = mergesByKey(schema) ? value.filter((element) => !hasMode(element)) : value
    return elements.map((element) => withoutDirectives(items, element))
  }
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const [name, member] of Object.entries(value) as [string, Json][]) {
    const cleared = member === null || isDirective(name) || isDeletion(member)
    if (!cleared) setKey(result, name, withoutDirectives(memberSchema(schema, name), member))
  }
  return result
}

function hasMode(element: Json): boolean {
  return isObject(element) && own(element, '$patch') !== undefined
}

function isDeletion(value: Json): boolean {
  return isObject(value) && own(value, '$patch') === 'delete'
}

function withoutMode({ $patch: _, ...members }: JsonObject): JsonObject {
  return members
}

// Lists

function mergesByKey(schema: Schema): schema is ListSchema {
  return mergeKeyOf(schema) !== undefined
}

function mergeKeyOf(schema: Schema): string | undefined {
  return schema.type === 'list' && schema.patch === 'merge' ? (schema.mergeKey ?? schema.keys?.[0]) : undefined
}

function mergesByValue(schema: Schema): boolean {
  return schema.type === 'list' && schema.patch === 'merge' && schema.items.type !== 'object'
}

function identifyIn(schema: Schema): Identify {
  const key = mergeKeyOf(schema)
  return key === undefined ? identifyScalar : identifyBy(key)
}

function mergeList(schema: Schema, present: readonly Json[], patch: Json[]): Json[] {
  if (mergesByValue(schema)) return mergeSet(present, patch)
  return mergesByKey(schema) ? mergeKeyedList(schema, present, patch) : patch
}

function mergeSet(present: readonly Json[], patch: readonly Json[]): Json[] {
  const order = identitiesOf(patch, identifyScalar)
  const all = new Map([...present, ...patch].map((value) => [identifyScalar(value), value]))
  return arrange([...all.values()], identifyScalar, order, present.map(identifyScalar))
}

function mergeKeyedList(schema: ListSchema, present: readonly Json[], patch: readonly Json[]): Json[] {
  const elements = patch.filter(isElement)
  if (patch.some((element) => elementMode(element) === 'replace')) return elements
  const identify = identifyIn(schema)
  const order = identitiesOf(elements, identify, mergeKeyOf(schema))
  const deleted = patch.filter((element) => elementMode(element) === 'delete')
  const remainingItems = without(present, identify, identitiesOf(deleted, identify, mergeKeyOf(schema)))
  return arrange(mergeElements(schema, remainingItems, elements), identify, order, remainingItems.map(identify))
}

/** Merges each element of the patch into the first element with the same identity, or adds it to the list. */
function mergeElements(schema: ListSchema, currentItems: readonly Json[], patch: readonly Json[]): Json[] {
  const identify = identifyIn(schema)
  const result = [...currentItems]
  const places = new Map(result.map((element, i) => [identify(element), i] as const).reverse())
  const indexByIdentity = new Map<Identity, number>()
  for (const element of patch) {
    const identity = identify(element)
    const times = (indexByIdentity.get(identity) ?? 0) + 1
    if (times > maxRepeats) throw malformed(`it specifies one list element more than ${maxRepeats} times`)
    indexByIdentity.set(identity, times)
    const place = places.get(identity) ?? result.length
    places.set(identity, place)
    const present = result[place]
    result[place] = isObject(present) ? mergeObject(schema.items, present, element as JsonObject) : element
  }
  return result
}

function without(list: readonly Json[], identify: Identify, identities: readonly Identity[]): Json[] {
  const gone = new Set(identities)
  return list.filter((element) => !gone.has(identify(element)))
}

/** Returns the identities of elements. `key` is the merge key if the elements are objects. */
function identitiesOf(elements: readonly Json[], identify: Identify, key?: string): Identity[] {
  return elements.map((element) => {
    const identity = identify(element)
    if (identity !== undefined) return identity
    if (key === undefined) throw malformed('an element of a merging list is not a scalar')
    throw malformed(`a list element has no merge key ${JSON.stringify(key)}${membersText(element)}`)
  })
}

function membersText(element: Json): string {
  const names = isObject(element) ? Object.keys(element) : []
  return names.length === 0 ? '' : `; it has ${shorten(names.join(', '), 200)}`
}

/** Whether an element of a patch is to be merged. Elements with a `$patch` directive are not merged. */
function isElement(element: Json): boolean {
  return elementMode(element) === 'merge'
}

function elementMode(element: Json): Mode {
  return isObject(element) ? modeOf(element) : 'merge'
}

// Directives

type Mode = 'merge' | 'replace' | 'delete'

function modeOf(patch: JsonObject): Mode {
  const mode = own(patch, '$patch')
  if (mode === undefined) return 'merge'
  if (mode === 'replace' || mode === 'delete') return mode
  throw malformed('$patch is neither replace nor delete')
}

interface Directives {
  readonly members: readonly (readonly [string, Json])[]
  readonly retained: ReadonlySet<string> | undefined
  readonly orders: readonly (readonly [string, readonly Json[]])[]
  readonly deletions: readonly (readonly [string, readonly Json[]])[]
}

/** Splits a patch into ordinary members and directives. */
function readDirectives(patch: JsonObject): Directives {
  const all = Object.entries(patch) as [string, Json][]
  const listsFor = (prefix: string) =>
    all.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => readListDirective(prefix, name, value))
  const members = all.filter(([name]) => !isDirective(name))
  return {
    members,
    retained: readRetained(patch, members),
    orders: listsFor(orderPrefix),
    deletions: listsFor(deletionPrefix),
  }
}

function isDirective(name: string): boolean {
  return name === '$patch' || name === '$retainKeys' || name.startsWith(orderPrefix) || name.startsWith(deletionPrefix)
}

function readListDirective(prefix: string, name: string, value: Json): [string, Json[]] {
  if (name[prefix.length] !== '/') throw malformed(`${prefix} specifies no list: use ${prefix}/list`)
  if (!Array.isArray(value)) throw malformed(`${prefix} is not a list`)
  return [name.slice(prefix.length + 1), value]
}

function readRetained(patch: JsonObject, members: Directives['members']): ReadonlySet<string> | undefined {
  const names = own(patch, '$retainKeys')
  if (names === undefined) return undefined
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
    throw malformed('$retainKeys is not a list of names')
  const retained = new Set(names)
  const outside = members.find(([name, value]) => value !== null && !retained.has(name))
  if (outside !== undefined) throw malformed('a member of the patch is missing in its $retainKeys')
  return retained
}

function only(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.has(name)))
}

interface Reordering {
  readonly result: JsonObject
  readonly document: JsonObject
  readonly patch: JsonObject
  readonly name: string
  readonly order: readonly Json[]
}

function reorder(schema: Schema, { result, document, patch, name, order }: Reordering): void {
  const identify = identifyIn(schema)
  const orderedKeys = identitiesOf(order, identify, mergeKeyOf(schema))
  const indexByIdentity = listAt(patch, name).filter(isElement).map(identify)
  if (orderedKeys.length > 0 && !isSubsequence(indexByIdentity, orderedKeys))
    throw malformed(`the list ${name} in the patch does not follow its ${orderPrefix}`)
  const list = listAt(result, name)
  if (list.length > 0) setKey(result, name, arrange(list, identify, orderedKeys, listAt(document, name).map(identify)))
}

function deleteScalars(result: JsonObject, name: string, values: readonly Json[]): void {
  const gone = identitiesOf(values, identifyScalar)
  const list = own(result, name)
  if (Array.isArray(list)) setKey(result, name, without(list, identifyScalar, gone))
}

function listAt(object: JsonObject, name: string): readonly Json[] {
  const list = own(object, name)
  return Array.isArray(list) ? list : []
}
