/**
 * From a JSON value to an object of the resource's kind: checked against the schema and defaulted. The value is a
 * request's body, or what a patch made of the stored object. Fields that the kind does not have are refused, warned
 * of or ignored, as `fieldValidation` says.
 */
import { shorten } from '../base/shorten.ts'
import { decodePatched, invalidPatch } from '../merge/patch-faults.ts'
import { badRequest } from '../model/api-error.ts'
import { maxTold } from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own, typeName } from '../model/json.ts'
import { type ApiObject, asJson, asObject } from '../model/object.ts'
import { uniqueOwners } from '../registry/metadata.ts'
import type { Served } from '../registry/served.ts'
import { type Decoded, decode } from '../schema/decode.ts'
import { fillDefaults } from '../schema/defaults.ts'
import { readContent } from './content.ts'
import type { Exchange } from './exchange.ts'
import { fieldValidation } from './write-options.ts'

export async function readObjectBody(exchange: Exchange, resource: Served): Promise<ApiObject> {
  const { value, duplicates } = await readContent(exchange)
  await exchange.pace.rest()
  const decoded = decode(resource.kind.schema, withType(resource, value ?? {}))
  reportFields(exchange, [...unknownFields(decoded), ...duplicateFields(duplicates)], badRequest)
  return await complete(exchange, resource, decoded)
}

/** What a patch made. `faults` are what the patch itself holds that nobody knows. */
export async function readPatched(
  exchange: Exchange,
  resource: Served,
  value: Json,
  faults: readonly string[],
): Promise<ApiObject> {
  if (!isOfKind(resource, value))
    throw invalidPatch(
      `a patch cannot change the kind or version: this is a ${resource.kind.kind} in ${resource.apiVersion}`,
    )
  const decoded = decodePatched(resource.kind.schema, value)
  reportFields(exchange, [...faults, ...unknownFields(decoded)], invalidPatch)
  return await complete(exchange, resource, decoded)
}

/** What an apply made. A field that nobody knows is an error: what is applied is meant. */
export async function readApplied(exchange: Exchange, resource: Served, value: JsonObject): Promise<ApiObject> {
  if (!isOfKind(resource, value)) throw otherKind(resource, value)
  const decoded = decode(resource.kind.schema, value)
  const faults = unknownFields(decoded)
  if (faults.length > 0) throw badRequest(`the configuration does not fit: ${faults.join(', ')}`)
  return await complete(exchange, resource, decoded)
}

async function complete(exchange: Exchange, resource: Served, { value }: Decoded): Promise<ApiObject> {
  await exchange.pace.rest()
  const object = withUniqueOwners(exchange, asObject(value))
  fillDefaults(resource.kind.schema, asJson(object), resource.context)
  await exchange.pace.rest()
  resource.kind.rules.fillDefaults?.(object, resource.context)
  return object
}

/** The body must be of the kind that the path names; where it does not say, the path decides. */
function withType(resource: Served, value: Json): JsonObject {
  if (!isObject(value)) throw badRequest('the body must be a JSON object')
  const wanted = { apiVersion: resource.apiVersion, kind: resource.kind.kind }
  const said = {
    apiVersion: typeText(value, 'apiVersion') || wanted.apiVersion,
    kind: typeText(value, 'kind') || wanted.kind,
  }
  if (!isOfKind(resource, said)) throw otherKind(resource, said)
  // The body is nobody else's, and a copy of one with very many fields would take long.
  return Object.assign(value, wanted)
}

/** What is applied must say its kind itself; its version is looked at where it is merged. */
export function assertAppliedKind(resource: Served, config: Json): void {
  if (!isObject(config) || own(config, 'kind') === resource.kind.kind) return
  throw otherKind(resource, { apiVersion: resource.apiVersion, kind: typeText(config, 'kind') })
}

function otherKind({ apiVersion, kind }: Served, said: JsonObject): Error {
  const [sentKind, sentVersion] = [typeText(said, 'kind'), typeText(said, 'apiVersion')]
  return badRequest(
    `the object provided is of kind ${JSON.stringify(shorten(sentKind, 100))} in ${JSON.stringify(shorten(sentVersion, 100))}, this path takes ${kind.kind} in ${apiVersion}`,
  )
}

function typeText(value: JsonObject, name: 'kind' | 'apiVersion'): string {
  const text = own(value, name) ?? ''
  if (typeof text !== 'string') throw badRequest(`${name}: expected string, got ${typeName(text)}`)
  return text
}

function isOfKind(resource: Served, value: Json): boolean {
  return isObject(value) && value.apiVersion === resource.apiVersion && value.kind === resource.kind.kind
}

function withUniqueOwners(exchange: Exchange, object: ApiObject): ApiObject {
  const owners = object.metadata.ownerReferences ?? []
  const unique = uniqueOwners(owners)
  if (unique.length === owners.length) return object
  exchange.warn('.metadata.ownerReferences contains duplicate entries; they are stored once')
  return { ...object, metadata: { ...object.metadata, ownerReferences: unique } }
}

const longestPath = 500

function unknownFields({ unknown }: Decoded): string[] {
  return unknown.slice(0, maxTold).map((path) => `unknown field "${shorten(path, longestPath)}"`)
}

export function duplicateFields(paths: readonly string[]): string[] {
  return paths.slice(0, maxTold).map((path) => `duplicate field "${shorten(path, longestPath)}"`)
}

export function reportFields(exchange: Exchange, faults: readonly string[], refuse: (why: string) => Error): void {
  if (faults.length === 0) return
  const mode = fieldValidation(exchange.info.query)
  if (mode === 'Strict') throw refuse(`strict decoding error: ${faults.join(', ')}`)
  if (mode === 'Warn') for (const fault of faults) exchange.warn(fault)
}
