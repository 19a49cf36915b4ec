/**
 * Parses and formats times and durations: RFC 3339 timestamps, Go durations (`1h30m`), and the additional forms that
 * schemas allow in the formats `date`, `date-time`, `duration` and `byte`. Throws CelError for invalid input.
 */
import { trimEndOf } from '../../base/text/trim-end.ts'
import { CelError, Duration, maxInt, minInt, Timestamp } from './values.ts'

const second = 1_000_000_000n
const units: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
}

/** Maximum length of a duration in text form. Longer strings are rejected. */
const maxText = 128

/** Parses a duration such as `-1h2m3.5s`. Returns undefined if the string is not a duration. */
function parseGoDuration(text: string): bigint | undefined {
  if (text.length > maxText) return undefined
  const [, sign, body = ''] = /^([-+]?)(.*)$/s.exec(text)!
  if (body === '0') return 0n
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined
  let nanos = 0n
  for (const [, whole, fraction = '', unit] of body.matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const size = units[unit!]!
    nanos += BigInt(whole || '0') * size
    if (fraction !== '') nanos += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length)
  }
  return sign === '-' ? -nanos : nanos
}

export function durationOf(nanos: bigint): Duration {
  if (nanos > maxInt || nanos < minInt) throw new CelError('integer overflow')
  return new Duration(nanos)
}

export function readDuration(text: string): Duration {
  const nanos = parseGoDuration(text)
  if (nanos === undefined) throw new CelError(`time: invalid duration ${JSON.stringify(text.slice(0, maxText))}`)
  return durationOf(nanos)
}

const words: { readonly [unit: string]: bigint } = {
  nanosecond: 1n,
  microsecond: 1000n,
  millisecond: 1_000_000n,
  second,
  sec: second,
  s: second,
  minute: 60n * second,
  min: 60n * second,
  m: 60n * second,
  hour: 3600n * second,
  h: 3600n * second,
  day: 86_400n * second,
  d: 86_400n * second,
  week: 604_800n * second,
  w: 604_800n * second,
}

/** Parses a duration in a field with the format `duration`. Schemas also allow durations in words, such as `3 days`. */
export function readSchemaDuration(text: string): Duration {
  const nanoseconds = parseGoDuration(text)
  if (nanoseconds !== undefined) return durationOf(nanoseconds)
  let nanos = 0n
  const rest = text.slice(0, maxText).replaceAll(/(\d+)\s*([A-Za-z]+)/g, (match, count, unit) => {
    const name = String(unit).toLowerCase()
    const size = words[name] ?? words[name.replace(/s$/, '')] ?? units[unit]
    if (size === undefined) return match
    nanos += BigInt(count) * size
    return ''
  })
  if (rest.trim() !== '' || text.trim() === '' || text.length > maxText)
    throw new CelError(`Invalid duration ${text.slice(0, maxText)}: unable to parse`)
  return durationOf(nanos)
}

const dateTime = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?([Zz]|[-+]\d\d:\d\d)$/

export function readTimestamp(text: string): Timestamp {
  const dateTime = parseDateTime(text.slice(0, maxText))
  if (dateTime === undefined || text.length > maxText)
    throw new CelError(`parsing time ${JSON.stringify(text.slice(0, maxText))} as RFC 3339 failed`)
  return timestampOf(dateTime)
}

function parseDateTime(text: string): bigint | undefined {
  const match = dateTime.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, seconds] = match.slice(1, 7).map(Number) as number[] as [
    ...[number, number, number, number, number, number],
  ]
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute, seconds)
  const date = new Date(milliseconds)
  if (year < 100) date.setUTCFullYear(year)
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  if (!isReal || hour > 23 || minute > 59 || seconds > 59) return undefined
  const fraction = BigInt((match[7] ?? '').padEnd(9, '0'))
  return (BigInt(date.getTime()) - BigInt(offsetOf(match[8]!)) * 60_000n) * 1_000_000n + fraction
}

/** Returns the UTC offset of a time zone such as `+02:00`, in minutes. */
export function offsetOf(zone: string): number {
  const match = /^([-+]?)(\d\d):(\d\d)$/.exec(zone)
  if (match === null) return 0
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return match[1] === '-' ? -minutes : minutes
}

const firstMoment = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1_000_000n
const lastMoment = BigInt(Date.parse('9999-12-31T23:59:59Z')) * 1_000_000n + second - 1n

export function timestampOf(nanos: bigint): Timestamp {
  if (nanos < firstMoment || nanos > lastMoment) throw new CelError('timestamp overflow')
  return new Timestamp(nanos)
}

export function readDate(text: string): Timestamp {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) throw new CelError('Invalid date formatted string')
  return readTimestamp(`${text}T00:00:00Z`)
}

/**
 * Parses a time in a field with the format `date-time`. Schemas allow a space before the time of day, a missing zone,
 * and a zone without a colon.
 */
export function readDateTime(text: string): Timestamp {
  const short = text.slice(0, maxText)
  const zoned = /(?:[Zz]|[-+]\d\d:?\d\d)$/.test(short) ? short.replace(/([-+]\d\d)(\d\d)$/, '$1:$2') : `${short}Z`
  return readTimestamp(zoned)
}

export function readBase64(text: string): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new CelError('Invalid byte formatted string')
  return Buffer.from(text, 'base64')
}

export function showTimestamp({ nanos }: Timestamp): string {
  const floored = ((nanos % second) + second) % second
  const date = new Date(Number((nanos - floored) / 1_000_000n)).toISOString().replace(/\.\d+Z$/, '')
  const fraction = floored === 0n ? '' : `.${trimEndOf(String(floored).padStart(9, '0'), '0')}`
  return `${date}${fraction}Z`
}

/** Formats a duration in seconds, for example as `90.5s`. */
export function showDuration({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos
  const fraction = size % second === 0n ? '' : `.${trimEndOf(String(size % second).padStart(9, '0'), '0')}`
  return `${nanos < 0n ? '-' : ''}${size / second}${fraction}s`
}
