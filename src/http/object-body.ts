/**
 * From a request's body to an object of the resource's kind: decoded, checked against the schema, defaulted.
 * Fields that the kind does not have are refused, warned of or ignored, as `fieldValidation` says.
 */
import { parseJson } from '../codec/json.ts'
import { badRequest, unsupportedMediaType } from '../model/api-error.ts'
import { maxTold } from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own, typeName } from '../model/json.ts'
import { type ApiObject, asJson, asObject } from '../model/object.ts'
import type { Resource } from '../registry/resource.ts'
import { decode } from '../schema/decode.ts'
import { fillDefaults } from '../schema/defaults.ts'
import { readBody } from './body.ts'
import type { Exchange } from './exchange.ts'
import { fieldValidation } from './write-options.ts'

export async function readObjectBody(exchange: Exchange, resource: Resource): Promise<ApiObject> {
  assertJson(exchange)
  const { value, duplicates } = parseJson(await readBody(exchange))
  return decodeObject(exchange, resource, { value, duplicates })
}

/** A value as an object of the kind. `duplicates` are keys that its text held twice. */
export function decodeObject(
  exchange: Exchange,
  resource: Resource,
  { value, duplicates }: { value: Json; duplicates: readonly string[] },
): ApiObject {
  const typed = withType(resource, value)
  const { value: decoded, unknown } = decode(resource.kind.schema, typed)
  reportFields(exchange, unknown, duplicates)
  const object = asObject(decoded)
  fillDefaults(resource.kind.schema, asJson(object))
  resource.kind.fillDefaults?.(object, resource.context)
  return object
}

function assertJson(exchange: Exchange): void {
  const type = exchange.headers.one('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type === undefined || type === '' || type === 'application/json') return
  throw unsupportedMediaType(
    `the body of the request was in an unknown format (${type.slice(0, 100)}): accepted media types include: application/json`,
  )
}

/** The body must be of the kind that the path names; where it does not say, the path decides. */
function withType(resource: Resource, value: Json): JsonObject {
  if (!isObject(value)) throw badRequest('the body must be a JSON object')
  const wanted = { apiVersion: resource.apiVersion, kind: resource.kind.kind }
  const kind = typeText(value, 'kind')
  const apiVersion = typeText(value, 'apiVersion')
  if ((kind !== '' && kind !== wanted.kind) || (apiVersion !== '' && apiVersion !== wanted.apiVersion)) {
    throw badRequest(
      `the object provided is of kind ${kind.slice(0, 100)} in ${apiVersion.slice(0, 100)}, this path takes ${wanted.kind} in ${wanted.apiVersion}`,
    )
  }
  return { ...value, ...wanted }
}

function typeText(value: JsonObject, name: 'kind' | 'apiVersion'): string {
  const text = own(value, name) ?? ''
  if (typeof text !== 'string') throw badRequest(`${name}: expected string, got ${typeName(text)}`)
  return text
}

const longestPath = 500

function reportFields(exchange: Exchange, unknown: readonly string[], duplicates: readonly string[]): void {
  if (unknown.length === 0 && duplicates.length === 0) return
  const mode = fieldValidation(exchange.info.query)
  if (mode === 'Ignore') return
  const faults = [
    ...unknown.slice(0, maxTold).map((path) => `unknown field "${path.slice(0, longestPath)}"`),
    ...duplicates.slice(0, maxTold).map((path) => `duplicate field "${path.slice(0, longestPath)}"`),
  ]
  if (mode === 'Strict') throw badRequest(`strict decoding error: ${faults.join(', ')}`)
  for (const fault of faults) exchange.warn(fault)
}
