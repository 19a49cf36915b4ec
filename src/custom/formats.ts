/** The formats of strings and numbers that schemas may name. Others are words for readers: they demand nothing. */
import { isIPv4, isIPv6 } from 'node:net'
import type { Json } from '../model/json.ts'
import { checkDnsSubdomain } from '../model/names.ts'
import { normalTime } from '../schema/time.ts'

const texts: { readonly [format: string]: (text: string) => boolean } = {
  'date-time': (text) => normalTime(text.toUpperCase(), false) !== undefined,
  date: (text) => normalTime(`${text}T00:00:00Z`, false) !== undefined,
  byte: (text) => Buffer.from(text, 'base64').toString('base64') === text,
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  hostname: (text) => checkDnsSubdomain(text.toLowerCase()).length === 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
}

const bits: { readonly [format: string]: number } = { int32: 32, int64: 64 }

/** Whether a value is of the format; true for values and formats that this is not about. */
export function hasFormat(format: string, value: Json): boolean {
  if (typeof value === 'string') return !Object.hasOwn(texts, format) || texts[format]!(value)
  const width = Object.hasOwn(bits, format) ? bits[format]! : undefined
  if (width === undefined || (typeof value !== 'bigint' && !Number.isInteger(value))) return true
  const whole = BigInt(value as number | bigint)
  return BigInt.asIntN(width, whole) === whole
}
