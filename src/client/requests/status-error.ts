/** Thrown for an error response. Contains the Status that the server sent. */

import { isObject } from '../../api/json/json.ts'
import { parseJson } from '../../api/json/portable-json.ts'
import type { Status } from '../../api/model/api-error.ts'
import { shorten } from '../../base/text/shorten.ts'
import { withRequest } from './transport.ts'

/** Creates the error for a response with the given Status. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: Status
  /** The failed request, such as `GET /api/v1/pods`, or '' if unknown. */
  readonly request: string

  constructor(status: Status, request = '') {
    super(status.message ?? status.reason ?? `the server responded with status ${status.code}`)
    this.status = status
    this.request = request
  }

  override toString(): string {
    return withRequest(this)
  }

  get code(): number {
    return this.status.code ?? 500
  }

  get reason(): string {
    return this.status.reason ?? ''
  }
}

/** The Status that servers send for unknown paths. */
const nothingThere = { reason: 'NotFound', message: 'the server could not find the requested resource' }

/** Converts an error response to an error. A proxy may send a body that is not a Status. */
export function errorOf(code: number, body: string, request = ''): StatusError {
  const value = parseIfJson(body)
  if (isStatus(value)) return new StatusError({ ...value, code: value.code ?? code }, request)
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code } as const
  const text = body.trim()
  if (code === 404 && text === '404 page not found') return new StatusError({ ...head, ...nothingThere }, request)
  return new StatusError(
    { ...head, message: `the server responded with status ${code}: ${shorten(text, 500)}` },
    request,
  )
}

/** Whether the value is a Status, according to its kind. The other members are not checked. */
export function isStatus(value: unknown): value is Status {
  return isObject(value) && value.kind === 'Status'
}

function parseIfJson(body: string): unknown {
  try {
    return parseJson(body)
  } catch {
    return undefined
  }
}

/** Whether the error means that the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.code === 404
}

/**
 * Whether the error means that another writer changed the object first. The caller should read the object again and
 * retry.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.code === 409 && error.reason === 'Conflict'
}

/** Whether the error means that the object is invalid or the change is not allowed. */
export function isInvalid(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Invalid'
}

/** Whether the error means that the requested version or page has expired. The caller should list again. */
export function isExpired(error: unknown): boolean {
  return error instanceof StatusError && error.code === 410
}
