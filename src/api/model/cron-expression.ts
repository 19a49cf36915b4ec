/**
 * Parses CronJob schedules: the five cron fields (minute, hour, day of month, month, day of week), a macro such as
 * `@daily`, or `@every 1h30m`, optionally preceded by `TZ=Europe/Berlin` or `CRON_TZ=...`. The cost of parsing depends
 * only on the length of the schedule. The CronJob controller computes when a schedule is due.
 */

import { shorten } from '../../base/text/shorten.ts'
import { parseDuration } from '../../base/time/duration.ts'

const words: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

interface Bounds {
  readonly low: number
  readonly high: number
  /** Names of the field's values. The first name stands for the value `low`. */
  readonly names: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const bounds: readonly Bounds[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: months },
  { low: 0, high: 6, names: days },
]

/** A parsed cron field: the set of values that it matches. */
export interface ScheduleField {
  readonly values: ReadonlySet<number>
  /** Whether the field is `*`. If one of the two day fields is `*`, the other one alone determines the days. */
  readonly isAny: boolean
}

/** The result of parsing a CronJob schedule. */
export interface ParsedSchedule {
  /** The time zone in the schedule. Undefined means the time zone of the controller. */
  readonly zone: string | undefined
  /** The five parsed cron fields or, for `@every`, the interval in milliseconds. */
  readonly times: readonly ScheduleField[] | number
}

/** Returns the error in a schedule, or undefined if the schedule is valid. */
export function scheduleFault(text: string): string | undefined {
  const parsed = parseSchedule(text)
  return typeof parsed === 'string' ? parsed : undefined
}

/** Parses a schedule. Returns the error as a string if the schedule is invalid. */
export function parseSchedule(text: string): ParsedSchedule | string {
  const prefix = /^(?:CRON_)?TZ=(\S*)(?:\s|$)/.exec(text)
  const zone = prefix?.[1]
  if (zone !== undefined && !isZone(zone)) return `provided bad location ${shorten(zone, 100)}: unknown time zone`
  const times = parseTimes(prefix === null ? text : text.slice(prefix[0].length).trim())
  if (typeof times === 'string') return times
  // As in Go, an empty name means UTC.
  return { zone: zone === '' ? 'UTC' : zone === 'Local' ? undefined : zone, times }
}

function isZone(name: string): boolean {
  if (name === '' || name === 'Local') return true
  if (name.length > 100 || !/^[A-Za-z][\w+/-]*$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    // The runtime throws an error for an unknown time zone.
    return false
  }
}

function parseTimes(text: string): ScheduleField[] | number | string {
  const every = /^@every (.*)$/s.exec(text)
  if (every !== null) return parseEvery(every[1]!)
  const meant = words.get(text) ?? text
  if (meant.startsWith('@')) return `unrecognized descriptor: ${shorten(text, 100)}`
  const fields = meant.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== bounds.length)
    return `expected exactly ${bounds.length} fields, found ${fields.length}: ${shorten(text, 100)}`
  const parsed = fields.map((field, i) => parseField(field, bounds[i]!))
  return parsed.find((field) => typeof field === 'string') ?? (parsed as ScheduleField[])
}

/** Parses the interval of `@every`, which must be at least one second. */
function parseEvery(text: string): number | string {
  const ms = parseDuration(text.replace(/^[+-]/, ''))
  if (ms === undefined) return `failed to parse duration ${shorten(text, 100)}`
  return text.startsWith('-') ? 1000 : Math.max(1000, Math.floor(ms / 1000) * 1000)
}

/** Parses one cron field, which is a list of ranges. */
function parseField(field: string, of: Bounds): ScheduleField | string {
  const values = new Set<number>()
  let isAny = false
  for (const range of field.split(',')) {
    if (range === '') continue
    const parsed = parseRange(range, of)
    if (typeof parsed === 'string') return `${parsed}: ${shorten(range, 100)}`
    for (let value = parsed.low; value <= parsed.high; value += parsed.step) values.add(value)
    isAny ||= parsed.isAny
  }
  return { values, isAny }
}

interface Range {
  readonly low: number
  readonly high: number
  readonly step: number
  readonly isAny: boolean
}

/**
 * Parses `*`, `5` or `1-5`, each with an optional step as in `1-59/2`. A single number with a step starts a range that
 * extends to the highest value.
 */
function parseRange(range: string, of: Bounds): Range | string {
  const [span = '', stepText = '1', ...slashes] = range.split('/')
  const [from = '', to, ...hyphens] = span.split('-')
  const any = from === '*' || from === '?'
  if (hyphens.length > 0 && !any) return 'too many hyphens'
  if (slashes.length > 0) return 'too many slashes'
  const low = any ? of.low : numberIn(from, of)
  const open = range.includes('/') && to === undefined
  const high = any || open ? of.high : to === undefined ? low : numberIn(to, of)
  if (low === undefined || high === undefined || !/^\+?\d+$/.test(stepText)) return 'failed to parse int'
  if (low < of.low) return `beginning of range (${low}) below minimum (${of.low})`
  if (high > of.high) return `end of range (${high}) above maximum (${of.high})`
  if (low > high) return `beginning of range (${low}) beyond end of range (${high})`
  const step = Number(stepText)
  return step === 0 ? 'step of range should be a positive number' : { low, high, step, isAny: any && step === 1 }
}

function numberIn(text: string, { low, names }: Bounds): number | undefined {
  const index = names.indexOf(text.toLowerCase())
  if (index >= 0) return low + index
  return /^\+?\d+$/.test(text) ? Number(text) : undefined
}
