/**
 * Converts the JSON of a request to a complete object (api/schema/normalize.ts) of the kind in the path. The JSON is a
 * request body or the result of a patch or apply. Unknown fields are rejected, reported as warnings or ignored,
 * depending on `fieldValidation`.
 */

import { startOfJson } from '../../../api/codec/json.ts'
import type { DocumentType } from '../../../api/codec/protobuf/envelope.ts'
import { isObject, type Json, type JsonObject, own, typeName } from '../../../api/json/json.ts'
import { invalidPatch, patchFault } from '../../../api/merge/patch-faults.ts'
import { ApiError, badRequest, invalidObject } from '../../../api/model/api-error.ts'
import { invalid, maxReportedErrors } from '../../../api/model/field-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { groupOfOtherProfile, profileHint } from '../../../api/model/vendor.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import { decode } from '../../../api/schema/decode.ts'
import { firstMisfit } from '../../../api/schema/matches-type.ts'
import { type Normalized, normalizeSliced } from '../../../api/schema/normalize.ts'
import type { Availability } from '../../../api/versions/availability.ts'
import { type EmulatedVersion, isAtLeast } from '../../../api/versions/emulated-version.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import { type BodyType, mediaType, readContent } from './content.ts'
import type { Exchange } from './exchange.ts'
import { type FieldFault, inDocumentOrder } from './fault-order.ts'
import { fieldValidation } from './write-options.ts'

/**
 * Reads and decodes the body of a create or update. `others` are additional versions of the kind that clients may send.
 */
export async function readObjectBody(
  exchange: Exchange,
  preferred: Served,
  others: readonly Served[] = [],
): Promise<ApiObject> {
  const { value, duplicates } = await readContent(exchange, bodyTypeOf(preferred, others)).catch((error) => {
    throw isUnreadable(exchange, error) ? unrecognized(preferred, error.message) : error
  })
  await exchange.timeSlice.yieldIfDue()
  const resource = others.find((other) => isOfKind(other, value ?? {})) ?? preferred
  const completed = await exchange.timeSlice.run(normalizeSliced(resource, withType(resource, value ?? {})))
  const unknown = unknownFaults(completed, resource)
  reportFields(exchange, inDocumentOrder(value ?? {}, unknown, duplicateFaults(duplicates)), badRequest)
  return accept(exchange, completed)
}

/**
 * Whether the error means that not even the type of the body could be read. A Protobuf body names its type in an
 * envelope that is decoded first.
 */
function isUnreadable(exchange: Exchange, error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 400 && !mediaType(exchange).endsWith('protobuf')
}

/**
 * Returns the error for a body whose type cannot be read. Clients match the error text, so it is the same as in
 * kube-apiserver.
 */
function unrecognized({ kind }: Served, why: string): ApiError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: ${why}`,
  )
}

/**
 * Converts the result of a patch to a complete object. `faults` contains the unknown and duplicate fields of the patch
 * itself.
 */
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
  const completed = await exchange.timeSlice.run(normalizeSliced(resource, value)).catch((error) => {
    throw patchFault(error)
  })
  reportFields(exchange, [...faults, ...unknownFields(completed, resource)], invalidPatch)
  return accept(exchange, completed)
}

/**
 * Converts the result of an apply to a complete object. Unknown fields are errors because an applied field is always
 * intentional.
 */
export async function readApplied(exchange: Exchange, resource: Served, value: JsonObject): Promise<ApiObject> {
  if (!isOfKind(resource, value)) throw otherKind(resource, value)
  const completed = await exchange.timeSlice.run(normalizeSliced(resource, value, { keepsNull: true }))
  const faults = unknownFields(completed, resource)
  if (faults.length > 0) throw badRequest(`the configuration is invalid: ${faults.join(', ')}`)
  return accept(exchange, completed)
}

/**
 * Validates the parts of an applied custom object that this path cannot change, such as its status. Merging ignores
 * these parts, but they must still match the schema. For built-in kinds, these parts are not validated.
 */
export function assertAppliedFits({ kind, vendor }: Served, config: Json, parts: readonly string[]): void {
  if (!isObject(config)) return
  const presentParts = parts.filter(
    (name) => Object.hasOwn(kind.schema.fields, name) && own(config, name) !== undefined,
  )
  for (const name of presentParts) {
    const { schema } = kind.schema.fields[name]!
    if (!schema.lenient) continue
    const { unknown } = decode(schema, own(config, name)!, { vendor })
    if (unknown.length > 0) throw badRequest(`the configuration is invalid: unknown field "${name}.${unknown[0]}"`)
    const misfit = firstMisfit(schema, own(config, name)!, name)
    if (misfit !== undefined) throw badRequest(`the configuration is invalid: ${misfit} has the wrong type`)
  }
}

function accept(exchange: Exchange, { object, ownersRepeated }: Normalized): ApiObject {
  if (ownersRepeated) exchange.warn('.metadata.ownerReferences contains duplicate entries; they are stored once')
  return object
}

/**
 * Returns the types that a request body may have. The envelope of a Protobuf body selects the schema, so that no body
 * is decoded as another type.
 */
function bodyTypeOf(preferred: Served, others: readonly Served[]): BodyType {
  const { vendor, hasProtobuf } = preferred
  const schemaOf = (sent: DocumentType) => {
    const resource = others.find((other) => isOfKind(other, { ...sent })) ?? preferred
    assertTypeMetaMatches(resource, { ...sent })
    return resource.kind.schema
  }
  return { vendor, hasProtobuf, schemaOf, mergesObjects: preferred.kind.origin === 'built-in' }
}

/**
 * Checks that the body has the kind that the path specifies. For built-in kinds, a missing apiVersion or kind is taken
 * from the path. Custom resources must set both.
 */
function withType(resource: Served, value: Json): JsonObject {
  if (!isObject(value)) throw unrecognized(resource, `the body must be a JSON object, not ${typeName(value)}`)
  const expectedType = { apiVersion: resource.apiVersion, kind: resource.kind.kind }
  assertTypeMetaMatches(resource, value)
  if (resource.kind.origin === 'custom') assertTypeMetaPresent(resource, value)
  // Modify the body in place. Nothing else uses it, and copying an object with very many fields is slow.
  return Object.assign(value, expectedType)
}

function assertTypeMetaMatches(resource: Served, value: JsonObject): void {
  for (const name of ['apiVersion', 'kind'] as const)
    if (typeof (own(value, name) ?? '') !== 'string')
      throw unrecognized(resource, `${name}: expected string, got ${typeName(own(value, name))}`)
  const sentType = {
    apiVersion: typeText(value, 'apiVersion') || resource.apiVersion,
    kind: typeText(value, 'kind') || resource.kind.kind,
  }
  if (!isOfKind(resource, sentType)) throw otherKind(resource, Object.assign(value, sentType))
}

const shownOfBody = 100

/** Throws an error unless the body sets its apiVersion and kind. Clients match the text of the error. */
function assertTypeMetaPresent({ kind }: Served, value: JsonObject): void {
  for (const [name, title] of [
    ['kind', 'Kind'],
    ['apiVersion', 'apiVersion'],
  ] as const) {
    if (typeText(value, name) !== '') continue
    const shown = shorten(startOfJson(value, shownOfBody), shownOfBody)
    const why = `Object '${title}' is missing in '${shown}'`
    throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${why}`)
  }
}

