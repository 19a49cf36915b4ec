/**
 * The values of Go templates and their formatting. Whole numbers are integers and all other numbers are floating-point
 * numbers, as in kubectl. A missing value is undefined.
 */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { isObject, type Json } from '../json/json.ts'

/** A value in a template: JSON, or undefined for a missing value. */
export type Value = Json | undefined

/** Returns the keys of a map in the order in which Go prints and visits them. */
export function keysOf(map: object): string[] {
  return Object.keys(map).sort(compareUtf8)
}

/** Formats a value like the verb `%v`. */
export function plainText(value: Value): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number') return floatText(value)
  if (Array.isArray(value)) return `[${value.map(plainText).join(' ')}]`
  if (!isObject(value)) return String(value)
  return `map[${keysOf(value)
    .map((key) => `${key}:${plainText(value[key])}`)
    .join(' ')}]`
}

/** Whether a value is a whole number. */
export function isInteger(value: Value): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
}

/**
 * Formats a number with as few digits as possible. As in Go, numbers below 0.0001 and numbers of a million or more are
 * formatted with an exponent.
 */
export function floatText(value: number): string {
  if (Number.isInteger(value)) return BigInt(value).toString()
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  const [digits, power] = value.toExponential().split('e')
  const exponent = Number(power)
  return exponent < -4 || exponent >= 6 ? `${digits}e${exponentText(exponent)}` : String(value)
}

/** Formats an exponent with a sign and at least two digits. */
export function exponentText(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** Returns a value's Go type name, for messages. */
export function typeName(value: Value): string {
  if (value === null || value === undefined) return 'nil'
  if (isInteger(value)) return 'int64'
  if (typeof value === 'number') return 'float64'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

/** Whether a value counts as true in a condition. Missing, false, zero and empty values count as false. */
export function isTrue(value: Value): boolean {
  if (value === null || value === undefined) return false
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value)
}
