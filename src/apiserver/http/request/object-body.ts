/**
 * From what a request sent to a complete object (api/schema/normalize.ts) of the kind that its path names. The JSON is the
 * body, or what a patch or an apply made of the stored object. Fields that the kind does not have are refused, warned
 * of or ignored, as `fieldValidation` says.
 */

import { startOfJson } from '../../../api/codec/json.ts'
import type { DocumentType } from '../../../api/codec/protobuf/envelope.ts'
import { isObject, type Json, type JsonObject, own, typeName } from '../../../api/json/json.ts'
import { invalidPatch, patchFault } from '../../../api/merge/patch-faults.ts'
import { ApiError, badRequest, invalidObject } from '../../../api/model/api-error.ts'
import { invalid, maxTold } from '../../../api/model/field-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { groupOfOtherProfile, profileHint } from '../../../api/model/vendor.ts'
import { decode } from '../../../api/schema/decode.ts'
import { firstMisfit } from '../../../api/schema/matches-type.ts'
import { type Normalized, normalizeSteps } from '../../../api/schema/normalize.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import { type BodyType, mediaType, readContent } from './content.ts'
import type { Exchange } from './exchange.ts'
import { fieldValidation } from './write-options.ts'

/** The body of a create or update. `others` are versions of the kind that may be sent instead. */
export async function readObjectBody(
  exchange: Exchange,
  preferred: Served,
  others: readonly Served[] = [],
): Promise<ApiObject> {
  const { value, duplicates } = await readContent(exchange, bodyTypeOf(preferred, others)).catch((error) => {
    throw isUnreadable(exchange, error) ? unrecognized(preferred, error.message) : error
  })
  await exchange.pace.yieldIfDue()
  const resource = others.find((other) => isOfKind(other, value ?? {})) ?? preferred
  const completed = await exchange.pace.run(normalizeSteps(resource, withType(resource, value ?? {})))
  reportFields(exchange, [...unknownFields(completed), ...duplicateFields(duplicates)], badRequest)
  return accept(exchange, completed)
}

/** A document that could not be parsed; in Protobuf it says its type before anything else. */
function isUnreadable(exchange: Exchange, error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 400 && !mediaType(exchange).endsWith('protobuf')
}

