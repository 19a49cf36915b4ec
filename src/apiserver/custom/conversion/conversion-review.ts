/**
 * Writes ConversionReview requests and validates the responses of conversion webhooks, according to the rules of
 * kube-apiserver 1.23. The response must have the same number of objects in the same order, each with the desired
 * version and the same kind, name, namespace and uid. A webhook may change only labels and annotations in the metadata.
 * All other metadata is restored.
 */
import { isDeepStrictEqual } from 'node:util'
import { parseSliced, stringifyJson } from '../../../api/codec/json.ts'
import { isObject, type Json, type JsonObject, own, typeName } from '../../../api/json/json.ts'
import { summary } from '../../../api/model/field-error.ts'
import { maxValues } from '../../../api/model/limits.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import { checkAnnotations, checkLabels } from '../../../api/selectors/label-rules.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { CallError } from '../../../wire/http/client/call-error.ts'
import type { HttpsAnswer } from '../../outbound/https-caller.ts'
import { assertFewValues } from '../../outbound/json-effort.ts'
import { ConversionFailed } from '../../registry/reads/conversion-failed.ts'

export interface Review {
  readonly vendor: Vendor
  /** The API version of ConversionReview. */
  readonly version: string
  readonly uid: string
  /** The desired version of the objects. */
  readonly apiVersion: string
  readonly objects: readonly JsonObject[]
}

export function writeReview({ vendor, version, uid, apiVersion, objects }: Review): string {
  const type = { kind: 'ConversionReview', apiVersion: apiVersionOf(vendor, 'apiextensions', version) }
  return stringifyJson({ ...type, request: { uid, desiredAPIVersion: apiVersion, objects: [...objects] } })
}

/**
 * Returns the converted objects. Throws CallError if the response is malformed, and ConversionFailed if an object is
 * invalid.
 */
export function* readConverted({ body }: HttpsAnswer, review: Review): Sliced<JsonObject[]> {
  const { objects } = review
  const converted = convertedObjects(yield* parseAnswer(body), review)
  if (converted.length !== objects.length)
    throw new ConversionFailed(`${webhookFor(review)} returned ${converted.length} objects, expected ${objects.length}`)
  const checked: JsonObject[] = []
  for (const [i, object] of converted.entries()) {
    checked.push(checkObject(object, i, review))
    yield
  }
  return checked
}

/** Returns the phrase that error messages use for a kind's conversion webhook. */
export function webhookFor({ objects: [first = {}] }: Pick<Review, 'objects'>): string {
  return `conversion webhook for ${stringField(first, 'apiVersion')}, Kind=${stringField(first, 'kind')}`
}

function* parseAnswer(body: Buffer): Sliced<JsonObject> {
  assertFewValues(body, maxValues)
  let value: Json
  try {
    value = (yield* parseSliced(body)).value
  } catch {
    // Do not include the parser's message, which quotes the response.
    throw new CallError('answer', 'the response is not valid JSON')
  }
  if (!isObject(value)) throw new CallError('answer', 'the response is not a JSON object')
  return value
}

/** Checks the response and returns its objects. In v1beta1, the type and uid of the response are not checked. */
function convertedObjects(answer: JsonObject, { vendor, version, uid }: Review): Json[] {
  const type = `${apiVersionOf(vendor, 'apiextensions', version)}, Kind=ConversionReview`
  const answered = `${stringField(answer, 'apiVersion') || '/'}, Kind=${stringField(answer, 'kind')}`
  if (version === 'v1' && answered !== type)
    throw new CallError('answer', `expected webhook response of ${type}, got ${short(answered)}`)
  const response = own(answer, 'response')
  if (!isObject(response)) throw new CallError('answer', 'no response provided')
  const said = stringField(response, 'uid')
  if (version === 'v1' && said !== uid)
    throw new CallError('answer', `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(short(said))}`)
  assertSuccess(own(response, 'result'))
  const objects = own(response, 'convertedObjects') ?? []
  if (!Array.isArray(objects)) throw new CallError('answer', 'response.convertedObjects is not a list')
  return objects
}

