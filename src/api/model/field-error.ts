/**
 * A validation error of a field. Every validation returns a list of field errors. `causeOf` converts an error for a
 * Status.
 */
import { shorten } from '../../base/text/shorten.ts'

/** The path of a field, such as `spec.ports[0].name` or `data[a key]`. */
export type FieldPath = string

/** Returns the path of a nested field: `spec.ports` for `spec` and `ports`. */
export function child(path: FieldPath, name: string): FieldPath {
  return path === '' ? name : `${path}.${name}`
}

/** Returns the path of an element or key: `spec.ports[0]` for `spec.ports` and 0. */
export function at(path: FieldPath, key: string | number): FieldPath {
  return `${path}[${key}]`
}

/** The reason for a field error, as in the causes of a Status. */
export type FieldFault =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

/** A validation error, with the path of the field. */
export interface FieldError {
  readonly fault: FieldFault
  readonly path: FieldPath
  readonly text: string
  /** A string that identifies similar errors, which differ only in the value. Only the first of them is reported. */
  readonly once?: string
}

/** Returns an error for a field that is missing or empty. */
export function required(path: FieldPath, detail = ''): FieldError {
  return { fault: 'FieldValueRequired', path, text: join('Required value', detail) }
}

/** Returns an error for a value that violates a rule. */
export function invalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return { fault: 'FieldValueInvalid', path, text: join(`Invalid value: ${show(value)}`, detail) }
}

/** Returns an error for a value of the wrong type. */
export function typeInvalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return { fault: 'FieldValueTypeInvalid', path, text: join(`Invalid value: ${show(value)}`, detail) }
}

/** Returns an error for a value that occurs more than once. */
export function duplicate(path: FieldPath, value: unknown): FieldError {
  return { fault: 'FieldValueDuplicate', path, text: `Duplicate value: ${show(value)}` }
}

/** Returns an error for a field that must not be set. */
export function forbidden(path: FieldPath, detail: string): FieldError {
  return { fault: 'FieldValueForbidden', path, text: join('Forbidden', detail) }
}

/** Returns an error for a value that is not among the supported values. */
export function notSupported(path: FieldPath, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((item) => JSON.stringify(item)).join(', ')
  return { fault: 'FieldValueNotSupported', path, text: `Unsupported value: ${show(value)}: supported values: ${list}` }
}

/** Returns an error for a value that refers to a missing object. */
export function notFound(path: FieldPath, value: unknown): FieldError {
  return { fault: 'FieldValueNotFound', path, text: `Not found: ${show(value)}` }
}

/** Returns an error for a value with too many bytes. */
export function tooLong(path: FieldPath, limit: number): FieldError {
  return { fault: 'FieldValueTooLong', path, text: `Too long: must have at most ${limit} bytes` }
}

/** Returns an error for a field that could not be validated because it depends on an invalid value. */
export function notJudged(path: FieldPath, detail: string): FieldError {
  return { fault: 'InternalError', path, text: join('Internal error', detail) }
}

/** Returns an error for a list with too many items. */
export function tooMany(path: FieldPath, count: number, limit: number): FieldError {
  return { fault: 'FieldValueTooMany', path, text: `Too many: ${count}: must have at most ${limit} items` }
}

export interface StatusCause {
  reason?: string
  message: string
  field?: string
}

/** Converts the error to a cause in a Status. */
export function causeOf(error: FieldError): StatusCause {
  return { reason: error.fault, message: error.text, field: error.path }
}

/** Formats errors, for example as `metadata.name: Required value:...`. Multiple errors are enclosed in brackets. */
export function summary(errors: readonly FieldError[]): string {
  const lines = errors.map((error) => `${error.path}: ${error.text}`)
  return lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`
}

/** Maximum number of errors in a response. A body can contain a million errors, but responses must stay short. */
export const maxReportedErrors = 50
/** Maximum number of errors that a validation collects. A response lists only the first few. */
export const maxFaults = 1000
const maxPathLength = 500
const maxTextLength = 2000

/** Returns the errors to report: at most the maximum number, each with a shortened message. */
export function firstFaults(errors: readonly FieldError[]): FieldError[] {
  return errors.slice(0, maxReportedErrors).map(({ fault, path, text }) => ({
    fault,
    path: shorten(path, maxPathLength),
    text: shorten(text, maxTextLength),
  }))
}

function join(head: string, detail: string): string {
  return detail === '' ? head : `${head}: ${detail}`
}

const maxShownLength = 1000

function show(value: unknown): string {
  if (value === undefined) return 'null'
  if (typeof value === 'bigint') return value.toString()
  const text = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))
  return text.length > maxShownLength ? `${shorten(text, maxShownLength)}...` : text
}
