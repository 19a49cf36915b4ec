/**
 * Compares two objects of one schema and finds the fields that were added, modified and removed.
 *
 * A field that exists in only one object is included together with all fields below it. Atomic values (see shape.ts)
 * are compared as a whole. The order of elements in sets and keyed lists is ignored. If multiple elements have the same
 * keys, they are compared as one value, because the keys do not identify any of them. Parts that are the same value in
 * memory are skipped, so comparing an object with a modified copy costs only as much as the change.
 */
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own, sameJson } from '../json/json.ts'
import { isLarge, partsPerSlice, sameJsonSliced } from '../json/large-json.ts'
import { isUnsent } from '../schema/decode.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { emptySet, type FieldSet, isEmpty, justHere, union } from './field-set.ts'
import { itemElement, itemsByElement, itemsByElementSliced } from './path-elements.ts'
import { hasElements, hasMembers, type Membered, memberOf } from './shape.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

export const unchanged: Comparison = { added: emptySet, modified: emptySet, removed: emptySet }
const modifiedHere: Comparison = { ...unchanged, modified: justHere }

/** Whether two objects are equal, according to their comparison. */
export function isUnchanged({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed)
}

/** Returns the fields that a write added or modified. */
export function changedBy({ added, modified }: Comparison): FieldSet {
  return union(added, modified)
}

export function compare(schema: Schema, before: Json | undefined, after: Json | undefined): Comparison {
  if (before === after) return unchanged
  if (before === undefined) return { ...unchanged, added: everything(schema, after!) }
  if (after === undefined) return { ...unchanged, removed: everything(schema, before) }
  const then = sentPart(before, after)
  const pairs = pairsOf(schema, then, after)
  if (pairs === undefined) return sameJson(then, after) ? unchanged : modifiedHere
  const parts: Part[] = []
  for (const { step, type, before, after } of pairs) {
    const part = compare(type, before, after)
    if (part !== unchanged) parts.push([step, part])
  }
  return gather(parts)
}

/** Like `compare`, but yields periodically so that other work can run. */
export function* compareSliced(
  schema: Schema,
  before: Json | undefined,
  after: Json | undefined,
): Generator<void, Comparison> {
  if (before === after) return unchanged
  if (!isLarge(before) && !isLarge(after)) return compare(schema, before, after)
  yield
  if (before === undefined) return { ...unchanged, added: yield* allFieldsSliced(schema, after!) }
  if (after === undefined) return { ...unchanged, removed: yield* allFieldsSliced(schema, before) }
  const then = sentPart(before, after)
  const pairs = yield* pairsSliced(schema, then, after)
  if (pairs === undefined) return (yield* sameJsonSliced(then, after)) ? unchanged : modifiedHere
  const parts: Part[] = []
  for (const [i, { step, type, before, after }] of pairs.entries()) {
    if (i % partsPerSlice === 0) yield
    const part = yield* compareSliced(type, before, after)
    if (part !== unchanged) parts.push([step, part])
  }
  yield
  return gather(parts)
}

/** A field or element at the same path in both values. If it was added or removed, one of the two is undefined. */
interface Pair {
  readonly step: string
  readonly type: Schema
  readonly before: Json | undefined
  readonly after: Json | undefined
}

/**
 * Returns the earlier value for comparison. An empty value that the server added counts as absent if the client sent
 * the later value.
 */
function sentPart(before: Json, after: Json): Json {
  return isUnsent(before) && !isUnsent(after) ? null : before
}

/** Pairs the parts of two values that may differ. Returns undefined if the values must be compared as a whole. */
function pairsOf(schema: Schema, before: Json, after: Json): Pair[] | undefined {
  if (hasMembers(schema) && isParted(before, after, isObject))
    return memberPairs(schema, (before ?? {}) as JsonObject, (after ?? {}) as JsonObject)
  if (hasElements(schema) && isParted(before, after, Array.isArray))
    return elementPairs(schema, (before ?? []) as Json[], (after ?? []) as Json[])
  return undefined
}

