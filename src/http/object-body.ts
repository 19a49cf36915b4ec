/**
 * From a request's body to an object of the resource's kind: decoded, checked against the schema, defaulted.
 * Fields that the kind does not have are refused, warned of or ignored, as `fieldValidation` says.
 */
import { badRequest } from '../model/api-error.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { type ApiObject, asJson, asObject } from '../model/object.ts'
import { uniqueOwners } from '../registry/metadata.ts'
import type { Resource } from '../registry/resource.ts'
import { decode } from '../schema/decode.ts'
import { fillDefaults } from '../schema/defaults.ts'
import { readContent } from './content.ts'
import type { Exchange } from './exchange.ts'
import { fieldValidation } from './write-options.ts'

export async function readObjectBody(exchange: Exchange, resource: Resource): Promise<ApiObject> {
  const { value, duplicates } = await readContent(exchange)
  return decodeObject(exchange, resource, { value: value ?? {}, duplicates })
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
  const object = withUniqueOwners(exchange, asObject(decoded))
  fillDefaults(resource.kind.schema, asJson(object))
  resource.kind.fillDefaults?.(object, resource.context)
  return object
}

/** The body must be of the kind that the path names; where it does not say, the path decides. */
function withType(resource: Resource, value: Json): JsonObject {
  if (!isObject(value)) throw badRequest('the body must be a JSON object')
  const { apiVersion, kind } = value
  const wanted = { apiVersion: resource.apiVersion, kind: resource.kind.kind }
  if (
    (kind !== undefined && kind !== '' && kind !== wanted.kind) ||
    (apiVersion !== undefined && apiVersion !== '' && apiVersion !== wanted.apiVersion)
  ) {
    throw badRequest(
      `the object provided is of kind ${String(kind ?? '')} in ${String(apiVersion ?? '')}, this path takes ${wanted.kind} in ${wanted.apiVersion}`,
    )
  }
  return { ...value, ...wanted }
}

function withUniqueOwners(exchange: Exchange, object: ApiObject): ApiObject {
  const owners = object.metadata.ownerReferences ?? []
  const unique = uniqueOwners(owners)
  if (unique.length === owners.length) return object
  exchange.warn('.metadata.ownerReferences contains duplicate entries; they are stored once')
  return { ...object, metadata: { ...object.metadata, ownerReferences: unique } }
}

function reportFields(exchange: Exchange, unknown: readonly string[], duplicates: readonly string[]): void {
  if (unknown.length === 0 && duplicates.length === 0) return
  const mode = fieldValidation(exchange.info.query)
  if (mode === 'Ignore') return
  const faults = [
    ...unknown.map((path) => `unknown field "${path}"`),
    ...duplicates.map((path) => `duplicate field "${path}"`),
  ]
  if (mode === 'Strict') throw badRequest(`strict decoding error: ${faults.join(', ')}`)
  for (const fault of faults) exchange.warn(fault)
}
