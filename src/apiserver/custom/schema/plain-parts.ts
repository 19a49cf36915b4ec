/**
 * The parts of schemas that say no more than a type. Most parts of a large schema are such, and they are all alike: one
 * of each is made, and every schema shares it. A schema never changes, so nobody notices.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import { type Field, field, type Schema } from '../../../api/schema/schema.ts'
import { typeRule } from '../objects/value-rules.ts'

/** Types whose values have no parts. */
const scalars = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  integer: { type: 'integer', bits: 64 },
  number: { type: 'number' },
  intOrString: { type: 'intOrString' },
} as const satisfies { readonly [type: string]: Schema }

export type ScalarType = keyof typeof scalars

/** The type of a part whose values have no parts; undefined for all others. */
export function scalarType(schema: JsonObject, prefix: string): ScalarType | undefined {
  if (schema[`${prefix}int-or-string`] === true) return 'intOrString'
  const { type } = schema
  return typeof type === 'string' && type !== 'intOrString' && Object.hasOwn(scalars, type)
    ? (type as ScalarType)
    : undefined
}

/** What any part may say of its values, beside their type. */
export type Said = Pick<Schema, 'check' | 'lenient' | 'nullable' | 'misfit' | 'skipsParts'>

/** A part that is not shared. */
export function scalarPart(type: ScalarType, said: Said): Schema {
  return { ...scalars[type], ...said }
}

const shared = new Map<string, Schema>()
const fields = new Map<Schema, Field>()

/** The part that says no more than this type. */
export function plainPart(type: ScalarType, schema: JsonObject, prefix: string): Schema {
  const isNullable = schema.nullable === true
  const id = `${prefix}${type}${isNullable ? '?' : ''}`
  const known = shared.get(id)
  if (known !== undefined) return known
  const misfit = typeRule({ ...schema, format: null }, { prefix })
  const made = scalarPart(type, { lenient: true, ...(misfit && { misfit }), ...(isNullable && { nullable: true }) })
  shared.set(id, made)
  fields.set(made, fieldOf(made))
  return made
}

/** A member of this type, without a default. */
export function plainField(schema: Schema): Field {
  return fields.get(schema) ?? fieldOf(schema)
}

function fieldOf(schema: Schema): Field {
  return field(0, schema, { zero: 'keep' })
}
