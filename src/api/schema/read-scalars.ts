/**
 * Reads single values of JSON as their schema wants them: integers of a size, base64, times and quantities, checked and
 * written one way. A value of a wrong type is a 400 that names the place.
 */
import { shorten } from '../../base/text/shorten.ts'
import { isObject, type Json, typeName } from '../json/json.ts'
import { badRequest } from '../model/api-error.ts'
import type { FieldPath } from '../model/field-error.ts'
import { canonicalQuantity } from '../model/quantity.ts'
import type { IntegerSchema } from './schema.ts'
import { normalTime } from './time.ts'

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
  if (canonical === undefined) throw badRequest(`${path}: illegal base64 data: use the standard alphabet with padding`)
  return canonical
}

/** Where a pattern is quicker than decoding the bytes. */
const short = 64
const canonicalForm = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/

/**
 * The last letters of a padded text, which may hold bits that belong to no byte: `YR==` and `YQ==` are the same `a`.
 */
const paddedEnd = /^[A-Za-z0-9+/]{2}(?:=|[A-Za-z0-9+/])=$/

/**
 * The one way to write these bytes; undefined when the text is not base64. Node takes anything for base64 and drops
 * what it cannot read, so a text counts only if it is its own encoding, but for what its last letters hold beyond the
 * bytes.
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
  throw badRequest(`${path}: ${JSON.stringify(shorten(value, 100))} is not a time: use RFC 3339, as in ${form}`)
}

/** A number is a quantity without a suffix. */
export function readQuantity(value: Json, path: FieldPath): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    return wrongType(path, value, 'quantity')
  const text = String(value)
  const canonical = canonicalQuantity(text.trim())
  if (canonical === undefined)
    throw badRequest(
      `${path}: ${JSON.stringify(shorten(text, 100))} is not a quantity: use a number with a suffix or an exponent, as in "500m", "1.5Gi" or "1e3"`,
    )
  return canonical
}

export function wrongType(path: FieldPath, value: Json, wanted: string): never {
  throw badRequest(`${path || 'the body'}: expected ${wanted}, got ${typeName(value)}`)
}

/** Clients look for the first words, which are those of the reference. */
const forms = {
  map: ['cannot restore map from', 'object'],
  slice: ['cannot restore slice from', 'array'],
  struct: ['cannot restore struct from:', 'object'],
} as const

export function wrongForm(path: FieldPath, value: Json, form: keyof typeof forms): never {
  const [words, wanted] = forms[form]
  throw badRequest(`${path || 'the body'}: ${words} ${formName(value)}; expected ${wanted}, got ${typeName(value)}`)
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
  throw badRequest(`${path}: ${value} does not fit a ${bits}-bit integer`)
}
