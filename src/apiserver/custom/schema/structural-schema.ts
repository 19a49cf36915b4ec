/**
 * Converts the OpenAPI v3 schema of a custom resource to the schema language of built-in kinds. Decoding, pruning,
 * defaults, validation, patches and apply then work in the same way for both.
 *
 *   properties             fields of an object
 *   additionalProperties   a map
 *   items                  a list; list-type and list-map-keys determine its merge strategy
 *   preserve-unknown-fields an object with arbitrary fields, or any JSON
 *   limits, patterns,...  a rule of the type (value-rules.ts)
 *
 * Errors of the schema itself are returned as a list (schema-faults.ts). An invalid schema is not converted.
 */

import { stringifyJson } from '../../../api/codec/json.ts'
import { defined, isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../api/model/field-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { RuleContext } from '../../../api/schema/context.ts'
import { decode } from '../../../api/schema/decode.ts'
import { objectMeta } from '../../../api/schema/object-meta.ts'
import {
  type Field,
  type Fields,
  field,
  type ListSchema,
  type ObjectSchema,
  type Schema,
  s,
} from '../../../api/schema/schema.ts'
import { typeMeta } from '../../../api/schema/type-meta.ts'
import { validate } from '../../../api/schema/validate.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast, oldestVersion } from '../../../api/versions/emulated-version.ts'
import { defaultGatesOf } from '../../../api/versions/feature-gates.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { ParsedSchemaCache } from '../definitions/parsed-schema-cache.ts'
import { rawEmbeddedFaults, rawObjectFaults, withoutInnerMetadata } from '../objects/embedded-objects.ts'
import { deepRule, ruleOf } from '../objects/value-logic.ts'
import { memberLimit, nowhere, typeRule } from '../objects/value-rules.ts'
import { knownFormat } from './formats.ts'
import { compilePatterns } from './patterns.ts'
import { publishedSchema } from './published-schema.ts'
import { schemaFaults, sizeFaults } from './schema-faults.ts'
import type { SchemaReader } from './schema-parts.ts'
import {
  type NodeProperties,
  plainField,
  plainPart,
  type ScalarType,
  scalarPart,
  scalarType,
} from './shared-scalar-schemas.ts'

export type StructuralSchema = ReadSchema | { readonly outcome: 'invalid'; readonly faults: readonly FieldError[] }

export interface ReadSchema {
  readonly outcome: 'schema'
  readonly schema: ObjectSchema
  /** The author's schema as JSON, which takes a tenth of the memory of a parsed schema. */
  readonly text: Buffer
  /** Patterns that are not enforced because they exceed the current limits. */
  readonly unenforced: readonly string[]
}

export interface SchemaReading {
  /** Path of the schema, for errors. */
  readonly path: FieldPath
  readonly timeSlice?: TimeSlice | undefined
  /** Whether the schema was accepted before. If so, newer rules and pattern limits are not enforced. */
  readonly stored?: boolean | undefined
  /** Whether the status subresource is enabled. */
  readonly hasStatus?: boolean
  /**
   * The emulation, which determines which schemas are accepted and how errors in defaults are reported. Defaults to the
   * oldest supported version.
   */
  readonly emulation?: Emulation | undefined
  /** Paths of the fields that field selectors can use, for the published schema. */
  readonly selectable?: readonly string[] | undefined
}

export async function readStructuralSchema(
  schema: Json,
  vendor: Vendor,
  { path, timeSlice = new TimeSlice(), stored, hasStatus = false, emulation, selectable = [] }: SchemaReading,
): Promise<StructuralSchema> {
  const tooLarge = sizeFaults(schema, path)
  if (tooLarge.length > 0) return { outcome: 'invalid', faults: tooLarge }
  const text = stringifyJson(schema)
  const cacheKey = `${vendor.extensionPrefix}${text}${selectable.join()}`
  const ahead = stored ? readAhead.take(cacheKey) : undefined
  if (ahead !== undefined) return ahead
  const { compile, unenforced } = await compilePatterns(schema, { timeSlice, stored })
  const isNew = stored !== true
  const { version = oldestVersion, gates = defaultGatesOf(version) } = emulation ?? {}
  const context: RuleContext = { vendor, subresource: '', version, gates }
  const prefix = vendor.extensionPrefix
  const reader: Reader = { vendor, prefix, compile, isNew, hasStatus, version, context, selectable, faults: [] }
  const faults = await timeSlice.run(schemaFaults(schema, reader, path))
  if (faults.length > 0) return { outcome: 'invalid', faults }
  const bytes = Buffer.from(text)
  const root = await timeSlice.run(readRoot(schema as JsonObject, { ...reader, bytes }, path))
  if (reader.faults.length > 0) return { outcome: 'invalid', faults: reader.faults }
  const read: ReadSchema = { outcome: 'schema', schema: root, text: bytes, unenforced }
  if (!stored) readAhead.put(cacheKey, read)
  return read
}

const readAhead = new ParsedSchemaCache<ReadSchema>()

/** Builds an embedded object around the value of one of its fields. */
type Surround = (value: Json) => JsonObject

interface Reader extends SchemaReader {
  readonly vendor: Vendor
  /** The context in which defaults are validated. */
  readonly context: RuleContext
  readonly selectable: readonly string[]
  /**
   * Builds the embedded object around a value. Defined only inside the metadata, apiVersion or kind of an embedded
   * object.
   */
  readonly whole?: Surround | undefined
  /**
   * Errors in defaults. They are collected here because defaults can only be validated against the converted schema.
   */
  readonly faults: FieldError[]
}

interface RootReader extends Reader {
  /** The text of the whole schema. */
  readonly bytes: Buffer
}

/** Converts the root of a schema. Adds apiVersion, kind and metadata, which every object has. */
function* readRoot(schema: JsonObject, reader: RootReader, path: FieldPath): Generator<void, ObjectSchema> {
  reader.faults.push(...rootDefaultFaults(schema, reader, child(path, 'default')))
  const { apiVersion: _a, kind: _k, metadata, ...properties } = (schema.properties ?? {}) as JsonObject
  const root = (yield* readNode({ ...schema, properties }, reader, path)) as ObjectSchema
  const named = isObject(metadata) ? { ...objectMeta, check: deepRule(metadata, reader) } : objectMeta
  const { description: doc } = schema
  return {
    ...root,
    ...(typeof doc === 'string' && { doc }),
    publish: publishedSchema(reader.bytes, reader.prefix, reader.selectable),
    fields: { ...typeMeta, metadata: field(1, named, { zeroValue: 'write' }), ...root.fields },
  }
}

/** Validates the default of the root. Since Kubernetes 1.25, it must contain apiVersion and kind. */
function rootDefaultFaults({ default: value }: JsonObject, reader: Reader, path: FieldPath): FieldError[] {
  if (!reader.isNew || !isAtLeast(reader.version, '1.25') || !isObject(value)) return []
  return ['apiVersion', 'kind'].flatMap((name) => (own(value, name) === undefined ? [required(child(path, name))] : []))
}

function* readNode(schema: JsonObject, reader: Reader, path: FieldPath): Generator<void, Schema> {
  yield
  const type = scalarType(schema, reader.prefix)
  if (type !== undefined) return readScalar(type, schema, reader)
  const nodeProps = nodeProperties(schema, reader)
  switch (schema.type) {
    case 'array':
      return { ...(yield* readList(schema, reader, path)), ...nodeProps }
    case 'object':
      return { ...(yield* readObject(schema, reader, path)), ...nodeProps }
    default:
      return { ...(yield* readUntyped(schema, reader, path)), ...nodeProps }
  }
}

function readScalar(type: ScalarType, schema: JsonObject, reader: Reader): Schema {
  const check = ruleOf(schema, reader)
  if (check === undefined && memberLimit(schema) === undefined && knownFormat(schema.format) === undefined)
    return plainPart(type, schema, reader.prefix)
  return scalarPart(type, nodeProperties(schema, reader))
}

/** Returns the keywords that apply to values of any type. */
function nodeProperties(schema: JsonObject, reader: Reader): NodeProperties {
  return {
    lenient: true,
    ...defined({ check: ruleOf(schema, reader), misfit: typeRule(schema, reader), skipsParts: memberLimit(schema) }),
    ...(schema.nullable === true ? { nullable: true } : {}),
  }
}

/**
 * Converts a node without a type, which allows any value. Its constraints on members and elements apply only to objects
 * and lists.
 */
function* readUntyped(schema: JsonObject, reader: Reader, path: FieldPath): Generator<void, Schema> {
  if (isObject(schema.properties) || isObject(schema.additionalProperties))
    return { ...(yield* readObject(schema, reader, path)), anyType: true }
  if (isObject(schema.items)) return { ...(yield* readList(schema, reader, path)), anyType: true }
  return { type: 'any', granular: true }
}

function extension(schema: JsonObject, { prefix }: Reader, name: string): Json | undefined {
  return schema[`${prefix}${name}`]
}

function* readList(schema: JsonObject, reader: Reader, path: FieldPath): Generator<void, ListSchema> {
  const free = extension(schema, reader, 'preserve-unknown-fields') === true
  const { whole } = reader
  const inner: Reader = whole === undefined ? reader : { ...reader, whole: (value) => whole([value]) }
  const place = child(path, 'items')
  const read = yield* readNode(schema.items as JsonObject, inner, place)
  const itemDefault = defaultOf(schema.items as JsonObject, read, inner, place)
  const items = withDefault(free ? opened(read) : read, itemDefault)
  const list = (extension(schema, reader, 'list-type') ?? 'atomic') as ListSchema['list']
  const keys = list === 'map' ? { keys: listKeys(schema, reader) } : {}
  return { type: 'list', items, list, ...keys }
}

/**
 * Returns the schema of a list element or map value with a default. The default replaces null, unless the schema allows
 * null.
 */
function withDefault(schema: Schema, defaultValue: Json | null | undefined): Schema {
  return defaultValue === undefined || defaultValue === null || schema.nullable
    ? schema
    : { ...schema, ifNull: defaultValue }
}

/** Returns a copy of the schema in which objects, including those in lists, keep unknown fields. */
function opened(schema: Schema): Schema {
  switch (schema.type) {
    case 'object':
      return { ...schema, open: true }
    case 'list':
      return { ...schema, items: opened(schema.items) }
    default:
      return schema
  }
}

function listKeys(schema: JsonObject, reader: Reader): string[] {
  return extension(schema, reader, 'list-map-keys') as string[]
}

function* readObject(schema: JsonObject, reader: Reader, path: FieldPath): Generator<void, Schema> {
  const others = schema.additionalProperties
  const atomic = extension(schema, reader, 'map-type') === 'atomic' ? { atomic: true } : {}
  // Any value is allowed here, but nested objects have no known fields.
  if (others === true) return { type: 'map', values: s.any({ granular: true, pruned: true }), ...atomic }
  if (isObject(others)) {
    const values = yield* readNode(others, reader, child(path, 'additionalProperties'))
    // As in kube-apiserver, this default is not validated itself, but the resulting object is.
    return { type: 'map', values: withDefault(values, others.default), ...atomic }
  }
  const open = extension(schema, reader, 'preserve-unknown-fields') === true ? { open: true } : {}
  const isWhole = extension(schema, reader, 'embedded-resource') === true
  const inner = isWhole ? { ...reader, whole: beginWhole } : reader
  const fields = yield* readFields((schema.properties ?? {}) as JsonObject, inner, child(path, 'properties'))
  const object: ObjectSchema = { type: 'object', fields, ...open, ...atomic }
  return isWhole ? embedded(object, schema.properties, reader) : object
}

/** Builds an embedded object with the given members and a placeholder type. */
const beginWhole: Surround = (members) => ({
  apiVersion: 'validation/v1',
  kind: 'Validation',
  ...(members as JsonObject),
})

/**
 * Returns the function that builds the embedded object around the member `name`. Returns undefined if the member's
 * default need not be validated as part of the object.
 */
function wholeAround({ whole }: Reader, name: string): Surround | undefined {
  if (whole === undefined) return undefined
  if (whole === beginWhole && !['apiVersion', 'kind', 'metadata'].includes(name)) return undefined
  return (value) => whole({ [name]: value })
}

function* readFields(properties: JsonObject, outer: Reader, path: FieldPath): Generator<void, Fields> {
  const fields: [string, Field][] = []
  for (const [name, inner] of Object.entries(properties)) {
    const place = at(path, name)
    const reader = { ...outer, whole: wholeAround(outer, name) }
    const schema = yield* readNode(inner as JsonObject, reader, place)
    const defaultValue = defaultOf(inner as JsonObject, schema, reader, place)
    fields.push([
      name,
      defaultValue === undefined ? plainField(schema) : field(0, schema, { zeroValue: 'keep', default: defaultValue }),
    ])
  }
  return Object.fromEntries(fields)
}

/**
 * Returns the default of a node, and adds an error if the default does not match the schema. A null default counts as
 * no default.
 */
function defaultOf(json: JsonObject, schema: Schema, reader: Reader, path: FieldPath): Json | undefined {
  const value = json.default
  if (value === undefined || value === null) return undefined
  reader.faults.push(...unfit(schema, { value, place: child(path, 'default') }, reader))
  return value
}

/**
 * Validates a default against its schema. If the default contains an invalid embedded object, reports only that error.
 */
function unfit(schema: Schema, { value, place }: { value: Json; place: FieldPath }, reader: Reader): FieldError[] {
  const { isNew } = reader
  const whole = isNew ? reader.whole?.(value) : undefined
  const isKnown = whole !== undefined || decode(schema, withoutInnerMetadata(schema, value)).unknown.length === 0
  const inner =
    whole !== undefined ? unfitPart(whole, value, place) : isNew ? rawEmbeddedFaults(schema, value, place) : []
  const nodeProps = inner.length > 0 ? [] : validate(schema, value, reader.context)
  return [
    ...(isKnown ? [] : [invalid(place, value, 'must not have unknown fields')]),
    ...inner,
    ...nodeProps.map((fault) => ({ ...fault, path: below(place, fault.path) })),
  ]
}

/**
 * Validates a default inside the metadata of an embedded object. The embedded object must be valid with the default.
 */
function unfitPart(whole: JsonObject, value: Json, place: FieldPath): FieldError[] {
  const faults = rawObjectFaults(whole, '')
  if (faults.length === 0) return []
  const why = faults.map(({ path, text }) => `${path}: ${text}`).join(', ')
  return [invalid(place, value, `must result in valid metadata: ${why}`)]
}

/** Returns the path of a value inside a default. List elements have the path of their list. */
function below(place: FieldPath, path: FieldPath): FieldPath {
  return path === '' || path === nowhere || path.startsWith('[') ? place : child(place, path)
}

/**
 * Returns the schema of an embedded object, which has its own apiVersion, kind and metadata. The user's schema may
 * restrict them further.
 */
function embedded(schema: ObjectSchema, properties: Json | undefined, reader: Reader): ObjectSchema {
  const { apiVersion = typeMeta.apiVersion, kind = typeMeta.kind, metadata, ...fields } = schema.fields
  const nodeProps = isObject(properties) ? properties.metadata : undefined
  const described =
    metadata && isObject(nodeProps) ? withRules(metadata.schema, deepRule(nodeProps, reader)) : objectMeta
  const whole = field(1, described, defined({ default: metadata?.default }))
  return { ...schema, embedded: true, fields: { ...fields, apiVersion, kind, metadata: whole } }
}

/** Returns the schema for metadata, with the defaults and rules that the user's schema adds. */
function withRules(nodeProps: Schema, check: ObjectSchema['check']): ObjectSchema {
  const presets = nodeProps.type === 'object' ? nodeProps.fields : {}
  const fields = Object.entries(objectMeta.fields).map(([name, each]): [string, Field] => {
    const preset = Object.hasOwn(presets, name) ? presets[name]?.default : undefined
    return [name, preset === undefined ? each : { ...each, default: preset }]
  })
  return { ...objectMeta, fields: Object.fromEntries(fields), ...defined({ check }) }
}
