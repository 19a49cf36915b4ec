/**
 * The values that templates work with, and how Go prints them: whole numbers are integers, all others floating, as kubectl
 * reads objects. undefined is what is not there.
 */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { isObject, type Json } from '../json/json.ts'

/** What a template works with. */
export type Value = Json | undefined

/** The keys of a map in the order in which Go prints and walks through them. */
export function keysOf(map: object): string[] {
  return Object.keys(map).sort(compareUtf8)
}

/** As `%v` prints it. */
export function plainText(value: Value): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number') return floatText(value)
  if (Array.isArray(value)) return `[${value.map(plainText).join(' ')}]`
  if (!isObject(value)) return String(value)
  return `map[${keysOf(value)
    .map((key) => `${key}:${plainText(value[key])}`)
    .join(' ')}]`
}

/** Whether it is a whole number. */
export function isInteger(value: Value): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
}

/** The shortest digits; with an exponent where Go has one: from a million on, and below a ten-thousandth. */
export function floatText(value: number): string {
  if (Number.isInteger(value)) return BigInt(value).toString()
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  const [digits, power] = value.toExponential().split('e')
  const exponent = Number(power)
  return exponent < -4 || exponent >= 6 ? `${digits}e${exponentText(exponent)}` : String(value)
}

/** At least two digits, always with its sign. */
export function exponentText(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** The name of its type in Go, for messages. */
export function typeName(value: Value): string {
  if (value === null || value === undefined) return 'nil'
  if (isInteger(value)) return 'int64'
  if (typeof value === 'number') return 'float64'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

/** Whether it counts as true: neither nothing, false, zero, nor empty. */
export function isTrue(value: Value): boolean {
  if (value === null || value === undefined) return false
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value)
}