/** Throws an error unless an applied configuration sets its kind. The merge checks the version. */
export function assertAppliedKind(resource: Served, config: Json): void {
  if (!isObject(config) || own(config, 'kind') === resource.kind.kind) return
  throw otherKind(resource, { apiVersion: resource.apiVersion, kind: typeText(config, 'kind') })
}

function otherKind({ apiVersion, kind, group, vendor }: Served, sentType: JsonObject): Error {
  const sentKind = typeText(sentType, 'kind')
  const sentVersion = typeText(sentType, 'apiVersion')
  if (kind.origin === 'custom' && sentVersion === apiVersion)
    return invalidObject({ group, kind: sentKind }, nameIn(sentType), [
      invalid('kind', sentKind, `must be ${kind.kind}`),
    ])
  const mismatch = `the object provided is of kind ${JSON.stringify(shorten(sentKind, 100))} in ${JSON.stringify(shorten(sentVersion, 100))}, but this path requires ${kind.kind} in ${apiVersion}`
  const other = groupOfOtherProfile(vendor, sentVersion.slice(0, Math.max(sentVersion.indexOf('/'), 0)))
  return badRequest(other?.group === group ? `${mismatch}: ${profileHint(vendor, other)}` : mismatch)
}

function nameIn({ metadata }: JsonObject): string {
  const name = isObject(metadata) ? own(metadata, 'name') : undefined
  return typeof name === 'string' ? name : ''
}

function typeText(value: JsonObject, name: 'kind' | 'apiVersion'): string {
  const text = own(value, name) ?? ''
  if (typeof text !== 'string') throw badRequest(`${name}: expected string, got ${typeName(text)}`)
  return text
}

function isOfKind(resource: Served, value: Json): value is JsonObject {
  return isObject(value) && value.apiVersion === resource.apiVersion && value.kind === resource.kind.kind
}

const maxPathLength = 500

function unknownFields(completed: Normalized, resource: Served): string[] {
  return unknownFaults(completed, resource).map(({ message }) => message)
}

function unknownFaults({ unknown, otherVersions }: Normalized, { context }: Served): FieldFault[] {
  return unknown.slice(0, maxReportedErrors).map((path) => {
    const other = otherVersions?.get(path)
    const hint = other === undefined ? '' : otherVersionHint(other, emulationOf(context).version)
    return { path, message: `unknown field "${shorten(path, maxPathLength)}"${hint}` }
  })
}

/** Returns a hint that names the Kubernetes version in which the field exists. The wording follows kube-apiserver. */
function otherVersionHint({ since, until }: Availability, version: EmulatedVersion): string {
  const isLater = since !== undefined && !isAtLeast(version, since)
  return ` (${isLater ? `exists since ${since}` : `removed in ${until}`}; this server emulates ${version})`
}

/** Returns error texts for fields that occur twice in the document. */
export function duplicateFields(paths: readonly string[]): string[] {
  return duplicateFaults(paths).map(({ message }) => message)
}

function duplicateFaults(paths: readonly string[]): FieldFault[] {
  return paths
    .slice(0, maxReportedErrors)
    .map((path) => ({ path, message: `duplicate field "${shorten(path, maxPathLength)}"` }))
}

/**
 * Handles unknown and duplicate fields according to the `fieldValidation` parameter: throws the error that `refuse`
 * returns, adds warnings, or does nothing.
 */
export function reportFields(exchange: Exchange, faults: readonly string[], refuse: (why: string) => Error): void {
  if (faults.length === 0) return
  const mode = fieldValidation(exchange.info.query)
  if (mode === 'Strict') throw refuse(`strict decoding error: ${faults.join(', ')}`)
  if (mode === 'Warn') for (const fault of faults) exchange.warn(fault)
}
