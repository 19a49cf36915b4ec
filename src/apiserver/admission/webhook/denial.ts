/** Errors for requests that a webhook denied or failed to review. */

import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import {
  ApiError,
  badRequest,
  internalError,
  type StatusDetails,
  tooManyRequests,
} from '../../../api/model/api-error.ts'
import type { Webhook } from './webhook.ts'

const maxText = 4096
const maxCauses = 100
const maxSeconds = 2 ** 31 - 1

/**
 * Returns the error for a denial, with the code, reason and details from the webhook. The code is 400 if the webhook's
 * code does not denote an error.
 */
export function denial({ name }: Webhook, status: JsonObject): ApiError {
  const code = own(status, 'code')
  const message = stringField(status, 'message')
  const reason = stringField(status, 'reason')
  const why = message || reason
  const words = `admission webhook ${JSON.stringify(name)} denied the request`
  return new ApiError(
    typeof code === 'number' && code >= 400 && code <= 599 && Number.isInteger(code) ? code : 400,
    reason,
    why === '' ? `${words} without explanation` : `${words}: ${why}`,
    detailsOf(own(status, 'details')),
  )
}

/** Returns the error for a webhook whose call failed and whose failure policy is Fail. */
export function unaskable({ name }: Webhook, why: string): ApiError {
  return internalError(`failed calling webhook ${JSON.stringify(name)}: ${why}`)
}

/**
 * Returns the error for a call that failed because the server lacked connections or memory. The failure policy does not
 * apply, and the client should retry.
 */
export function notAsked({ name }: Webhook, why: string): ApiError {
  return tooManyRequests(`admission webhook ${JSON.stringify(name)} was not called: ${why}`)
}

export function dryRunRefused({ name }: Webhook): ApiError {
  return badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
}

export function unchangeable({ name }: Webhook): ApiError {
  const why = 'attempted to modify the object, which is not supported for this operation'
  return internalError(`admission webhook ${JSON.stringify(name)} ${why}`)
}

function detailsOf(value: Json | undefined): StatusDetails | undefined {
  if (!isObject(value)) return undefined
  const causes = own(value, 'causes')
  const seconds = own(value, 'retryAfterSeconds')
  const texts = ['name', 'group', 'kind', 'uid'].map((field) => [field, stringField(value, field)] as const)
  return {
    ...Object.fromEntries(texts.filter(([, text]) => text !== '')),
    ...(Array.isArray(causes) ? { causes: causes.slice(0, maxCauses).filter(isObject).map(causeOf) } : {}),
    ...(isSeconds(seconds) ? { retryAfterSeconds: seconds } : {}),
  }
}

/** Whether the value fits into an int32, the type of the field. Larger numbers cannot be encoded in every format. */
function isSeconds(value: Json | undefined): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= maxSeconds
}

function causeOf(cause: JsonObject) {
  const field = stringField(cause, 'field')
  const reason = stringField(cause, 'reason')
  return {
    ...(reason === '' ? {} : { reason }),
    message: stringField(cause, 'message'),
    ...(field === '' ? {} : { field }),
  }
}

function stringField(object: JsonObject, field: string): string {
  const value = own(object, field)
  return typeof value === 'string' ? value.slice(0, maxText) : ''
}
