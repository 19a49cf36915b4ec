/**
 * An error that the server sends as a response. It has a code, a reason and a message, which are converted to a Status
 * body in one place. The functions below create every error response of the server. Each message describes the problem.
 */
import { shorten } from '../../base/text/shorten.ts'
import { causeOf, type FieldError, firstFaults, type StatusCause, summary } from './field-error.ts'

/** The `details` of a Status: the affected object and the causes of the error. */
export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The response body of errors, and of successful requests that return no object. */
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

/** An error thrown while a request is handled. `steps/answer-errors.ts` converts it to the response. */
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
 * A 410 error: the revision of a paginated list is no longer available. The client can use the token in the error to
 * continue with the rest of the current state.
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

/** Converts an error to the Status that the response contains. */
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

/** A resource type to name in an error message. */
export interface ResourceRef {
  readonly group: string
  readonly plural: string
}

/** A kind to name in an error message. */
export interface KindRef {
  readonly group: string
  readonly kind: string
}

/** Returns a 400 error: the request is malformed. */
export function badRequest(message: string, options?: ErrorOptions): ApiError {
  return new ApiError(400, 'BadRequest', message, undefined, options)
}

/** Returns a 401 error: the credentials are missing or invalid. */
export function unauthorized(message = 'Unauthorized'): ApiError {
  return new ApiError(401, 'Unauthorized', message)
}

/** Returns a 403 error: the user is not authorized, or admission rejects the request. */
export function forbiddenError(resource: ResourceRef | undefined, name: string, message: string): ApiError {
  return new ApiError(403, 'Forbidden', message, resource ? detailsOf(resource.group, resource.plural, name) : {})
}

/** Returns a 404 error: the object does not exist. */
export function notFound(resource: ResourceRef, name: string): ApiError {
  return new ApiError(
    404,
    'NotFound',
    `${qualified(resource)} "${name}" not found`,
    detailsOf(resource.group, resource.plural, name),
  )
}

/** Returns a 500 error: the object exists, but its stored form is unreadable. */
export function unreadable(resource: ResourceRef, name: string, why: string): ApiError {
  const message = `${qualified(resource)} "${name}" cannot be read: ${why}`
  return new ApiError(500, 'InternalError', message, detailsOf(resource.group, resource.plural, name))
}

/**
 * Returns a 404 error: the server has no endpoint at the requested path. The message is the same as for an unknown
 * resource, followed by a hint.
 */
export function noSuchPath(hint = ''): ApiError {
  const message = 'the server could not find the requested resource'
  return new ApiError(404, 'NotFound', hint === '' ? message : `${message}: ${hint}`, {})
}

/** Returns a 406 error that lists the media types that the server supports. */
export function notAcceptable(offered: readonly string[]): ApiError {
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`)
}

/** Returns a 409 error: the name is already in use. */
export function alreadyExists(resource: ResourceRef, name: string): ApiError {
  return new ApiError(
    409,
    'AlreadyExists',
    `${qualified(resource)} "${name}" already exists`,
    detailsOf(resource.group, resource.plural, name),
  )
}

/** Returns a 409 error: all generated names are already in use. */
export function generateNameTaken(resource: ResourceRef, name: string): ApiError {
  const message = `${qualified(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`
  return new ApiError(409, 'AlreadyExists', message, {
    ...detailsOf(resource.group, resource.plural, name),
    retryAfterSeconds: 1,
  })
}

/** Returns a 409 error: the object has changed, or a precondition fails. */
export function conflict(resource: ResourceRef, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`
  return new ApiError(409, 'Conflict', message, detailsOf(resource.group, resource.plural, name))
}

/** Returns a 410 error: the requested version is no longer available. The client must list again. */
export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message)
}

/** Returns a 413 error: the body is too large. */
export function entityTooLarge(message: string): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', message)
}

/** Returns a 415 error: the server does not support the media type of the body. */
export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', message)
}

/** Returns a 422 error: the object is invalid for its kind. The first field errors are listed as causes. */
export function invalidObject(kind: KindRef, name: string, errors: readonly FieldError[]): ApiError {
  const full = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  const shown = shorten(name, maxNameLength)
  const reportedErrors = firstFaults(errors)
  const more = errors.length > reportedErrors.length ? `, and ${errors.length - reportedErrors.length} more` : ''
  const details = { ...detailsOf(kind.group, kind.kind, shown), causes: reportedErrors.map(causeOf) }
  return new ApiError(422, 'Invalid', `${full} "${shown}" is invalid: ${summary(reportedErrors)}${more}`, details)
}

/** Maximum length of names in messages. Longer names are shortened. Valid names are never that long. */
const maxNameLength = 1000

/** Returns a 429 error: the client should retry later. */
export function tooManyRequests(message: string, retryAfterSeconds = 1): ApiError {
  return new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds })
}

/** Returns a 500 error: the server caused the failure. */
export function internalError(message: string, options?: ErrorOptions): ApiError {
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] }, options)
}

/** Returns a 503 error: the server cannot respond at the moment. Clients retry automatically. */
export function serviceUnavailable(message: string, retryAfterSeconds = 1, options?: ErrorOptions): ApiError {
  return new ApiError(503, 'ServiceUnavailable', message, { retryAfterSeconds }, options)
}

/**
 * Returns a 504 error: the response would arrive too late. Without `retryAfterSeconds`, clients do not retry
 * automatically.
 */
export function timeout(message: string, details: StatusDetails = {}, options?: ErrorOptions): ApiError {
  return new ApiError(504, 'Timeout', message, details, options)
}

/** Returns a 507 error: the store is full and accepts only deletions. */
export function insufficientStorage(message: string, options?: ErrorOptions): ApiError {
  return new ApiError(507, 'InsufficientStorage', message, { retryAfterSeconds: 5 }, options)
}

function qualified(resource: ResourceRef): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
}

function detailsOf(group: string, kind: string, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), ...(kind === '' ? {} : { kind }) }
}
