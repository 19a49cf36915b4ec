/**
 * Decodes scalars: integers of a given size, base64, times and quantities. Returns them in canonical form. A value of
 * the wrong type causes a 400 error that contains its path.
 */
import { shorten } from '../../base/text/shorten.ts'
import { isObject, type Json, typeName } from '../json/json.ts'
import { ApiError } from '../model/api-error.ts'
import type { FieldPath } from '../model/field-error.ts'
import { canonicalQuantity } from '../model/quantity.ts'
import type { IntegerSchema } from './schema.ts'
import { normalTime } from './time.ts'

/** A 400 error for a value that cannot be decoded. The message contains the path of the value. */
export class UnreadableValue extends ApiError {
  readonly path: FieldPath

  constructor(path: FieldPath, message: string) {
    super(400, 'BadRequest', message)
    this.path = path
  }
}

export function readInteger(schema: IntegerSchema, value: Json, path: FieldPath): Json {
  if (typeof value === 'bigint')
    return schema.bits === 64 && BigInt.asIntN(64, value) === value ? value : outOfRange(path, value, schema.bits)
  if (typeof value !== 'number') return wrongType(path, value, `int${schema.bits}`)
  if (!Number.isInteger(value)) return wrongType(path, value, `int${schema.bits}`)
  if (schema.bits === 32 && (value | 0) !== value) return outOfRange(path, value, 32)
  if (!Number.isSafeInteger(value)) return outOfRange(path, value, 64)
  return value === 0 ? 0 : value
}

export function readBase64(value: string, path: FieldPath): string {
  const packed = value.includes('\n') || value.includes('\r') ? value.replaceAll(/[\r\n]/g, '') : value
  const canonical = canonicalBase64(packed)
  if (canonical === undefined)
    throw new UnreadableValue(path, `${path}: illegal base64 data: use the standard alphabet with padding`)
  return canonical
}

/** Maximum string length at which matching a pattern is faster than decoding the bytes. */
const short = 64
const canonicalForm = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/

/**
 * Matches the last characters of padded base64, which may contain unused bits. For example, `YR==` and `YQ==` both mean
 * `a`.
 */
const paddedEnd = /^[A-Za-z0-9+/]{2}(?:=|[A-Za-z0-9+/])=$/

/**
 * Returns base64 in canonical form, or undefined if the string is not base64. Node ignores invalid characters, so
 * encoding the decoded bytes must reproduce the string, except for unused bits in the last characters.
 */
function canonicalBase64(text: string): string | undefined {
  if (text.length <= short && canonicalForm.test(text)) return text
  const canonical = Buffer.from(text, 'base64').toString('base64')
  if (canonical === text) return canonical
  const same = canonical.length === text.length && canonical.slice(0, -4) === text.slice(0, -4)
  return same && paddedEnd.test(text.slice(-4)) ? canonical : undefined
}

export function readTime(value: string, micro: boolean, path: FieldPath): string {
  const normal = normalTime(value, micro)
  if (normal !== undefined) return normal
  const form = `"2006-01-02T15:04:05${micro ? '.000000' : ''}Z"`
  throw new UnreadableValue(
    path,
    `${path}: ${JSON.stringify(shorten(value, 100))} is not a time: use RFC 3339, as in ${form}`,
  )
}

/** Decodes a quantity. A number is accepted as a quantity without a suffix. */
export function readQuantity(value: Json, path: FieldPath): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    return wrongType(path, value, 'quantity')
  const text = String(value)
  const canonical = canonicalQuantity(text.trim())
  if (canonical === undefined)
    throw new UnreadableValue(
      path,
      `${path}: ${JSON.stringify(shorten(text, 100))} is not a quantity: use a number with a suffix or an exponent, as in "500m", "1.5Gi" or "1e3"`,
    )
  return canonical
}

export function wrongType(path: FieldPath, value: Json, expectedType: string): never {
  throw new UnreadableValue(path, `${path || 'the body'}: expected ${expectedType}, got ${typeName(value)}`)
}

/** Beginnings of error messages. Clients expect the same wording as in kube-apiserver. */
const forms = {
  map: ['cannot restore map from', 'object'],
  slice: ['cannot restore slice from', 'array'],
  struct: ['cannot restore struct from:', 'object'],
} as const

export function wrongForm(path: FieldPath, value: Json, form: keyof typeof forms): never {
  const [words, expectedType] = forms[form]
  throw new UnreadableValue(
    path,
    `${path || 'the body'}: ${words} ${formName(value)}; expected ${expectedType}, got ${typeName(value)}`,
  )
}

function formName(value: Json): string {
  if (Array.isArray(value)) return 'slice'
  if (isObject(value)) return 'map'
  return typeof value === 'number' && !Number.isInteger(value) ? 'float64' : numberName(typeName(value))
}

function numberName(name: string): string {
  return name === 'number' ? 'int64' : name
}

function outOfRange(path: FieldPath, value: number | bigint, bits: number): never {
  throw new UnreadableValue(path, `${path}: ${value} does not fit a ${bits}-bit integer`)
}
