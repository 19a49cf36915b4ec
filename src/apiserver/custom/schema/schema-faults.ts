/**
 * Validates a user's schema before it is used: its size and the types of all keywords. structural-faults.ts checks that
 * the schema is structural. Code that reads the schema later can rely on these checks.
 */

import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  typeInvalid,
} from '../../../api/model/field-error.ts'
import { extensionFaults } from './schema-extensions.ts'
import { addFaults, type Faults, logic, membersOf, partsOf, type SchemaReader } from './schema-parts.ts'
import { structuralFaults } from './structural-faults.ts'

/**
 * Maximum nesting depth of a schema. Real schemas stay far below the limits in this file, and harmful schemas far
 * exceed them.
 */
const maxDepth = 64
const maxNodes = 20_000

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Keywords whose value must have a certain type. Other keywords may have any value. */
const forms: { readonly [keyword: string]: (value: Json) => boolean } = {
  ...byForm(isNumber, ['minimum', 'maximum', 'multipleOf']),
  ...byForm(isCount, ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']),
  ...byForm(isBoolean, ['exclusiveMinimum', 'exclusiveMaximum', 'nullable', 'uniqueItems']),
  ...byForm(isText, ['type', 'format', 'pattern']),
  ...byForm(Array.isArray, ['enum', ...logic]),
  ...byForm((value) => Array.isArray(value) && value.every(isText), ['required']),
  ...byForm(isObject, ['properties', 'not']),
}

const unsupported = ['$ref', 'additionalItems', 'definitions', 'dependencies', 'patternProperties']

/**
 * Validates the schema of a whole object in steps, because the schema may be large. Its size has already been checked.
 */
export function* schemaFaults(schema: Json, reader: SchemaReader, path: FieldPath): Faults {
  if (!isObject(schema)) return [required(path, 'schemas are required')]
  const faultsOfNodes = yield* nodeFaults(schema, reader, { path, isRoot: true, inMetadata: false, mayDefault: true })
  const faults = [...rootFaults(schema, reader, path), ...faultsOfNodes]
  // Skip the structural checks if keywords have the wrong type or are unsupported, because they would report the same
  // problems again.
  if (faultsOfNodes.some(({ fault }) => fault === 'FieldValueTypeInvalid') || (yield* hasUnsupported(schema)))
    return faults
  return [...faults, ...(yield* structuralFaults(schema, reader, path))]
}

/** Rejects a schema that is too large or too deep for further validation. */
export function sizeFaults(schema: Json, path: FieldPath): FieldError[] {
  let nodes = 0
  const queue: [Json, number][] = [[schema, 0]]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [value, depth] = next
    if (++nodes > maxNodes) return [forbidden(path, `a schema may have at most ${maxNodes} nodes`)]
    if (depth > 2 * maxDepth) return [forbidden(path, `a schema may be nested at most ${maxDepth} levels deep`)]
    if (typeof value !== 'object' || value === null) continue
    for (const item of Object.values(value)) if (typeof item === 'object') queue.push([item as Json, depth + 1])
  }
  return []
}

/**
 * Keywords that the root of a schema may have if the status subresource is enabled. Status updates validate only the
 * status, so other root keywords would not be enforced.
 */
const withStatus = new Set(
  `description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems
  minItems uniqueItems multipleOf required items properties externalDocs example`.split(/\s+/),
)

function rootFaults(schema: JsonObject, { prefix, isNew, hasStatus }: SchemaReader, path: FieldPath): FieldError[] {
  if (!isNew) return []
  const mayHave = (name: string) =>
    withStatus.has(name) || name === `${prefix}preserve-unknown-fields` || name === `${prefix}validations`
  const tooMuch = Object.entries(schema).some(([name, value]) => isSet(value) && !mayHave(name))
  return [
    ...(hasStatus && tooMuch
      ? [invalid(path, '', 'the status subresource restricts the keywords that the root schema may contain')]
      : []),
    ...(schema.nullable === true ? [forbidden(child(path, 'nullable'), 'a whole object cannot be null')] : []),
  ]
}

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false && value !== ''
}

/** The position of a node in the schema. */
interface Place {
  readonly path: FieldPath
  readonly isRoot: boolean
  /** Whether the node describes an object's metadata, apiVersion or kind. */
  readonly inMetadata: boolean
  readonly mayDefault: boolean
}

