/**
 * What is wrong with a schema that a user wrote, before anything is made of it: its size, the form of its keywords, and
 * what a structural schema must and must not say. Everything that reads the schema afterwards may rely on this.
 */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  typeInvalid,
} from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own, sameJson } from '../model/json.ts'
import type { CompilePattern } from './patterns.ts'

/** The bounds of a schema: far above what people write, far below what would hurt. */
const maxDepth = 64
const maxNodes = 20_000

export interface SchemaReader {
  readonly compile: CompilePattern
  /** Begins the vendor's own keywords: `x-orch-`. */
  readonly prefix: string
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const logic = ['allOf', 'anyOf', 'oneOf'] as const

/** Keywords whose values must be of one form; others may say anything. */
const forms: { readonly [keyword: string]: (value: Json) => boolean } = {
  ...byForm(isNumber, ['minimum', 'maximum', 'multipleOf']),
  ...byForm(isCount, ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']),
  ...byForm(isBoolean, ['exclusiveMinimum', 'exclusiveMaximum', 'nullable', 'uniqueItems']),
  ...byForm(isText, ['type', 'format', 'pattern']),
  ...byForm(Array.isArray, ['enum', ...logic]),
  ...byForm((value) => Array.isArray(value) && value.every(isText), ['required']),
  ...byForm(isObject, ['properties', 'not']),
}

const unsupported: { readonly [keyword: string]: string } = {
  $ref: 'references are not supported',
  definitions: 'definitions are not supported',
  dependencies: 'dependencies are not supported',
  patternProperties: 'patternProperties are not supported',
  additionalItems: 'additionalItems are not supported',
}

/** The faults of a whole schema, which is that of an object. Its size has been judged. In steps: it may be large. */
export function* schemaFaults(schema: Json, reader: SchemaReader, path: FieldPath): Faults {
  if (!isObject(schema)) return [required(path, 'schemas are required')]
  const type = own(schema, 'type')
  const root = type === undefined ? [required(child(path, 'type'), 'must not be empty at the root')] : []
  if (type !== undefined && type !== 'object')
    root.push(invalid(child(path, 'type'), type, 'must be object at the root'))
  const below = root.length > 0 ? [] : yield* nodeFaults(schema, reader, path)
  return [...root, ...metadataFaults(schema, path), ...below]
}

/** Work that can be interrupted, and gives the faults that it finds. */
type Faults = Generator<void, FieldError[]>

/** Whether a schema is too large or too deep for anything else to look at it. */
export function sizeFaults(schema: Json, path: FieldPath): FieldError[] {
  let nodes = 0
  const queue: [Json, number][] = [[schema, 0]]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [value, depth] = next
    if (++nodes > maxNodes) return [forbidden(path, `a schema may have at most ${maxNodes} parts`)]
    if (depth > 2 * maxDepth) return [forbidden(path, `a schema may be nested at most ${maxDepth} deep`)]
    if (typeof value !== 'object' || value === null) continue
    for (const item of Object.values(value)) if (typeof item === 'object') queue.push([item as Json, depth + 1])
  }
  return []
}

/** What is said of the metadata is the server's; a user may only narrow the name. */
function metadataFaults(schema: JsonObject, path: FieldPath): FieldError[] {
  const metadata = memberOf(schema, 'properties', 'metadata')
  if (metadata === undefined) return []
  const place = at(child(path, 'properties'), 'metadata')
  const properties = own(metadata, 'properties')
  const names = isObject(properties) ? Object.keys(properties) : []
  const faults = names
    .filter((name) => memberOf(metadata, 'properties', name)?.default != null)
    .map((name) => forbidden(child(at(child(place, 'properties'), name), 'default'), 'must not be set in metadata'))
  return names.every((name) => name === 'name' || name === 'generateName')
    ? faults
    : [...faults, forbidden(place, 'must not specify anything other than name and generateName')]
}

function memberOf(schema: JsonObject, group: string, name: string): JsonObject | undefined {
  const members = own(schema, group)
  const member = isObject(members) ? own(members, name) : undefined
  return isObject(member) ? member : undefined
}

/** The faults of a schema that gives its values a structure. */
function* nodeFaults(schema: Json, reader: SchemaReader, path: FieldPath): Faults {
  yield
  if (!isObject(schema)) return [typeInvalid(path, schema, 'must be a schema')]
  const faults = keywordFaults(schema, reader, path)
  if (faults.length > 0) return faults
  return [
    ...typeFaults(schema, reader, path),
    ...extensionFaults(schema, reader, path),
    ...(yield* belowFaults(schema, reader, path)),
    ...(yield* logicFaults(schema, { ...reader, place: 'structure' }, path)),
  ]
}

function keywordFaults(schema: JsonObject, { compile }: SchemaReader, path: FieldPath): FieldError[] {
  const faults = Object.entries(schema).flatMap(([keyword, value]) => {
    const place = child(path, keyword)
    if (value === null || value === undefined) return []
    if (Object.hasOwn(unsupported, keyword)) return [forbidden(place, unsupported[keyword]!)]
    return Object.hasOwn(forms, keyword) && !forms[keyword]!(value)
      ? [typeInvalid(place, value, 'has the wrong form')]
      : []
  })
  if (schema.uniqueItems === true) faults.push(forbidden(child(path, 'uniqueItems'), 'use a list of type set instead'))
  if (typeof schema.multipleOf === 'number' && schema.multipleOf <= 0)
    faults.push(invalid(child(path, 'multipleOf'), schema.multipleOf, 'must be greater than 0'))
  if (typeof schema.pattern !== 'string') return faults
  const compiled = compile(schema.pattern)
  if (compiled.outcome === 'pattern') return faults
  return [...faults, invalid(child(path, 'pattern'), schema.pattern, `must be a valid pattern: ${compiled.why}`)]
}

function typeFaults(schema: JsonObject, { prefix }: SchemaReader, path: FieldPath): FieldError[] {
  const { type } = schema
  const place = child(path, 'type')
  const free = schema[`${prefix}int-or-string`] === true || schema[`${prefix}preserve-unknown-fields`] === true
  if (schema[`${prefix}int-or-string`] === true && type != null)
    return [invalid(place, type, `must be empty if ${prefix}int-or-string is true`)]
  if (type == null || type === '') return free ? [] : [required(place, 'must not be empty')]
  return types.includes(type as string) ? [] : [notSupported(place, type, types)]
}

function extensionFaults(schema: JsonObject, { prefix }: SchemaReader, path: FieldPath): FieldError[] {
  const named = (name: string) => ({ place: child(path, `${prefix}${name}`), value: schema[`${prefix}${name}`] })
  const preserve = named('preserve-unknown-fields')
  const mapType = named('map-type')
  const embedded = named('embedded-resource')
  const faults: FieldError[] = []
  if (preserve.value != null && preserve.value !== true)
    faults.push(invalid(preserve.place, preserve.value, 'must be true or undefined'))
  if (mapType.value != null && !['atomic', 'granular'].includes(mapType.value as string))
    faults.push(notSupported(mapType.place, mapType.value, ['atomic', 'granular']))
  if (mapType.value != null && schema.type !== 'object')
    faults.push(invalid(child(path, 'type'), schema.type, `must be object if ${prefix}map-type is specified`))
  if (embedded.value === true && schema.type !== 'object')
    faults.push(invalid(child(path, 'type'), schema.type, `must be object if ${prefix}embedded-resource is true`))
  if (embedded.value === true && preserve.value !== true && !hasMembers(schema.properties))
    faults.push(required(child(path, 'properties'), `must not be empty if ${prefix}embedded-resource is true`))
  return [...faults, ...listFaults(schema, prefix, path)]
}

function hasMembers(value: Json | undefined): boolean {
  return isObject(value) && Object.keys(value).length > 0
}

function listFaults(schema: JsonObject, prefix: string, path: FieldPath): FieldError[] {
  const listType = schema[`${prefix}list-type`]
  const keys = schema[`${prefix}list-map-keys`]
  const place = child(path, `${prefix}list-type`)
  if (listType == null)
    return keys == null ? [] : [forbidden(child(path, `${prefix}list-map-keys`), 'only for type map')]
  if (schema.type !== 'array')
    return [invalid(child(path, 'type'), schema.type, `must be array if ${prefix}list-type is specified`)]
  switch (listType) {
    case 'atomic':
      return []
    case 'set':
      return setFaults(schema.items, prefix, path)
    case 'map':
      return mapListFaults(schema.items, keys, prefix, path)
    default:
      return [notSupported(place, listType, ['atomic', 'set', 'map'])]
  }
}

/** The elements of a set are compared as wholes. */
function setFaults(items: Json | undefined, prefix: string, path: FieldPath): FieldError[] {
  if (!isObject(items)) return []
  const place = child(path, 'items')
  if (items.type === 'object' && items[`${prefix}map-type`] !== 'atomic')
    return [invalid(child(place, `${prefix}map-type`), items[`${prefix}map-type`] ?? null, 'must be atomic in a set')]
  if (items.type === 'array' && (items[`${prefix}list-type`] ?? 'atomic') !== 'atomic')
    return [invalid(child(place, `${prefix}list-type`), items[`${prefix}list-type`]!, 'must be atomic in a set')]
  return []
}

function mapListFaults(items: Json | undefined, keys: Json | undefined, prefix: string, path: FieldPath): FieldError[] {
  const place = child(path, `${prefix}list-map-keys`)
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isText))
    return [required(place, `must not be empty if ${prefix}list-type is map`)]
  if (new Set(keys).size < keys.length) return [invalid(place, keys, 'must be unique')]
  if (!isObject(items)) return []
  if (items.type !== 'object')
    return [invalid(child(path, 'items.type'), items.type, 'must be object in a list of type map')]
  const properties = isObject(items.properties) ? items.properties : {}
  if (!keys.every((key) => Object.hasOwn(properties, key as string)))
    return [invalid(place, keys, 'entries must all be names of item properties')]
  const needed = Array.isArray(items.required) ? items.required : []
  return (keys as string[]).flatMap((key) =>
    keyFaults(properties[key]!, needed.includes(key), at(child(path, 'items.properties'), key)),
  )
}

