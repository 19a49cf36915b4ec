/**
 * Checks a decoded value against what its schema demands beyond types: required fields, listed values, map keys,
 * unique list elements, choices of one field among several, and the rules of its types.
 */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../model/field-error.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { RuleContext } from './context.ts'
import type { Choice, Field, ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts'

export function validate(schema: Schema, value: Json, context: RuleContext, path: FieldPath = ''): FieldError[] {
  switch (schema.type) {
    case 'object':
      return isObject(value) ? validateObject(schema, value, context, path) : []
    case 'map':
      return isObject(value) ? validateMap(schema, value, context, path) : []
    case 'list':
      return Array.isArray(value) ? validateList(schema, value, context, path) : []
    case 'string':
      return schema.values && !schema.values.includes(String(value)) ? [notSupported(path, value, schema.values)] : []
    default:
      return []
  }
}

function validateObject(schema: ObjectSchema, value: JsonObject, context: RuleContext, path: FieldPath): FieldError[] {
  const surplus = schema.choice ? membersIn(value, schema.choice).slice(1) : []
  const errors = Object.entries(schema.fields).flatMap(([name, field]) => {
    const place = child(path, name)
    if (surplus.includes(name)) return [forbidden(place, `may not specify more than 1 ${schema.choice?.noun}`)]
    return validateField(field, value[name], context, place)
  })
  if (schema.choice && membersIn(value, schema.choice).length === 0)
    errors.push(required(path, `must specify a ${schema.choice.noun}`))
  return schema.check ? [...errors, ...schema.check(value, path, context)] : errors
}

function membersIn(value: JsonObject, { among }: Choice): string[] {
  return among.filter((name) => value[name] !== undefined)
}

function validateField(field: Field, item: Json | undefined, context: RuleContext, path: FieldPath): FieldError[] {
  if (field.required && (item === undefined || item === '' || item === null)) return [required(path)]
  // An empty text that is always written was not sent; any other is one that was.
  if (item === undefined || (item === '' && field.zero === 'write')) return []
  return validate(field.schema, item, context, path)
}

function validateMap(schema: MapSchema, value: JsonObject, context: RuleContext, path: FieldPath): FieldError[] {
  return Object.entries(value).flatMap(([key, item]) => [
    ...(schema.key?.(key) ?? []).map((text) => invalid(at(path, key), key, text)),
    ...validate(schema.values, item!, context, at(path, key)),
  ])
}

function validateList(schema: ListSchema, value: Json[], context: RuleContext, path: FieldPath): FieldError[] {
  return [
    ...validateUnique(schema, value, path),
    ...value.flatMap((item, i) => validate(schema.items, item, context, at(path, i))),
  ]
}

function validateUnique(schema: ListSchema, value: Json[], path: FieldPath): FieldError[] {
  if (schema.list === 'atomic') return []
  const seen = new Set<string>()
  return value.flatMap((item, i) => {
    const identity = identityOf(schema, item)
    const repeated = seen.has(identity)
    seen.add(identity)
    return repeated ? [duplicate(at(path, i), item)] : []
  })
}

/** What makes an element of a set or keyed list itself, as a string to compare. */
function identityOf(schema: ListSchema, item: Json): string {
  if (schema.list === 'set' || !isObject(item)) return JSON.stringify(item)
  return JSON.stringify(schema.keys?.map((key) => item[key] ?? null))
}