function* nodeFaults(schema: Json, reader: SchemaReader, place: Place): Faults {
  yield
  const { path } = place
  if (!isObject(schema)) return [typeInvalid(path, schema, 'must be a schema')]
  const faults = [
    ...keywordFaults(schema, reader, place),
    ...typeFaults(schema, path),
    ...(reader.isNew && place.inMetadata && schema[`${reader.prefix}embedded-resource`] === true
      ? [forbidden(child(path, `${reader.prefix}embedded-resource`), 'must not be used inside metadata')]
      : []),
    ...extensionFaults(schema, reader, path),
  ]
  for (const part of partsOf(schema, path))
    addFaults(faults, yield* nodeFaults(part.schema, reader, placeBelow(part, schema, { reader, place })))
  return faults
}

const metadataNames = ['metadata', 'kind', 'apiVersion']

function placeBelow(
  { keyword, name, path }: { readonly keyword: string; readonly name?: string; readonly path: FieldPath },
  schema: JsonObject,
  { reader, place }: { readonly reader: SchemaReader; readonly place: Place },
): Place {
  const isEmbedded = schema[`${reader.prefix}embedded-resource`] === true
  const begins = keyword === 'properties' && metadataNames.includes(name!) && (place.isRoot || isEmbedded)
  const isBeyond = keyword === 'additionalProperties' && place.inMetadata
  return {
    path,
    isRoot: false,
    inMetadata: place.inMetadata || begins,
    mayDefault: !reader.isNew || (place.mayDefault && !isBeyond && !(begins && place.isRoot)),
  }
}

function keywordFaults(schema: JsonObject, { isNew }: SchemaReader, { path, mayDefault }: Place): FieldError[] {
  const faults = Object.entries(schema).flatMap(([keyword, value]) => {
    const place = child(path, keyword)
    if (value === null || value === undefined) return []
    if (unsupported.includes(keyword)) return [forbidden(place, 'is not supported')]
    return Object.hasOwn(forms, keyword) && !forms[keyword]!(value)
      ? [typeInvalid(place, value, 'has an invalid format')]
      : []
  })
  const { id, uniqueItems, multipleOf, default: preset, items } = schema
  if (isNew && typeof id === 'string' && id !== '') faults.push(forbidden(child(path, 'id'), 'is not supported'))
  if (uniqueItems === true) faults.push(forbidden(child(path, 'uniqueItems'), 'use a list with list-type set instead'))
  if (typeof multipleOf === 'number' && multipleOf <= 0)
    faults.push(invalid(child(path, 'multipleOf'), multipleOf, 'must be greater than 0'))
  if (preset != null && !mayDefault) faults.push(forbidden(child(path, 'default'), 'must not be set in metadata'))
  if (Array.isArray(items)) faults.push(forbidden(child(path, 'items'), 'items must be a schema and not a list'))
  return [...faults, ...otherFaults(schema, child(path, 'additionalProperties'))]
}

function otherFaults({ properties, additionalProperties: others }: JsonObject, path: FieldPath): FieldError[] {
  if (others == null) return []
  if (membersOf(properties).length > 0)
    return [forbidden(path, 'additionalProperties and properties are mutually exclusive')]
  return others === false ? [forbidden(path, 'must not be false')] : []
}

function typeFaults({ type }: JsonObject, path: FieldPath): FieldError[] {
  if (typeof type !== 'string' || type === '' || types.includes(type)) return []
  const place = child(path, 'type')
  return [
    notSupported(place, type, types),
    ...(type === 'null' ? [forbidden(place, 'cannot be null: use nullable instead')] : []),
  ]
}

/** Whether a schema uses a keyword that custom resources do not support. */
function* hasUnsupported(schema: JsonObject): Generator<void, boolean> {
  yield
  const { id, items } = schema
  if (unsupported.some((keyword) => schema[keyword] != null) || id || Array.isArray(items)) return true
  for (const part of partsOf(schema, '')) if (isObject(part.schema) && (yield* hasUnsupported(part.schema))) return true
  return false
}

function byForm(test: (value: Json) => boolean, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, test]))
}

function isNumber(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

function isCount(value: Json): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isBoolean(value: Json): boolean {
  return typeof value === 'boolean'
}

function isText(value: Json): boolean {
  return typeof value === 'string'
}
