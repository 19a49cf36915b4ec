/**
 * Whether the defaults of a schema are too large by themselves, each with the defaults below it: three lists of 500 empty
 * objects inside one another are a few kilobytes in a definition, and 125 million values in every object.
 */
import { child, type FieldError, type FieldPath, forbidden } from '../model/field-error.ts'
import type { Vendor } from '../model/vendor.ts'
import { copyOf, fillDefaults, Room, sizeOf } from '../schema/defaults.ts'
import type { ObjectSchema, Schema } from '../schema/schema.ts'

const most = { bytes: 1024 * 1024, values: 100_000 }

/** In steps: there may be many. `path` is where the schema stands. */
export function* defaultFaults(schema: ObjectSchema, vendor: Vendor, path: FieldPath): Generator<void, FieldError[]> {
  const room = new Room(most)
  const filling = { context: { vendor, subresource: '' }, room }
  const open: { readonly schema: Schema; readonly path: FieldPath }[] = [{ schema, path }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { schema: type, path: place } = next
    if (type.type === 'list') open.push({ schema: type.items, path: child(place, 'items') })
    if (type.type === 'map') open.push({ schema: type.values, path: child(place, 'additionalProperties') })
    if (type.type !== 'object') continue
    for (const [name, field] of Object.entries(type.fields)) {
      const member = `${place}.properties[${name}]`
      if (field.default !== undefined) {
        const value = copyOf(field.default)
        const fits = room.take(sizeOf(value)) && !fillDefaults(field.schema, value, filling)
        if (!fits) return [forbidden(child(member, 'default'), tooLarge)]
        yield
      }
      open.push({ schema: field.schema, path: member })
    }
  }
  return []
}

const tooLarge = `the defaults of a schema, with those inside them, may have at most ${most.bytes} bytes and ${most.values} values`
