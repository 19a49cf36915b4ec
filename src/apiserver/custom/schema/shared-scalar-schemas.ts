/**
 * Saves memory by sharing schema nodes. Most nodes of a large schema specify only a type, so all schemas share one
 * immutable node per type.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import { type Field, field, type Schema } from '../../../api/schema/schema.ts'
import { typeRule } from '../objects/value-rules.ts'

/** Scalar types, which have no nested schemas. */
const scalars = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  integer: { type: 'integer', bits: 64 },
  number: { type: 'number' },
  intOrString: { type: 'intOrString' },
} as const satisfies { readonly [type: string]: Schema }

export type ScalarType = keyof typeof scalars

/** Returns the type of a node without nested schemas, or undefined for other nodes. */
export function scalarType(schema: JsonObject, prefix: string): ScalarType | undefined {
  if (schema[`${prefix}int-or-string`] === true) return 'intOrString'
  const { type } = schema
  return typeof type === 'string' && type !== 'intOrString' && Object.hasOwn(scalars, type)
    ? (type as ScalarType)
    : undefined
}

/** Properties of a node other than its type. */
export type NodeProperties = Pick<Schema, 'check' | 'lenient' | 'nullable' | 'misfit' | 'skipsParts'>

/** Creates a scalar node with its own properties. Such a node cannot be shared. */
export function scalarPart(type: ScalarType, said: NodeProperties): Schema {
  return { ...scalars[type], ...said }
}

const shared = new Map<string, Schema>()
const fields = new Map<Schema, Field>()

/** Returns the shared node that specifies only this type. */
export function plainPart(type: ScalarType, schema: JsonObject, prefix: string): Schema {
  const isNullable = schema.nullable === true
  const id = `${prefix}${type}${isNullable ? '?' : ''}`
  const sharedSchema = shared.get(id)
  if (sharedSchema !== undefined) return sharedSchema
  const misfit = typeRule({ ...schema, format: null }, { prefix })
  const made = scalarPart(type, { lenient: true, ...(misfit && { misfit }), ...(isNullable && { nullable: true }) })
  shared.set(id, made)
  fields.set(made, fieldOf(made))
  return made
}

/** Returns an optional field with the given schema and no default. Fields with shared nodes are shared too. */
export function plainField(schema: Schema): Field {
  return fields.get(schema) ?? fieldOf(schema)
}

function fieldOf(schema: Schema): Field {
  return field(0, schema, { zeroValue: 'keep' })
}
