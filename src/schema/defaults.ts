/** Fills in defaults: those that the schema states, and those that its types work out from sibling fields. */

import { oncePer } from '../base/once-per.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../model/json.ts'
import type { RuleContext } from './context.ts'
import type { ObjectSchema, Schema } from './schema.ts'
import { somewhere } from './somewhere.ts'

/** Most of a kind has no defaults, and is not walked. */
const hasDefaults = somewhere(
  (schema) =>
    schema.type === 'object' &&
    (schema.fill !== undefined || Object.values(schema.fields).some((field) => field.default !== undefined)),
)

/** The fields of an object that have a default, and those below which there are some. */
const concerned = oncePer((schema: ObjectSchema) => {
  const fields = Object.entries(schema.fields)
  return {
    stated: fields.flatMap(([name, field]) => (field.default === undefined ? [] : [{ name, value: field.default }])),
    below: fields.flatMap(([name, field]) => (hasDefaults(field.schema) ? [{ name, schema: field.schema }] : [])),
  }
})

/** Changes `value`, which must be freshly decoded and nobody else's. */
export function fillDefaults(schema: Schema, value: Json, context: RuleContext): void {
  if (!hasDefaults(schema)) return
  switch (schema.type) {
    case 'object':
      if (isObject(value)) fillObject(schema, value, context)
      return
    case 'list':
      if (Array.isArray(value)) for (const item of value) fillDefaults(schema.items, item, context)
      return
    case 'map':
      if (isObject(value)) for (const item of Object.values(value)) fillDefaults(schema.values, item!, context)
      return
    default:
      return
  }
}

/** First what the fields state, then what depends on siblings, then what lies below. */
function fillObject(schema: ObjectSchema, value: JsonObject, context: RuleContext): void {
  const { stated, below } = concerned(schema)
  for (const { name, value: given } of stated) if (own(value, name) === undefined) setKey(value, name, fresh(given))
  schema.fill?.(value, context)
  for (const { name, schema: type } of below) {
    const present = own(value, name)
    if (present !== undefined && present !== null) fillDefaults(type, present, context)
  }
}

/** A copy that is nobody else's; cloning what cannot change would be most of the work. */
function fresh(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  return Object.keys(value).length > 0 ? structuredClone(value) : Array.isArray(value) ? [] : {}
}
