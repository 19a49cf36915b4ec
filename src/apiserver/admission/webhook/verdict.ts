/**
 * Reads the AdmissionReview response of a webhook. The size of the response is limited before parsing. v1 responses are
 * validated strictly. v1beta1 responses require neither uid nor type. Invalid responses throw CallError.
 */

import { parseSliced } from '../../../api/codec/json.ts'
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { trimEndOf } from '../../../base/text/trim-end.ts'
import { CallError } from '../../../wire/http/client/call-error.ts'
import type { HttpsAnswer } from '../../outbound/https-caller.ts'
import { assertFewValuesSliced } from '../../outbound/json-effort.ts'
import type { Phase, ReviewVersion } from './webhook.ts'

export interface Verdict {
  readonly allowed: boolean
  /** Status of a denial, as sent by the webhook. */
  readonly status: JsonObject
  /** JSON patch as bytes, or undefined if there is no patch. */
  readonly patch: Buffer | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: { readonly [key: string]: string }
}

export interface ReviewRequest {
  readonly vendor: Vendor
  readonly phase: Phase
  readonly version: ReviewVersion
  readonly uid: string
}

/**
 * Maximum number of JSON values in a response. The maximum is higher than the limit for request bodies, because long
 * lists such as warnings are truncated later.
 */
const maxValues = 200_000

/**
 * Reads a webhook's verdict in steps, because a hostile webhook may send a large response. Throws CallError if the
 * response is invalid.
 */
export function* readVerdictSliced(
  { body, contentType, status }: HttpsAnswer,
  reviewRequest: ReviewRequest,
): Sliced<Verdict> {
  if (body.length === 0)
    throw new CallError('answer', `0-length response with status code: ${status} and content type: ${contentType}`)
  yield* assertFewValuesSliced(body, maxValues)
  const review = yield* parse(body)
  yield
  assertType(review, reviewRequest)
  const response = own(review, 'response')
  if (!isObject(response)) throw faulty('webhook response was absent')
  const uid = stringField(response, 'uid')
  if (reviewRequest.version === 'v1' && uid !== reviewRequest.uid)
    throw faulty(`expected response.uid=${JSON.stringify(reviewRequest.uid)}, got ${JSON.stringify(uid.slice(0, 100))}`)
  const allowed = own(response, 'allowed') ?? false
  if (typeof allowed !== 'boolean') throw malformed('response.allowed is not a boolean')
  const responseStatus = own(response, 'status') ?? {}
  if (!isObject(responseStatus)) throw malformed('response.status is not an object')
  return {
    allowed,
    status: responseStatus,
    patch: patchOf(response, reviewRequest),
    warnings: textsOf(response, 'warnings'),
    auditAnnotations: annotationsOf(response),
  }
}

function* parse(body: Buffer): Sliced<JsonObject> {
  let value: Json
  try {
    value = (yield* parseSliced(body, { maxCount: maxValues })).value
  } catch {
    // Do not use the parser's own message, because it quotes the response.
    throw malformed('the response is not valid JSON')
  }
  if (!isObject(value)) throw malformed('the response is not a JSON object')
  return value
}

/** Checks the type of the response. In v1beta1, the type may be missing. */
function assertType(review: JsonObject, { vendor, version }: ReviewRequest): void {
  const expectedVersion = apiVersionOf(vendor, 'admission', version)
  const apiVersion = stringField(review, 'apiVersion')
  const kind = stringField(review, 'kind')
  if (apiVersion === expectedVersion && kind === 'AdmissionReview') return
  if (apiVersion === '' && kind === '' && version === 'v1beta1') return
  const got = `${apiVersion.slice(0, 100) || '/'}, Kind=${kind.slice(0, 100)}`
  throw faulty(`expected webhook response of ${expectedVersion}, Kind=AdmissionReview, got ${got}`)
}

function patchOf(response: JsonObject, { phase, version }: ReviewRequest): Buffer | undefined {
  const patch = bytesOf(response, 'patch')
  const type = own(response, 'patchType') ?? undefined
  if (type !== undefined && typeof type !== 'string') throw malformed('response.patchType is not a string')
  if (phase === 'validating') {
    if (version === 'v1beta1') return undefined
    if (patch.length > 0) throw faulty('validating webhook may not return response.patch')
    if (type !== undefined) throw faulty('validating webhook may not return response.patchType')
    return undefined
  }
  if (patch.length === 0) {
    if (version === 'v1' && type !== undefined)
      throw faulty('webhook returned response.patchType but not response.patch')
    return undefined
  }
  // In v1beta1, JSON Patch is the only type of patch. As in kube-apiserver, patchType is ignored.
  if (version === 'v1beta1') return patch
  if (type === undefined) throw faulty('webhook returned response.patch but not response.patchType')
  if (type === '') throw faulty('webhook returned invalid response.patchType of ""')
  if (type !== 'JSONPatch')
    throw new CallError('answer', `unsupported patch type ${JSON.stringify(type.slice(0, 100))}`)
  return patch
}

function bytesOf(response: JsonObject, field: string): Buffer {
  const text = stringField(response, field)
  const bytes = Buffer.from(text, 'base64')
  // Node.js skips invalid base64 characters, so the code checks the length: every valid character encodes six bits.
  const length = trimEndOf(text, '=').replaceAll(/[\r\n]/g, '').length
  if (bytes.length !== Math.floor((length * 3) / 4)) throw malformed(`response.${field} is not base64`)
  return bytes
}

function stringField(object: JsonObject, field: string): string {
  const value = own(object, field) ?? ''
  if (typeof value !== 'string') throw malformed(`${field} is not a string`)
  return value
}

const maxTexts = 100

function textsOf(object: JsonObject, field: string): string[] {
  const value = own(object, field) ?? []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw malformed(`response.${field} is not a list of strings`)
  return value.slice(0, maxTexts)
}

function annotationsOf(response: JsonObject): { [key: string]: string } {
  const value = own(response, 'auditAnnotations') ?? {}
  if (!isObject(value)) throw malformed('response.auditAnnotations is not an object')
  const entries = Object.entries(value)
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    throw malformed('response.auditAnnotations has a value that is not a string')
  return Object.fromEntries(entries.slice(0, maxTexts))
}

function malformed(why: string): CallError {
  return new CallError('answer', why)
}

function faulty(why: string): CallError {
  return new CallError('answer', `received invalid webhook response: ${why}`)
}
