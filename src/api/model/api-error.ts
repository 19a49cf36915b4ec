/**
 * The error that becomes a response: a code, a reason and a message, converted to a Status body in one place. The
 * functions below construct every error response of the server. Each message says what was wrong.
 */
import { shorten } from '../../base/text/shorten.ts'
import { causeOf, type FieldError, firstFaults, type StatusCause, summary } from './field-error.ts'

/** The object that a Status refers to. */
export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The body of a response that is not an object. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string; remainingItemCount?: number; resourceVersion?: string }
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

/** Thrown anywhere while handling a request. `steps/answer-errors.ts` converts it to the response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: number
  readonly reason: string
  readonly details: StatusDetails | undefined

  constructor(code: number, reason: string, message: string, details?: StatusDetails, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.reason = reason
    this.details = details
  }
}

/**
 * 410: the revision of a paginated list is no longer available. The token continues with the rest of the current state.
 */
export class PageExpired extends ApiError {
  readonly continueToken: string

  constructor(continueToken: string) {
    const message =
      'The provided continue parameter is too old: the state at the start of this list has expired. Start a new list without it, or continue with the token in metadata.continue, which lists the rest in its current state.'
    super(410, 'Expired', message)
    this.continueToken = continueToken
  }
}

/** Returns the Status of an error response. */
export function failure(error: ApiError): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: error instanceof PageExpired ? { continue: error.continueToken } : {},
    status: 'Failure',
    message: error.message,
    ...(error.reason === '' ? {} : { reason: error.reason }),
    ...(error.details === undefined ? {} : { details: error.details }),
    code: error.code,
  }
}

/** Returns the Status of a successful operation, such as a deletion. */
export function success(details: StatusDetails): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
}

/** A resource type in an error: its plural name and its group on the wire. */
export interface ResourceRef {
  readonly group: string
  readonly plural: string
}

/** A kind in an error: its name and its group on the wire. */
export interface KindRef {
  readonly group: string
  readonly kind: string
}

/** 400: the request is malformed. */
export function badRequest(message: string, options?: ErrorOptions): ApiError {
  return new ApiError(400, 'BadRequest', message, undefined, options)
}

/** 401: the credentials are missing or invalid. */
export function unauthorized(message = 'Unauthorized'): ApiError {
  return new ApiError(401, 'Unauthorized', message)
}

/** 403: the user is not authorized, or admission rejects the request. */
export function forbiddenError(resource: ResourceRef | undefined, name: string, message: string): ApiError {
  return new ApiError(403, 'Forbidden', message, resource ? detailsOf(resource.group, resource.plural, name) : {})
}

/** 404: the object does not exist. */
export function notFound(resource: ResourceRef, name: string): ApiError {
  return new ApiError(
    404,
    'NotFound',
    `${qualified(resource)} "${name}" not found`,
    detailsOf(resource.group, resource.plural, name),
  )
}

/** 500: the object exists, but its stored form is unreadable. */
export function unreadable(resource: ResourceRef, name: string, why: string): ApiError {
  const message = `${qualified(resource)} "${name}" cannot be read: ${why}`
  return new ApiError(500, 'InternalError', message, detailsOf(resource.group, resource.plural, name))
}

/** 404: nothing is served at this path. The message is that of an unknown resource, plus a hint. */
export function noSuchPath(hint = ''): ApiError {
  const message = 'the server could not find the requested resource'
  return new ApiError(404, 'NotFound', hint === '' ? message : `${message}: ${hint}`, {})
}

/** 406: the server supports only these media types. */
export function notAcceptable(offered: readonly string[]): ApiError {
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`)
}

/** 409: the name is already in use. */
export function alreadyExists(resource: ResourceRef, name: string): ApiError {
  return new ApiError(
    409,
    'AlreadyExists',
    `${qualified(resource)} "${name}" already exists`,
    detailsOf(resource.group, resource.plural, name),
  )
}

/** 409: all generated names are in use. */
export function generateNameTaken(resource: ResourceRef, name: string): ApiError {
  const message = `${qualified(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`
  return new ApiError(409, 'AlreadyExists', message, {
    ...detailsOf(resource.group, resource.plural, name),
    retryAfterSeconds: 1,
  })
}

/** 409: the object has changed, or a precondition fails. */
export function conflict(resource: ResourceRef, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`
  return new ApiError(409, 'Conflict', message, detailsOf(resource.group, resource.plural, name))
}

/** 410: the requested version is no longer available. The client must list again. */
export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message)
}

/** 413: the body is too large. */
export function entityTooLarge(message: string): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', message)
}

/** 415: the server does not support the media type of the body. */
export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', message)
}

/** 422: the object is invalid for its kind. The first errors are listed as causes. */
export function invalidObject(kind: KindRef, name: string, errors: readonly FieldError[]): ApiError {
  const full = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  const shown = shorten(name, maxNameLength)
  const told = firstFaults(errors)
  const more = errors.length > told.length ? `, and ${errors.length - told.length} more` : ''
  const details = { ...detailsOf(kind.group, kind.kind, shown), causes: told.map(causeOf) }
  return new ApiError(422, 'Invalid', `${full} "${shown}" is invalid: ${summary(told)}${more}`, details)
}

/** No valid name is longer. */
const maxNameLength = 1000

/** 429: the client should wait. */
export function tooManyRequests(message: string, retryAfterSeconds = 1): ApiError {
  return new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds })
}

/** 500: the server is at fault. */
export function internalError(message: string, options?: ErrorOptions): ApiError {
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }, options)
}

/** 503: the server cannot respond at the moment. Clients retry automatically. */
export function serviceUnavailable(message: string, retryAfterSeconds = 1, options?: ErrorOptions): ApiError {
  return new ApiError(503, 'ServiceUnavailable', message, { retryAfterSeconds }, options)
}

/** 504: the response would be too late. Without `retryAfterSeconds` clients do not retry automatically. */
export function timeout(message: string, details: StatusDetails = {}, options?: ErrorOptions): ApiError {
  return new ApiError(504, 'Timeout', message, details, options)
}

/** 507: the store is full and accepts only deletions. */
export function insufficientStorage(message: string, options?: ErrorOptions): ApiError {
  return new ApiError(507, 'InsufficientStorage', message, { retryAfterSeconds: 5 }, options)
}

function qualified(resource: ResourceRef): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
}

function detailsOf(group: string, kind: string, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), ...(kind === '' ? {} : { kind }) }
}
