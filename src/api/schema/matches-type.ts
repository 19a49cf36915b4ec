/** Determines whether a JSON value has the type that a schema specifies, regardless of other constraints. */

import { isObject, type Json, own } from '../json/json.ts'
import { at, child, type FieldPath } from '../model/field-error.ts'
import type { Schema } from './schema.ts'

/** Whether a value has the JSON type that the schema requires. */
export function matchesType(schema: Schema, value: Json): boolean {
  if (value === null) return schema.nullable === true || schema.type === 'any'
  switch (schema.type) {
    case 'string':
    case 'bytes':
    case 'time':
    case 'quantity':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return isInt64(value)
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint'
    case 'intOrString':
      return typeof value === 'string' || isInt64(value)
    case 'any':
      return true
    case 'map':
    case 'object':
      return isObject(value)
    case 'list':
      return Array.isArray(value)
    default:
      return schema satisfies never
  }
}

/**
 * Whether a value is a 64-bit integer. Numbers in exponent notation that are too large for an exact representation,
 * such as 1e20, are not accepted.
 */
export function isInt64(value: Json): boolean {
  return typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)
}

/** Returns the path of the first value whose type does not match the schema, or undefined if all types match. */
export function firstMisfit(schema: Schema, value: Json, path: FieldPath): FieldPath | undefined {
  if (value === null || schema.anyType) return undefined
  if (!matchesType(schema, value)) return path
  if (schema.type === 'list') return firstOf((value as Json[]).map((item, i) => [schema.items, item, at(path, i)]))
  if (schema.type === 'map' && isObject(value))
    return firstOf(Object.keys(value).map((key) => [schema.values, value[key]!, child(path, key)]))
  if (schema.type !== 'object' || !isObject(value)) return undefined
  const knownNames = Object.keys(value).filter((name) => Object.hasOwn(schema.fields, name))
  return firstOf(knownNames.map((name) => [schema.fields[name]!.schema, own(value, name)!, child(path, name)]))
}

function firstOf(parts: Parameters<typeof firstMisfit>[]): FieldPath | undefined {
  for (const part of parts) {
    const misfit = firstMisfit(...part)
    if (misfit !== undefined) return misfit
  }
  return undefined
}
