/**
 * What changed between two objects of one schema: the places that were added, modified and removed.
 *
 * A place that exists on one side only counts with everything below it, itself included. Scalars, atomic lists, atomic
 * maps and values without a schema are compared as a whole.
 */
import { isObject, type Json, type JsonObject, own, sameJson } from '../model/json.ts'
import type { ListSchema, MapSchema, ObjectSchema, Schema } from '../schema/schema.ts'
import { emptySet, type FieldSet, justHere, makeSet } from './field-set.ts'
import { elementStep, fieldStep } from './steps.ts'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

const unchanged: Comparison = { added: emptySet, modified: emptySet, removed: emptySet }

export function compare(schema: Schema, before: Json | undefined, after: Json | undefined): Comparison {
  if (before === undefined && after === undefined) return unchanged
  if (before === undefined) return { ...unchanged, added: everything(schema, after!) }
  if (after === undefined) return { ...unchanged, removed: everything(schema, before) }
  switch (schema.type) {
    case 'object':
      if (schema.atomic || !isObject(before) || !isObject(after)) return compareWhole(before, after)
      return compareMembers(schema, before, after)
    case 'map':
      if (schema.atomic || !isObject(before) || !isObject(after)) return compareWhole(before, after)
      return compareMembers(schema, before, after)
    case 'list':
      if (schema.list === 'atomic' || !Array.isArray(before) || !Array.isArray(after))
        return compareWhole(before, after)
      return compareElements(schema, before, after)
    default:
      return compareWhole(before, after)
  }
}

function compareWhole(before: Json, after: Json): Comparison {
  return sameJson(before, after) ? unchanged : { ...unchanged, modified: justHere }
}

function compareMembers(schema: ObjectSchema | MapSchema, before: JsonObject, after: JsonObject): Comparison {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return gather(
    [...keys].map((key) => [fieldStep(key), compare(memberSchema(schema, key), own(before, key), own(after, key))]),
  )
}

function compareElements(schema: ListSchema, before: Json[], after: Json[]): Comparison {
  const old = byStep(schema, before)
  const next = byStep(schema, after)
  const steps = new Set([...old.keys(), ...next.keys()])
  return gather([...steps].map((step) => [step, compare(schema.items, old.get(step), next.get(step))]))
}

function gather(parts: [string, Comparison][]): Comparison {
  const collect = (which: keyof Comparison) =>
    makeSet(
      false,
      parts.map(([step, part]) => [step, part[which]] as const),
    )
  return { added: collect('added'), modified: collect('modified'), removed: collect('removed') }
}

/** Every place of a value, the value's own place included. */
export function everything(schema: Schema, value: Json): FieldSet {
  switch (schema.type) {
    case 'object':
    case 'map':
      if (schema.atomic || !isObject(value)) return justHere
      return makeSet(
        true,
        Object.keys(value).map((key) => [fieldStep(key), everything(memberSchema(schema, key), value[key]!)] as const),
      )
    case 'list':
      if (schema.list === 'atomic' || !Array.isArray(value)) return justHere
      return makeSet(
        true,
        [...byStep(schema, value)].map(([step, item]) => [step, everything(schema.items, item)] as const),
      )
    default:
      return justHere
  }
}

const anything: Schema = { type: 'any' }

export function memberSchema(schema: ObjectSchema | MapSchema, key: string): Schema {
  if (schema.type === 'map') return schema.values
  return Object.hasOwn(schema.fields, key) ? schema.fields[key]!.schema : anything
}

export function byStep(schema: ListSchema, items: Json[]): Map<string, Json> {
  return new Map(items.map((item) => [elementStep(schema, item), item]))
}
