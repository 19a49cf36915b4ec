/** Fills in defaults: those that the schema states, and those that its types work out from sibling fields. */
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
  for (const [name, field] of Object.entries(schema.fields)) {
    if (field.default !== undefined && own(value, name) === undefined) setKey(value, name, fresh(field.default))
  }
  schema.fill?.(value, context)
  for (const [name, field] of Object.entries(schema.fields)) {
    const present = own(value, name)
    if (present !== undefined && present !== null) fillDefaults(field.schema, present, context)
  }
}

/** A copy that is nobody else's; cloning what cannot change would be most of the work. */
function fresh(value: Json): Json {
  return typeof value === 'object' ? structuredClone(value) : value
}
