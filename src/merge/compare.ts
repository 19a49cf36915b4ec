/**
 * What changed between two objects of one schema: the places that were added, modified and removed.
 *
 * A place that exists on one side only counts with everything below it, itself included. Wholes (see shape.ts) are
 * compared in one piece; the order of elements in sets and keyed lists does not count. Parts that are the same value
 * in memory are not looked into, so comparing an object with one derived from it costs what was changed.
 */
import { isObject, type Json, type JsonObject, own, sameJson } from '../model/json.ts'
import { isUnsent } from '../schema/decode.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { emptySet, type FieldSet, isEmpty, justHere, union } from './field-set.ts'
import { hasElements, hasMembers, type Membered, memberOf } from './shape.ts'
import { byStep, elementStep } from './steps.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

export const unchanged: Comparison = { added: emptySet, modified: emptySet, removed: emptySet }
const modifiedHere: Comparison = { ...unchanged, modified: justHere }

/** Whether the comparison found nothing. */
export function isUnchanged({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed)
}

/** What a write set: what it added or modified. */
export function changedBy({ added, modified }: Comparison): FieldSet {
  return union(added, modified)
}

export function compare(schema: Schema, before: Json | undefined, after: Json | undefined): Comparison {
  if (before === after) return unchanged
  if (before === undefined) return { ...unchanged, added: everything(schema, after!) }
  if (after === undefined) return { ...unchanged, removed: everything(schema, before) }
  // What is there for form's sake alone is nothing, beside what somebody sent.
  if (isUnsent(before) && !isUnsent(after)) return compare(schema, null, after)
  if (hasMembers(schema) && isParted(before, after, isObject))
    return compareMembers(schema, (before ?? {}) as JsonObject, (after ?? {}) as JsonObject)
  if (hasElements(schema) && isParted(before, after, Array.isArray))
    return compareElements(schema, (before ?? []) as Json[], (after ?? []) as Json[])
  return sameJson(before, after) ? unchanged : modifiedHere
}

/** Whether two values are compared by their parts. Null beside parts has none of them; two values without any are wholes. */
function isParted(before: Json, after: Json, hasForm: (value: Json) => boolean): boolean {
  if (before === null) return after !== null && hasForm(after) && Object.keys(after).length > 0
  if (after === null) return hasForm(before) && Object.keys(before).length > 0
  return hasForm(before) && hasForm(after)
}

function compareMembers(schema: Membered, before: JsonObject, after: JsonObject): Comparison {
  const parts: Part[] = []
  for (const name of Object.keys(before)) {
    const next = own(after, name)
    if (before[name] === next) continue
    const { step, schema: type } = memberOf(schema, name)
    const part = compare(type, before[name], next)
    if (part !== unchanged) parts.push([step, part])
  }
  for (const name of Object.keys(after)) {
    if (after[name] === undefined || own(before, name) !== undefined) continue
    const { step, schema: type } = memberOf(schema, name)
    parts.push([step, compare(type, undefined, after[name])])
  }
  return gather(parts)
}

function compareElements(schema: ListSchema, before: Json[], after: Json[]): Comparison {
  const old = byStep(schema, before)
  const next = byStep(schema, after)
  const parts: Part[] = []
  for (const [step, item] of old) {
    const part = compare(schema.items, item, next.get(step))
    if (part !== unchanged) parts.push([step, part])
  }
  for (const [step, item] of next) if (!old.has(step)) parts.push([step, compare(schema.items, undefined, item)])
  return gather(parts)
}

type Part = readonly [string, Comparison]

function gather(parts: readonly Part[]): Comparison {
  if (parts.length === 0) return unchanged
  const found = {
    added: collect(parts, 'added'),
    modified: collect(parts, 'modified'),
    removed: collect(parts, 'removed'),
  }
  return isUnchanged(found) ? unchanged : found
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

/** Every place of a value, the value's own place included. */
function everything(schema: Schema, value: Json): FieldSet {
  if (hasMembers(schema) && isObject(value)) return everyMember(schema, value)
  if (hasElements(schema) && Array.isArray(value)) return everyElement(schema, value)
  return justHere
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
    const step = elementStep(schema, item)
    if (!children.has(step)) children.set(step, everything(schema.items, item))
  }
  return children.size === 0 ? justHere : { member: true, children }
}
