/**
 * Extracts the paths and types of one version from a backend's OpenAPI v2 document. The document is untrusted: only
 * known keywords with values of the right type are copied, so that no backend can corrupt the merged document.
 */

import { isObject, type Json, type JsonObject } from '../../api/json/json.ts'
import type { PublishedParts } from '../http/openapi/aggregated-documents.ts'

/** Copies only those parts of a value that are known to be valid. Returns undefined to omit the value. */
type Clean = (value: Json) => Json | undefined

const text: Clean = (value) => (typeof value === 'string' ? value : undefined)
const flag: Clean = (value) => (typeof value === 'boolean' ? value : undefined)
const real: Clean = (value) => (typeof value === 'number' ? value : undefined)
const count: Clean = (value) => (Number.isSafeInteger(value) ? value : undefined)
const any: Clean = (value) => value
const listOf =
  (clean: Clean): Clean =>
  (value) =>
    Array.isArray(value) ? value.map(clean).filter((item) => item !== undefined) : undefined
const mapOf =
  (clean: Clean): Clean =>
  (value) =>
    isObject(value) ? Object.fromEntries(entriesOf(value, () => clean)) : undefined
/**
 * Returns a function that sanitizes an object. The function copies only known keywords, and all keywords that begin
 * with `x-` regardless of their values.
 */
const record =
  (words: { readonly [word: string]: Clean }): Clean =>
  (value) => {
    if (!isObject(value)) return undefined
    const cleanOf = (word: string) =>
      Object.hasOwn(words, word) ? words[word] : word.startsWith('x-') ? any : undefined
    return Object.fromEntries(entriesOf(value, cleanOf))
  }

function entriesOf(object: JsonObject, cleanOf: (key: string) => Clean | undefined): [string, Json][] {
  return Object.entries(object).flatMap(([key, value]) => {
    const clean = value === undefined ? undefined : cleanOf(key)?.(value)
    return clean === undefined ? [] : [[key, clean] as [string, Json]]
  })
}

const schema: Clean = (value) => cleanSchema(value)

const cleanSchema = record({
  $ref: text,
  format: text,
  title: text,
  description: text,
  pattern: text,
  type: text,
  default: any,
  multipleOf: real,
  maximum: real,
  minimum: real,
  exclusiveMaximum: flag,
  exclusiveMinimum: flag,
  maxLength: count,
  minLength: count,
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  maxProperties: count,
  minProperties: count,
  required: listOf(text),
  enum: listOf(any),
  items: schema,
  properties: mapOf(schema),
  additionalProperties: (value) => (typeof value === 'boolean' ? value : schema(value)),
})

const commonFields = { name: text, in: text, required: flag, description: text }
const parameterForms: { readonly [place: string]: Clean } = {
  body: record({ ...commonFields, schema }),
  query: record({ ...commonFields, type: text, format: text }),
  path: record({ ...commonFields, type: text, format: text }),
}

const parameters = listOf((value) => {
  const place = isObject(value) ? String(value.in) : ''
  return Object.hasOwn(parameterForms, place) ? parameterForms[place]!(value) : undefined
})

const operation = record({
  description: text,
  operationId: text,
  tags: listOf(text),
  schemes: listOf(text),
  consumes: listOf(text),
  produces: listOf(text),
  parameters,
  responses: mapOf(record({ description: text, schema })),
})

const pathItem = record({
  get: operation,
  put: operation,
  post: operation,
  delete: operation,
  patch: operation,
  parameters,
})

/** Returns the paths and types in the document that belong to a group version. */
export function partsOfDocument(
  document: Json,
  { group, version }: { group: string; version: string },
): PublishedParts {
  const { paths = {}, definitions = {} } = isObject(document) ? document : {}
  const root = `/apis/${group}/${version}`
  const isOwn = (path: string) => path === root || path.startsWith(`${root}/`)
  return {
    paths: isObject(paths) ? parts(paths, (path) => (isOwn(path) ? pathItem : undefined)) : [],
    types: isObject(definitions) ? parts(definitions, () => schema) : [],
  }
}

function parts(object: JsonObject, cleanOf: (key: string) => Clean | undefined): PublishedParts['types'] {
  return entriesOf(object, cleanOf).map(([name, value]) => [name, value as JsonObject])
}
