/** Whether a JSON value is of the type that a schema names, whatever else the schema demands of it. */
import { isObject, type Json } from '../model/json.ts'
import type { Schema } from './schema.ts'

export function fits(schema: Schema, value: Json): boolean {
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
      return isInteger(value)
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint'
    case 'intOrString':
      return typeof value === 'string' || isInteger(value)
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

function isInteger(value: Json): boolean {
  return typeof value === 'bigint' || Number.isInteger(value)
}
