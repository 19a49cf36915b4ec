/**
 * Publishes the schema of a custom kind as OpenAPI: the author's schema plus the apiVersion, kind and metadata that
 * every object has. OpenAPI v3 contains the complete schema. OpenAPI v2 cannot express some keywords, and older kubectl
 * versions reject unknown keywords, so the schema is reduced as in kube-apiserver 1.23:
 *
 * - Logic keywords and defaults are omitted.
 * - A nullable field accepts any value: its schema has no type and no members, and the field is never required.
 * - A schema that preserves unknown fields accepts any value: it has no type and no members. At the root, it is an
 *   object without further description.
 */

import { parseOwnJson } from '../../../api/codec/json.ts'
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { objectMeta } from '../../../api/schema/object-meta.ts'
import { field, type Publish, type Publishing } from '../../../api/schema/schema.ts'
import { typeMeta } from '../../../api/schema/type-meta.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'

const metaFields = {
  apiVersion: typeMeta.apiVersion,
  kind: typeMeta.kind,
  metadata: field(1, objectMeta, { doc: 'Standard object metadata, such as the name and labels.' }),
}

/**
 * Returns a function that writes the schema. Until the first call, the schema is stored as text, because users request
 * the schemas of only a few kinds.
 */
export function publishedSchema(text: Buffer, prefix: string, selectable: readonly string[]): Publish {
  return (publishing) => {
    const { version } = publishing
    const root = parseOwnJson(text) as JsonObject
    const words = { prefix, publishing }
    if (version === 2 && root[`${prefix}preserve-unknown-fields`] === true) return { type: 'object' }
    const written = write(root, words)
    const { apiVersion, kind, metadata } = metaProperties(publishing)
    const fields = selectable.map((fieldPath) => ({ fieldPath }))
    return {
      ...written,
      properties: { ...(written.properties as JsonObject), apiVersion, kind, metadata },
      ...(version === 3 && fields.length > 0 && { [`${prefix}selectable-fields`]: fields }),
    }
  }
}

function metaProperties({ writeField }: Publishing): { [name in keyof typeof metaFields]: JsonObject } {
  return {
    apiVersion: writeField(metaFields.apiVersion),
    kind: writeField(metaFields.kind),
    metadata: writeField(metaFields.metadata),
  }
}

interface Words {
  readonly prefix: string
  readonly publishing: Publishing
}

const values = [
  ...['type', 'format', 'title', 'description', 'default', 'pattern', 'nullable', 'uniqueItems', 'enum', 'required'],
  ...['maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'multipleOf', 'maxLength', 'minLength'],
  ...['maxItems', 'minItems', 'maxProperties', 'minProperties'],
]
const extensions = [
  'preserve-unknown-fields',
  'embedded-resource',
  'int-or-string',
  'list-map-keys',
  'list-type',
  'map-type',
]
const logic = ['allOf', 'anyOf', 'oneOf']

/** Whether a keyword's value means the same as omitting the keyword. */
function saysNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || value === false || value === '' || isEmptyList(value)
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0
}

function write(schema: JsonObject, words: Words): JsonObject {
  const { prefix, publishing } = words
  const reduced = publishing.version === 2 ? reduce(schema, prefix) : schema
  const keywords = [...values, ...extensions.map((name) => `${prefix}${name}`)]
  const logicKeywords = keywords.filter((keyword) => keyword === 'default' || !saysNothing(own(reduced, keyword)))
  const written = Object.fromEntries(logicKeywords.map((keyword) => [keyword, own(reduced, keyword)!]))
  if (written.default == null) delete written.default
  Object.assign(written, publishing.version === 2 ? {} : writeLogic(schema, words), writeBelow(reduced, words))
  if (isEitherType(schema, words)) written.anyOf = [{ type: 'integer' }, { type: 'string' }]
  return isEmbedded(schema, words) ? withMetadata(written, publishing) : written
}

function writeBelow({ properties, items, additionalProperties }: JsonObject, words: Words): JsonObject {
  const members = isObject(properties) ? Object.entries(properties) : []
  return {
    ...(members.length > 0 && {
      properties: Object.fromEntries(members.map(([name, inner]) => [name, write(inner as JsonObject, words)])),
    }),
    ...(isObject(items) && { items: write(items, words) }),
    ...(additionalProperties === true && { additionalProperties }),
    ...(isObject(additionalProperties) && { additionalProperties: write(additionalProperties, words) }),
  }
}

/** Writes the logic keywords and CEL rules, which only OpenAPI v3 has. */
function writeLogic(schema: JsonObject, words: Words): JsonObject {
  const rules = `${words.prefix}validations`
  const logicKeywords = logic.filter((keyword) => !saysNothing(own(schema, keyword)))
  return {
    ...Object.fromEntries(
      logicKeywords.map((keyword) => [keyword, (schema[keyword] as JsonObject[]).map((inner) => write(inner, words))]),
    ),
    ...(isObject(schema.not) && { not: write(schema.not, words) }),
    ...(!saysNothing(own(schema, rules)) && { [rules]: schema[rules]! }),
  }
}

/** Returns the part of a schema that OpenAPI v2 can express. */
function reduce(schema: JsonObject, prefix: string): JsonObject {
  const isOpen = schema[`${prefix}preserve-unknown-fields`] === true
  const { nullable, type, items, properties, required, additionalProperties, default: _, ...rest } = schema
  const hides = nullable === true || isOpen
  const hasType = nullable !== true && !(isOpen && type === 'object') && (type !== 'array' || (items != null && !hides))
  const needed = requiredIn2({ required: required!, properties: hides ? {} : properties!, additionalProperties })
  return {
    ...rest,
    ...(hasType && { type: type! }),
    ...(needed && { required: needed }),
    ...(hides ? {} : { items: items!, properties: properties! }),
    additionalProperties: additionalProperties!,
  }
}

/**
 * Returns the required members in OpenAPI v2. Nullable members are not required, because clients of OpenAPI v2 omit
 * null values.
 */
function requiredIn2({ required, properties, additionalProperties }: JsonObject): Json | undefined {
  if (isObject(additionalProperties) && additionalProperties.nullable === true) return undefined
  if (!Array.isArray(required) || !isObject(properties)) return required
  return required.filter((name) => {
    const member = own(properties, name as string)
    return !isObject(member) || member.nullable !== true
  })
}

/** Whether the types of an int-or-string are listed, as in Kubernetes 1.24 and later. */
function isEitherType(schema: JsonObject, { prefix, publishing: { version, emulated } }: Words): boolean {
  if (version !== 3 || !isAtLeast(emulated, '1.24')) return false
  return (
    schema[`${prefix}int-or-string`] === true && saysNothing(own(schema, 'anyOf')) && saysNothing(own(schema, 'allOf'))
  )
}

function isEmbedded(schema: JsonObject, { prefix, publishing }: Words): boolean {
  if (schema[`${prefix}embedded-resource`] !== true) return false
  return publishing.version === 3 || schema[`${prefix}preserve-unknown-fields`] !== true
}

function withMetadata(written: JsonObject, publishing: Publishing): JsonObject {
  const required = new Set([...((written.required ?? []) as string[]), 'kind', 'apiVersion'])
  const properties = { ...((written.properties ?? {}) as JsonObject), ...metaProperties(publishing) }
  return { ...written, required: [...required], properties }
}
