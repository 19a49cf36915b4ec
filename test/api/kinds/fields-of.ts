/**
 * Lists the fields of a schema, and the fields that a value sets, as `Type.field`. Tests use them to report which
 * fields they cover.
 */
import { isObject, type Json, own } from '../../../src/api/json/json.ts'
import type { Schema } from '../../../src/api/schema/schema.ts'

export function typeName({ name = '' }: { readonly name?: string }): string {
  return name.replace(/^.*\./, '')
}

/** Returns all fields below a schema. */
export function fieldsOf(schema: Schema, into = new Set<string>()): Set<string> {
  if (schema.type === 'list') return fieldsOf(schema.items, into)
  if (schema.type === 'map') return fieldsOf(schema.values, into)
  if (schema.type !== 'object') return into
  for (const [name, field] of Object.entries(schema.fields)) {
    const known = into.size
    into.add(`${typeName(schema)}.${name}`)
    if (into.size > known) fieldsOf(field.schema, into)
  }
  return into
}

/** Adds the fields that a value sets to `into`. */
export function fieldsIn(schema: Schema, value: Json, into: Set<string>): void {
  if (schema.type === 'list' && Array.isArray(value)) for (const item of value) fieldsIn(schema.items, item, into)
  if (schema.type === 'map' && isObject(value))
    for (const item of Object.values(value)) fieldsIn(schema.values, item!, into)
  if (schema.type !== 'object' || !isObject(value)) return
  for (const [name, field] of Object.entries(schema.fields)) {
    const item = own(value, name) ?? null
    if (item === null) continue
    into.add(`${typeName(schema)}.${name}`)
    fieldsIn(field.schema, item, into)
  }
}