/** A key is a scalar that every element has. */
function keyFaults(property: Json, needed: boolean, path: FieldPath): FieldError[] {
  if (!isObject(property)) return []
  if (property.type === 'object' || property.type === 'array')
    return [invalid(child(path, 'type'), property.type, 'a key must be a scalar')]
  return needed || property.default != null
    ? []
    : [required(child(path, 'default'), 'a key of a list must be required or have a default')]
}

function* belowFaults(schema: JsonObject, reader: SchemaReader, path: FieldPath): Faults {
  const { properties } = schema
  const faults: FieldError[] = []
  for (const [name, property] of isObject(properties) ? Object.entries(properties) : [])
    faults.push(...(yield* nodeFaults(property!, reader, at(child(path, 'properties'), name))))
  return [
    ...faults,
    ...(yield* otherFaults(schema, reader, child(path, 'additionalProperties'))),
    ...(yield* itemFaults(schema, reader, child(path, 'items'))),
  ]
}

function* otherFaults(schema: JsonObject, reader: SchemaReader, path: FieldPath): Faults {
  const { properties, additionalProperties: others } = schema
  if (others != null && hasMembers(properties))
    return [forbidden(path, 'additionalProperties and properties exclude each other')]
  if (others === false) return [forbidden(path, 'must not be false')]
  return isObject(others) ? yield* nodeFaults(others, reader, path) : []
}