/**
 * Throws an error unless the conversion succeeded. The error includes the webhook's own message if the response
 * contains one.
 */
function assertSuccess(result: Json | undefined): void {
  const said = isObject(result) ? result : {}
  const status = stringField(said, 'status')
  if (status === 'Success') return
  const message = stringField(said, 'message')
  throw new CallError('answer', short(message) || `response.result.status was '${short(status)}', not 'Success'`)
}

function checkObject(converted: Json, index: number, review: Review): JsonObject {
  const { apiVersion, objects } = review
  const original = objects[index]!
  const single = objects.length === 1
  const fail = (what: 'object' | 'metadata', why: string) => {
    const place = single
      ? what
      : what === 'object'
        ? `converted object at index ${index}`
        : `metadata in object at index ${index}`
    return new ConversionFailed(`${webhookFor(review)} returned invalid ${place}: ${why}`)
  }
  if (!isObject(converted)) throw fail('object', `it is ${typeName(converted)}`)
  const received = stringField(converted, 'apiVersion')
  if (received !== apiVersion)
    throw fail('object', `invalid groupVersion (expected ${apiVersion}, received ${short(received)})`)
  const expected = stringField(original, 'kind')
  const kind = stringField(converted, 'kind')
  if (kind !== expected) throw fail('object', `invalid kind (expected ${expected}, received ${short(kind)})`)
  const fault = identityFault(original, converted)
  if (fault !== undefined) throw fail('object', fault)
  const restored = restoreMetadata(original, converted)
  if (typeof restored === 'string') throw fail('metadata', restored)
  return { ...converted, metadata: restored }
}

const identifying = { name: 'name', namespace: 'namespace', uid: 'UID' } as const

function identityFault(original: JsonObject, converted: JsonObject): string | undefined {
  const before = metadataOf(original) ?? {}
  const after = metadataOf(converted) ?? {}
  for (const [field, called] of Object.entries(identifying)) {
    const expected = stringField(before, field)
    const actualValue = stringField(after, field)
    if (actualValue !== expected) return `must have the same ${called}: ${expected} != ${short(actualValue)}`
  }
  return undefined
}

/**
 * Returns the original metadata with the labels and annotations that the webhook returned. Returns an error message if
 * the returned metadata is missing or invalid.
 */
function restoreMetadata(original: JsonObject, converted: JsonObject): JsonObject | string {
  const answered = own(converted, 'metadata')
  if (answered === undefined) return 'missing metadata in converted object'
  if (!isObject(answered)) return `invalid metadata of type ${typeName(answered)} in converted object`
  const { labels: _, annotations: __, ...metadata } = metadataOf(original) ?? {}
  const restored: JsonObject = metadata
  for (const field of ['labels', 'annotations'] as const) {
    const value = own(answered, field) ?? undefined
    if (value === undefined) continue
    const fault = textsFault(field, value, metadataOf(original)?.[field])
    if (fault !== undefined) return fault
    restored[field] = value
  }
  return restored
}

const checks = { labels: checkLabels, annotations: checkAnnotations }

function textsFault(field: 'labels' | 'annotations', value: Json, before: Json | undefined): string | undefined {
  if (!isObject(value)) return `invalid metadata.${field} of type ${typeName(value)} in converted object`
  for (const [key, text] of Object.entries(value))
    if (typeof text !== 'string')
      return `metadata.${field}[${short(key)}] must be a string, but is ${typeName(text)} in converted object`
  // Skip labels and annotations that the webhook did not change.
  if (isDeepStrictEqual(value, before)) return undefined
  const faults = checks[field](value as { [key: string]: string }, `metadata.${field}`)
  return faults.length === 0 ? undefined : summary(faults)
}

function metadataOf(object: JsonObject): JsonObject | undefined {
  const metadata = own(object, 'metadata')
  return isObject(metadata) ? metadata : undefined
}

function stringField(object: JsonObject, field: string): string {
  const value = own(object, field)
  return typeof value === 'string' ? value : ''
}

/** Truncates a message from a webhook, so that an error response that quotes it stays small. */
function short(text: string): string {
  return text.length <= 1000 ? text : `${text.slice(0, 1000)}...`
}
