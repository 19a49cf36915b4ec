/**
 * Converts a schema to CEL types with escaped names and estimated sizes. Rules cannot access fields that the schema
 * does not describe. The sizes must be the same as in Kubernetes 1.25, because they determine the estimated costs.
 */

import { isObject, type Json, type JsonObject, own } from '../json/json.ts'
import { type DeclaredType, type JsonForm, reservedWords } from './declared-type.ts'
import { type CelType, listOf, mapOf, types } from './types.ts'

/** Maximum size of a request body in bytes. No value can be larger than a request. */
const maxRequest = 3 * 1024 * 1024

/** Whether the schema describes an API object, which has apiVersion, kind and metadata. */
interface Place {
  readonly prefix: string
  readonly isResource: boolean
}

/** Returns the CEL type of a schema's values, or undefined if CEL cannot represent the values. */
export function declaredTypeOf(schema: JsonObject, place: Place): DeclaredType | undefined {
  const { prefix } = place
  if (schema[`${prefix}int-or-string`] === true)
    return { type: types.dyn, form: 'int-or-string', maxElements: maxRequest - 2, minBytes: 1 }
  switch (schema.type) {
    case 'array':
      return listType(schema, prefix)
    case 'object':
      return objectType(schema, place)
    case 'string':
      return textType(schema)
    case 'boolean':
      return { type: types.bool, form: 'boolean', maxElements: 0, minBytes: 4 }
    case 'number':
      return { type: types.double, form: 'number', maxElements: 0, minBytes: 1 }
    case 'integer':
      return { type: types.int, form: 'integer', maxElements: 0, minBytes: 1 }
    default:
      return undefined
  }
}

/** Returns the type of a nested schema. An embedded resource is a whole object with apiVersion, kind and metadata. */
export function declaredBelow(schema: Json | undefined, prefix: string): DeclaredType | undefined {
  if (!isObject(schema)) return undefined
  if (known.has(schema)) return known.get(schema)
  const declared = declaredTypeOf(schema, { prefix, isResource: schema[`${prefix}embedded-resource`] === true })
  known.set(schema, declared)
  return declared
}

/** Caches the types of nested schemas, because rules at several levels of a schema need the same types. */
const known = new WeakMap<JsonObject, DeclaredType | undefined>()

/** Returns a size limit in a schema as a number. A negative limit counts as zero. */
export function limitOf(limit: Json | undefined): number | undefined {
  return typeof limit === 'number' || typeof limit === 'bigint' ? Math.max(Number(limit), 0) : undefined
}

function listType(schema: JsonObject, prefix: string): DeclaredType | undefined {
  const elem = declaredBelow(schema.items, prefix)
  if (elem === undefined) return undefined
  const maxElements = limitOf(schema.maxItems) ?? Math.floor((maxRequest - 2) / (elem.minBytes + 1))
  const list = schema[`${prefix}list-type`] as DeclaredType['list']
  const keys = schema[`${prefix}list-map-keys`] as string[] | undefined
  return {
    type: listOf(elem.type),
    form: 'list',
    elem,
    maxElements,
    minBytes: 2,
    ...(list && { list }),
    ...(keys && { keys }),
  }
}

function objectType(schema: JsonObject, { prefix, isResource }: Place): DeclaredType | undefined {
  if (isObject(schema.additionalProperties)) {
    const elem = declaredBelow(schema.additionalProperties, prefix)
    if (elem === undefined) return undefined
    // A member needs at least the quotes of its key, a colon and a comma.
    const maxElements = limitOf(schema.maxProperties) ?? Math.floor((maxRequest - 2) / (elem.minBytes + 6))
    return { type: mapOf(types.string, elem.type), form: 'map', elem, maxElements, minBytes: 2 }
  }
  const described = isObject(schema.properties) ? schema.properties : {}
  return fieldsType(isResource ? withMetadata(described) : described, schema.required, prefix)
}

function fieldsType(members: JsonObject, required: Json | undefined, prefix: string): DeclaredType {
  const fields = new Map<string, DeclaredType>()
  const properties = new Map<string, string>()
  const needed = new Set(Array.isArray(required) ? required : [])
  let minBytes = 2
  for (const [property, member] of Object.entries(members)) {
    const declared = declaredBelow(member, prefix)
    if (declared === undefined) continue
    if (needed.has(property) && (member as JsonObject).default == null)
      minBytes += property.length + declared.minBytes + 4
    const name = escapeName(property)
    if (name === undefined) continue
    fields.set(name, declared)
    if (name !== property) properties.set(name, property)
  }
  return { type: { kind: 'object', fields }, form: 'object', fields, properties, maxElements: 0, minBytes }
}

const text: JsonObject = { type: 'string' }

/**
 * Returns the schema with type and metadata fields added. Rules can access only `name` and `generateName` in the
 * metadata.
 */
function withMetadata(described: JsonObject): JsonObject {
  const metadata = own(described, 'metadata')
  const names = isObject(metadata) && isObject(metadata.properties) ? metadata.properties : {}
  const isText = (schema: Json | undefined) => isObject(schema) && schema.type === 'string'
  const isComplete =
    isText(own(described, 'kind')) &&
    isText(own(described, 'apiVersion')) &&
    isText(own(names, 'name')) &&
    isText(own(names, 'generateName'))
  if (isComplete) return described
  const properties = { name: text, generateName: text }
  return { ...described, kind: text, apiVersion: text, metadata: { type: 'object', properties } }
}

interface TextForm {
  readonly type: CelType
  readonly form: JsonForm
  readonly max?: number
  readonly min: number
}

/** Minimum and maximum sizes of formatted strings in JSON, including the quotes. */
const textForms: { readonly [format: string]: TextForm } = {
  byte: { type: types.bytes, form: 'bytes', min: 2 },
  duration: { type: types.duration, form: 'duration', max: 32, min: 3 },
  date: { type: types.timestamp, form: 'date', max: 12, min: 12 },
  'date-time': { type: types.timestamp, form: 'date-time', max: 32, min: 21 },
}

function textType({ format, maxLength }: JsonObject): DeclaredType {
  const known = typeof format === 'string' && Object.hasOwn(textForms, format) ? textForms[format] : undefined
  const limit = limitOf(maxLength)
  if (known !== undefined) {
    const { type, form, max, min } = known
    return { type, form, maxElements: max ?? limit ?? maxRequest - 2, minBytes: min }
  }
  // In UTF-8, a character has up to four bytes.
  const maxElements = limit === undefined ? maxRequest - 2 : limit * 4
  return { type: types.string, form: 'string', maxElements, minBytes: 2 }
}

const escapes: { readonly [text: string]: string } = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** Returns the escaped name of a property for use in rules. Returns undefined if the name cannot be escaped. */
function escapeName(property: string): string | undefined {
  if (reservedWords.has(property)) return `__${property}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(property)) return undefined
  return property.replaceAll(/__|[./-]/g, (found) => escapes[found]!)
}

/** Returns the maximum number of values of at least `minBytes` bytes in one object. */
export function maxOccurrences(minBytes: number): number {
  return Math.floor(maxRequest / (minBytes + 1))
}
