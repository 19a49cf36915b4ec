/**
 * Rejects schemas whose defaults, including nested ones, are too large. For example, three nested lists of 500 empty
 * objects take a few kilobytes in a definition but add 125 million values to every object.
 */

import type { Json } from '../../../api/json/json.ts'
import { child, type FieldError, type FieldPath, forbidden } from '../../../api/model/field-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { copyOf, fillDefaults, Room, sizeOf } from '../../../api/schema/defaults.ts'
import type { ObjectSchema, Schema } from '../../../api/schema/schema.ts'

const limits = { bytes: 1024 * 1024, values: 100_000 }

/**
 * Returns an error for each default that would become too large with its nested defaults. Works in steps, because a
 * schema can have many defaults.
 */
export function* defaultFaults(schema: ObjectSchema, vendor: Vendor, path: FieldPath): Generator<void, FieldError[]> {
  const room = new Room(limits)
  const filling = { context: { vendor, subresource: '' }, room }
  const open: { readonly schema: Schema; readonly path: FieldPath }[] = [{ schema, path }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const part of partsOf(next)) {
      if (part.defaultValue !== undefined) {
        const value = copyOf(part.defaultValue)
        const fits = room.take(sizeOf(value)) && !fillDefaults(part.schema, value, filling)
        if (!fits) return [forbidden(child(part.path, 'default'), tooLarge)]
        yield
      }
      open.push(part)
    }
  }
  return []
}

interface Part {
  readonly schema: Schema
  readonly path: FieldPath
  /** The default as written in the schema. */
  readonly defaultValue: Json | undefined
}

function partsOf({ schema, path }: Pick<Part, 'schema' | 'path'>): Part[] {
  switch (schema.type) {
    case 'list':
      return [{ schema: schema.items, path: child(path, 'items'), defaultValue: schema.items.ifNull }]
    case 'map':
      return [{ schema: schema.values, path: child(path, 'additionalProperties'), defaultValue: schema.values.ifNull }]
    case 'object':
      return Object.entries(schema.fields).map(([name, { schema: inner, default: defaultValue }]) => ({
        schema: inner,
        path: `${path}.properties[${name}]`,
        defaultValue,
      }))
    default:
      return []
  }
}

const tooLarge = `the defaults in a schema, including nested ones, may have at most ${limits.bytes} bytes and ${limits.values} values`