/** Like `pairsOf`, but yields periodically. */
function* pairsSliced(schema: Schema, before: Json, after: Json): Generator<void, Pair[] | undefined> {
  if (hasMembers(schema) && isParted(before, after, isObject))
    return yield* memberPairsSliced(schema, (before ?? {}) as JsonObject, (after ?? {}) as JsonObject)
  if (hasElements(schema) && isParted(before, after, Array.isArray))
    return yield* elementPairsSliced(schema, (before ?? []) as Json[], (after ?? []) as Json[])
  return undefined
}

/** Whether to compare two values part by part: both have parts, or one has parts and the other is null. */
function isParted(before: Json, after: Json, hasForm: (value: Json) => boolean): boolean {
  if (before === null) return after !== null && hasForm(after) && Object.keys(after).length > 0
  if (after === null) return hasForm(before) && Object.keys(before).length > 0
  return hasForm(before) && hasForm(after)
}

function memberPairs(schema: Membered, before: JsonObject, after: JsonObject): Pair[] {
  const pairs: Pair[] = []
  for (const name of Object.keys(before)) {
    const next = own(after, name)
    if (before[name] !== next) pairs.push(pairOf(schema, name, { before: before[name], after: next }))
  }
  for (const name of Object.keys(after))
    if (after[name] !== undefined && own(before, name) === undefined)
      pairs.push(pairOf(schema, name, { before: undefined, after: after[name] }))
  return pairs
}

function* memberPairsSliced(schema: Membered, before: JsonObject, after: JsonObject): Generator<void, Pair[]> {
  const pairs: Pair[] = []
  let members = 0
  for (const name of Object.keys(before)) {
    if (++members % partsPerSlice === 0) yield
    const next = own(after, name)
    if (before[name] !== next) pairs.push(pairOf(schema, name, { before: before[name], after: next }))
  }
  for (const name of Object.keys(after)) {
    if (++members % partsPerSlice === 0) yield
    if (after[name] !== undefined && own(before, name) === undefined)
      pairs.push(pairOf(schema, name, { before: undefined, after: after[name] }))
  }
  return pairs
}

function pairOf(schema: Membered, name: string, { before, after }: Pick<Pair, 'before' | 'after'>): Pair {
  const { step, schema: type } = memberOf(schema, name)
  return { step, type, before, after }
}

function elementPairs(schema: ListSchema, before: Json[], after: Json[]): Pair[] {
  const old = itemsByElement(schema, before)
  const next = itemsByElement(schema, after)
  const type = schema.items
  const pairs: Pair[] = []
  for (const [step, item] of old) pairs.push({ step, type, before: item, after: next.get(step) })
  for (const [step, item] of next) if (!old.has(step)) pairs.push({ step, type, before: undefined, after: item })
  const isUnique = old.size === before.length && next.size === after.length
  return isUnique ? pairs : runToCompletion(joinDuplicates(schema, { pairs, before, after }))
}

function* elementPairsSliced(schema: ListSchema, before: Json[], after: Json[]): Generator<void, Pair[]> {
  const old = yield* itemsByElementSliced(schema, before)
  const next = yield* itemsByElementSliced(schema, after)
  const type = schema.items
  const pairs: Pair[] = []
  let elements = 0
  for (const [step, item] of old) {
    if (++elements % partsPerSlice === 0) yield
    pairs.push({ step, type, before: item, after: next.get(step) })
  }
  for (const [step, item] of next) {
    if (++elements % partsPerSlice === 0) yield
    if (!old.has(step)) pairs.push({ step, type, before: undefined, after: item })
  }
  const isUnique = old.size === before.length && next.size === after.length
  return isUnique ? pairs : yield* joinDuplicates(schema, { pairs, before, after })
}