/** Clients look for these words, which are those of the reference. */
function unrecognized({ kind }: Served, why: string): ApiError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: ${why}`,
  )
}

/** What a patch made. `faults` are the unknown and repeated fields of the patch itself. */
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
  const completed = await exchange.pace.run(normalizeSteps(resource, value)).catch((error) => {
    throw patchFault(error)
  })
  reportFields(exchange, [...faults, ...unknownFields(completed)], invalidPatch)
  return accept(exchange, completed)
}

/** What an apply made. An unknown field is an error: an applied field is always intended. */
export async function readApplied(exchange: Exchange, resource: Served, value: JsonObject): Promise<ApiObject> {
  if (!isOfKind(resource, value)) throw otherKind(resource, value)
  const completed = await exchange.pace.run(normalizeSteps(resource, value, { keepsNull: true }))
  const faults = unknownFields(completed)
  if (faults.length > 0) throw badRequest(`the configuration does not fit: ${faults.join(', ')}`)
  return accept(exchange, completed)
}

/**
 * What is applied fits a custom kind as a whole, also in those parts that this path cannot set, and that are therefore
 * not among what is merged. Those of a built-in kind are ignored, whatever they hold.
 */
export function assertAppliedFits({ kind, vendor }: Served, config: Json, parts: readonly string[]): void {
  if (!isObject(config)) return
  const stated = parts.filter((name) => Object.hasOwn(kind.schema.fields, name) && own(config, name) !== undefined)
  for (const name of stated) {
    const { schema } = kind.schema.fields[name]!
    if (!schema.lenient) continue
    const { unknown } = decode(schema, own(config, name)!, { vendor })
    if (unknown.length > 0) throw badRequest(`the configuration does not fit: unknown field "${name}.${unknown[0]}"`)
    const misfit = firstMisfit(schema, own(config, name)!, name)
    if (misfit !== undefined) throw badRequest(`the configuration does not fit: ${misfit} is of another type`)
  }
}

function accept(exchange: Exchange, { object, ownersRepeated }: Normalized): ApiObject {
  if (ownersRepeated) exchange.warn('.metadata.ownerReferences contains duplicate entries; they are stored once')
  return object
}

/** In Protobuf the envelope says what the body is: nothing in it is read as another type. */
function bodyTypeOf(preferred: Served, others: readonly Served[]): BodyType {
  const { vendor, hasProtobuf } = preferred
  const schemaOf = (sent: DocumentType) => {
    const resource = others.find((other) => isOfKind(other, { ...sent })) ?? preferred
    assertSaid(resource, { ...sent })
    return resource.kind.schema
  }
  return { vendor, hasProtobuf, schemaOf }
}

/**
 * The body must be of the kind that the path names. Where it does not say, the path decides, but for the kinds that users
 * define: their objects say what they are.
 */
function withType(resource: Served, value: Json): JsonObject {
  if (!isObject(value)) throw unrecognized(resource, `the body must be a JSON object, not ${typeName(value)}`)
  const wanted = { apiVersion: resource.apiVersion, kind: resource.kind.kind }
  assertSaid(resource, value)
  if (resource.kind.origin === 'custom') assertSays(resource, value)
  // The body is nobody else's, and a copy of one with very many fields would take long.
  return Object.assign(value, wanted)
}

function assertSaid(resource: Served, value: JsonObject): void {
  for (const name of ['apiVersion', 'kind'] as const)
    if (typeof (own(value, name) ?? '') !== 'string')
      throw unrecognized(resource, `${name}: expected string, got ${typeName(own(value, name))}`)
  const said = {
    apiVersion: typeText(value, 'apiVersion') || resource.apiVersion,
    kind: typeText(value, 'kind') || resource.kind.kind,
  }
  if (!isOfKind(resource, said)) throw otherKind(resource, Object.assign(value, said))
}

const shownOfBody = 100

/** Clients look for these words, too. */
function assertSays({ kind }: Served, value: JsonObject): void {
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

/** What is applied must say its kind itself; its version is looked at where it is merged. */
export function assertAppliedKind(resource: Served, config: Json): void {
  if (!isObject(config) || own(config, 'kind') === resource.kind.kind) return
  throw otherKind(resource, { apiVersion: resource.apiVersion, kind: typeText(config, 'kind') })
}

function otherKind({ apiVersion, kind, group, vendor }: Served, said: JsonObject): Error {
  const [sentKind, sentVersion] = [typeText(said, 'kind'), typeText(said, 'apiVersion')]
  if (kind.origin === 'custom' && sentVersion === apiVersion)
    return invalidObject({ group, kind: sentKind }, nameIn(said), [invalid('kind', sentKind, `must be ${kind.kind}`)])
  const told = `the object provided is of kind ${JSON.stringify(shorten(sentKind, 100))} in ${JSON.stringify(shorten(sentVersion, 100))}, this path takes ${kind.kind} in ${apiVersion}`
  const other = groupOfOtherProfile(vendor, sentVersion.slice(0, Math.max(sentVersion.indexOf('/'), 0)))
  return badRequest(other?.group === group ? `${told}: ${profileHint(vendor, other)}` : told)
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

function unknownFields({ unknown }: Pick<Normalized, 'unknown'>): string[] {
  return unknown.slice(0, maxTold).map((path) => `unknown field "${shorten(path, maxPathLength)}"`)
}

/** Fields that a document names twice, in the words of a fault. */
export function duplicateFields(paths: readonly string[]): string[] {
  return paths.slice(0, maxTold).map((path) => `duplicate field "${shorten(path, maxPathLength)}"`)
}

/** Refuses the request, warns, or says nothing, as `fieldValidation` wants; `refuse` makes the error. */
export function reportFields(exchange: Exchange, faults: readonly string[], refuse: (why: string) => Error): void {
  if (faults.length === 0) return
  const mode = fieldValidation(exchange.info.query)
  if (mode === 'Strict') throw refuse(`strict decoding error: ${faults.join(', ')}`)
  if (mode === 'Warn') for (const fault of faults) exchange.warn(fault)
}
