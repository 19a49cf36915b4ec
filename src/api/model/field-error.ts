/**
 * What is wrong with a field: a list of these is the outcome of every validation.
 * `causeOf` gives the form they take in a Status.
 */
import { shorten } from '../../base/text/shorten.ts'

/** Where a field is: `spec.ports[0].name`, `data[a key]`. */
export type FieldPath = string

/** The path of a field within another: `spec` and `ports` is `spec.ports`. */
export function child(path: FieldPath, name: string): FieldPath {
  return path === '' ? name : `${path}.${name}`
}

/** The path of an element or key: `spec.ports` and 0 is `spec.ports[0]`. */
export function at(path: FieldPath, key: string | number): FieldPath {
  return `${path}[${key}]`
}

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

/** One fault of a field. */
export interface FieldError {
  readonly fault: FieldFault
  readonly path: FieldPath
  readonly text: string
  /** Of several faults with the same words here only the first is reported: they differ in the value alone. */
  readonly once?: string
}

/** The field is missing or empty. */
export function required(path: FieldPath, detail = ''): FieldError {
  return { fault: 'FieldValueRequired', path, text: join('Required value', detail) }
}

/** The value breaks a rule. */
export function invalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return { fault: 'FieldValueInvalid', path, text: join(`Invalid value: ${show(value)}`, detail) }
}

/** A value of a type that the field does not take. */
export function typeInvalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return { fault: 'FieldValueTypeInvalid', path, text: join(`Invalid value: ${show(value)}`, detail) }
}

/** The value occurs before. */
export function duplicate(path: FieldPath, value: unknown): FieldError {
  return { fault: 'FieldValueDuplicate', path, text: `Duplicate value: ${show(value)}` }
}

/** The field may not be set here. */
export function forbidden(path: FieldPath, detail: string): FieldError {
  return { fault: 'FieldValueForbidden', path, text: join('Forbidden', detail) }
}

/** The value is none of those that are supported. */
export function notSupported(path: FieldPath, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((item) => JSON.stringify(item)).join(', ')
  return { fault: 'FieldValueNotSupported', path, text: `Unsupported value: ${show(value)}: supported values: ${list}` }
}

/** The value names something that is not there. */
export function notFound(path: FieldPath, value: unknown): FieldError {
  return { fault: 'FieldValueNotFound', path, text: `Not found: ${show(value)}` }
}

/** The value has too many bytes. */
export function tooLong(path: FieldPath, limit: number): FieldError {
  return { fault: 'FieldValueTooLong', path, text: `Too long: must have at most ${limit} bytes` }
}

/** What could not be judged, as something that it rests on is wrong. */
export function notJudged(path: FieldPath, detail: string): FieldError {
  return { fault: 'InternalError', path, text: join('Internal error', detail) }
}

/** The list has too many items. */
export function tooMany(path: FieldPath, count: number, limit: number): FieldError {
  return { fault: 'FieldValueTooMany', path, text: `Too many: ${count}: must have at most ${limit} items` }
}

export interface StatusCause {
  reason?: string
  message: string
  field?: string
}

/** The fault as a Status lists it. */
export function causeOf(error: FieldError): StatusCause {
  return { reason: error.fault, message: error.text, field: error.path }
}

/** `metadata.name: Required value: ...`, several of them in brackets. */
export function summary(errors: readonly FieldError[]): string {
  const lines = errors.map((error) => `${error.path}: ${error.text}`)
  return lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`
}

/** How many faults one answer lists: a body can hold a million, and an answer stays short. */
export const maxTold = 50
/** How many are looked for: an answer lists the first few, and nobody reads further. */
export const maxFaults = 1000
const maxPathLength = 500
const maxTextLength = 2000

/** The first faults, none of them long. */
export function firstFaults(errors: readonly FieldError[]): FieldError[] {
  return errors.slice(0, maxTold).map(({ fault, path, text }) => ({
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