interface PairedElements {
  readonly pairs: readonly Pair[]
  readonly before: readonly Json[]
  readonly after: readonly Json[]
}

/** If multiple elements have the same keys, combines them into one atomic value. Yields periodically. */
function* joinDuplicates(schema: ListSchema, { pairs, before, after }: PairedElements): Generator<void, Pair[]> {
  const old = yield* groupElements(schema, before)
  const next = yield* groupElements(schema, after)
  const joined: Pair[] = []
  for (const [i, pair] of pairs.entries()) {
    if (i % partsPerSlice === 0) yield
    const [was, is] = [old.get(pair.step), next.get(pair.step)]
    const isUnique = (was?.length ?? 0) < 2 && (is?.length ?? 0) < 2
    joined.push(isUnique ? pair : { step: pair.step, type: wholeValue, before: was, after: is })
  }
  return joined
}

/** Schema that makes `compare` treat a value as a whole. */
const wholeValue: Schema = { type: 'any' }

function* groupElements(schema: ListSchema, items: readonly Json[]): Generator<void, Map<string, Json[]>> {
  const groups = new Map<string, Json[]>()
  for (const [i, item] of items.entries()) {
    if (i % partsPerSlice === 0) yield
    const step = itemElement(schema, item)
    const group = groups.get(step)
    if (group === undefined) groups.set(step, [item])
    else group.push(item)
  }
  return groups
}

type Part = readonly [string, Comparison]

function gather(parts: readonly Part[]): Comparison {
  if (parts.length === 0) return unchanged
  const changes = {
    added: collect(parts, 'added'),
    modified: collect(parts, 'modified'),
    removed: collect(parts, 'removed'),
  }
  return isUnchanged(changes) ? unchanged : changes
}

function collect(parts: readonly Part[], which: keyof Comparison): FieldSet {
  let children: Map<string, FieldSet> | undefined
  for (const [step, part] of parts) {
    if (isEmpty(part[which])) continue
    children ??= new Map()
    children.set(step, part[which])
  }
  return children === undefined ? emptySet : { member: false, children }
}

/** Returns a set with every field of a value, including the value itself. */
function everything(schema: Schema, value: Json): FieldSet {
  if (hasMembers(schema) && isObject(value)) return everyMember(schema, value)
  if (hasElements(schema) && Array.isArray(value)) return everyElement(schema, value)
  return justHere
}

/** Like `everything`, but yields periodically. */
function* allFieldsSliced(schema: Schema, value: Json): Generator<void, FieldSet> {
  const isParted = (hasMembers(schema) && isObject(value)) || (hasElements(schema) && Array.isArray(value))
  if (!isParted || !isLarge(value)) return everything(schema, value)
  yield
  const children = new Map<string, FieldSet>()
  let parts = 0
  for (const key in value as JsonObject | Json[]) {
    if (++parts % partsPerSlice === 0) yield
    const item = (value as JsonObject)[key]
    if (item === undefined) continue
    const { step, schema: type } = hasElements(schema)
      ? { step: itemElement(schema, item), schema: schema.items }
      : memberOf(schema as Membered, key)
    children.set(step, children.has(step) ? justHere : yield* allFieldsSliced(type, item))
  }
  return children.size === 0 ? justHere : { member: true, children }
}

function everyMember(schema: Membered, value: JsonObject): FieldSet {
  const children = new Map<string, FieldSet>()
  for (const name of Object.keys(value)) {
    const item = value[name]
    if (item === undefined) continue
    const { step, schema: type } = memberOf(schema, name)
    children.set(step, everything(type, item))
  }
  return children.size === 0 ? justHere : { member: true, children }
}

function everyElement(schema: ListSchema, value: Json[]): FieldSet {
  const children = new Map<string, FieldSet>()
  for (const item of value) {
    const step = itemElement(schema, item)
    children.set(step, children.has(step) ? justHere : everything(schema.items, item))
  }
  return children.size === 0 ? justHere : { member: true, children }
}
