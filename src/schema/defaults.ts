/** Fills in the defaults that the schema states. What depends on a sibling is the kind's own to fill in. */
import { isObject, type Json } from '../model/json.ts'
import type { ObjectSchema, Schema } from './schema.ts'

/** Changes `value`, which must be freshly decoded and nobody else's. */
export function fillDefaults(schema: Schema, value: Json): void {
  switch (schema.type) {
    case 'object':
      if (isObject(value)) fillObject(schema, value)
      return
    case 'list':
      if (Array.isArray(value)) for (const item of value) fillDefaults(schema.items, item)
      return
    case 'map':
      if (isObject(value)) for (const item of Object.values(value)) fillDefaults(schema.values, item!)
      return
    default:
      return
  }
}

function fillObject(schema: ObjectSchema, value: { [key: string]: Json | undefined }): void {
  for (const [name, field] of Object.entries(schema.fields)) {
    if (field.default !== undefined && value[name] === undefined) value[name] = structuredClone(field.default)
    const present = value[name]
    if (present !== undefined && present !== null) fillDefaults(field.schema, present)
  }
}