function* itemFaults({ type, items }: JsonObject, reader: SchemaReader, path: FieldPath): Faults {
  if (Array.isArray(items)) return [forbidden(path, 'items must be a schema and not a list')]
  if (items != null) return yield* nodeFaults(items, reader, path)
  return type === 'array' ? [required(path, 'must be specified')] : []
}

/** Where a demand stands: in a schema that gives structure, as the first of its `allOf`, or anywhere else. */
type Place = 'structure' | 'first of all' | 'demand'

interface DemandReader extends SchemaReader {
  readonly place: Place
}

/** The one thing that demands may say of types: `anyOf` of integer and string, in the first two places. */
const intOrString: Json = [{ type: 'integer' }, { type: 'string' }]

function* logicFaults(schema: JsonObject, reader: DemandReader, path: FieldPath): Faults {
  const { place } = reader
  const demands = { ...reader, place: 'demand' } as const
  const faults: FieldError[] = []
  for (const keyword of logic) {
    if (keyword === 'anyOf' && place !== 'demand' && sameJson(schema.anyOf, intOrString)) continue
    for (const [i, item] of ((schema[keyword] ?? []) as Json[]).entries()) {
      const isFirst = keyword === 'allOf' && i === 0 && place === 'structure'
      const below = isFirst ? ({ ...reader, place: 'first of all' } as const) : demands
      faults.push(...(yield* demandFaults(item, below, at(child(path, keyword), i))))
    }
  }
  return schema.not == null ? faults : [...faults, ...(yield* demandFaults(schema.not, demands, child(path, 'not')))]
}

/** What only demands gives no structure. */
const structural = ['type', 'title', 'description', 'default', 'additionalProperties', 'nullable']

function* demandFaults(schema: Json, reader: DemandReader, path: FieldPath): Faults {
  yield
  if (!isObject(schema)) return [typeInvalid(path, schema, 'must be a schema')]
  const faults = keywordFaults(schema, reader, path)
  if (faults.length > 0) return faults
  const demands = { ...reader, place: 'demand' } as const
  const shaping = Object.keys(schema).filter((key) => structural.includes(key) || key.startsWith(reader.prefix))
  for (const key of shaping) faults.push(forbidden(child(path, key), 'must be empty to be structural'))
  for (const [name, item] of isObject(schema.properties) ? Object.entries(schema.properties) : [])
    faults.push(...(yield* demandFaults(item!, demands, at(child(path, 'properties'), name))))
  if (schema.items != null) faults.push(...(yield* demandFaults(schema.items, demands, child(path, 'items'))))
  return [...faults, ...(yield* logicFaults(schema, reader, path))]
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
