/** A refusal: the Status that the server sent, as an error. */

import { isObject } from '../../api/json/json.ts'
import { parseJson } from '../../api/json/portable-json.ts'
import type { Status } from '../../api/model/api-error.ts'
import { shorten } from '../../base/text/shorten.ts'
import { withRequest } from './transport.ts'

/** The server said no, with this Status. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: Status
  /** What was refused: `GET /api/v1/pods`; empty where that is not known. */
  readonly request: string

  constructor(status: Status, request = '') {
    super(status.message ?? status.reason ?? `the server answered with ${status.code}`)
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

/** What a path is answered with that leads nowhere, in the words of servers that say so in a Status. */
const nothingThere = { reason: 'NotFound', message: 'the server could not find the requested resource' }

/** The error of an answer. A proxy in between may answer with something other than a Status. */
export function errorOf(code: number, body: string, request = ''): StatusError {
  const value = parseIfJson(body)
  if (isStatus(value)) return new StatusError({ ...value, code: value.code ?? code }, request)
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code } as const
  const text = body.trim()
  if (code === 404 && text === '404 page not found') return new StatusError({ ...head, ...nothingThere }, request)
  return new StatusError({ ...head, message: `the server answered with ${code}: ${shorten(text, 500)}` }, request)
}

/** Whether this is a Status, by its kind; the rest is what the server says it is. */
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

/** Whether the server answered that the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.code === 404
}

/** Someone else was faster: read again, and write again. */
export function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.code === 409 && error.reason === 'Conflict'
}

/** The object is not valid, or may not be changed in this way. */
export function isInvalid(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Invalid'
}

/** The version or the page asked for is too old: list again. */
export function isExpired(error: unknown): boolean {
  return error instanceof StatusError && error.code === 410
}
