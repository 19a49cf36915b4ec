/**
 * Schedules of CronJobs: five fields (minute, hour, day of the month, month, day of the week) as cron has them, a word
 * such as `@daily`, or `@every 1h30m`; before them, `TZ=Europe/Berlin` or `CRON_TZ=...`. Only checked here: those who
 * act on them read them. What it costs to check grows with the text alone.
 */
import { parseDuration } from '../../../base/duration.ts'
import { shorten } from '../../../base/shorten.ts'

const words = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']

interface Bounds {
  readonly low: number
  readonly high: number
  /** Names of the values, from `low` on. */
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

/** What is wrong with a schedule; undefined when it is sound. */
export function scheduleFault(text: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=(\S*)(?:\s|$)/.exec(text)
  if (zone === null) return timesFault(text)
  if (!isZone(zone[1]!)) return `provided bad location ${shorten(zone[1]!, 100)}: unknown time zone`
  return timesFault(text.slice(zone[0].length).trim())
}

function isZone(name: string): boolean {
  if (name === '' || name === 'Local') return true
  if (name.length > 100 || !/^[A-Za-z][\w+/-]*$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    // This is how it says that it does not know a zone.
    return false
  }
}

function timesFault(text: string): string | undefined {
  if (text.startsWith('@')) return wordFault(text)
  const fields = text.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== bounds.length)
    return `expected exactly ${bounds.length} fields, found ${fields.length}: ${shorten(text, 100)}`
  return fields.map((field, i) => fieldFault(field, bounds[i]!)).find((fault) => fault !== undefined)
}

function wordFault(text: string): string | undefined {
  if (words.includes(text)) return undefined
  const every = /^@every (.*)$/s.exec(text)
  if (every === null) return `unrecognized descriptor: ${shorten(text, 100)}`
  const sound = parseDuration(every[1]!.replace(/^[+-]/, '')) !== undefined
  return sound ? undefined : `failed to parse duration ${shorten(every[1]!, 100)}`
}

/** A list of ranges. */
function fieldFault(field: string, of: Bounds): string | undefined {
  for (const range of field.split(',')) {
    const fault = range === '' ? undefined : rangeFault(range, of)
    if (fault !== undefined) return `${fault}: ${shorten(range, 100)}`
  }
  return undefined
}

/** `*`, `5`, `1-5`, each with a step as in `1-59/2`. A single number with a step goes up to the end. */
function rangeFault(range: string, of: Bounds): string | undefined {
  const [span = '', step = '1', ...slashes] = range.split('/')
  const [from = '', to, ...hyphens] = span.split('-')
  const any = from === '*' || from === '?'
  if (hyphens.length > 0 && !any) return 'too many hyphens'
  if (slashes.length > 0) return 'too many slashes'
  const low = any ? of.low : numberIn(from, of)
  const open = range.includes('/') && to === undefined
  const high = any || open ? of.high : to === undefined ? low : numberIn(to, of)
  if (low === undefined || high === undefined || !/^\+?\d+$/.test(step)) return 'failed to parse int'
  if (low < of.low) return `beginning of range (${low}) below minimum (${of.low})`
  if (high > of.high) return `end of range (${high}) above maximum (${of.high})`
  if (low > high) return `beginning of range (${low}) beyond end of range (${high})`
  return Number(step) === 0 ? 'step of range should be a positive number' : undefined
}

function numberIn(text: string, { low, names }: Bounds): number | undefined {
  const index = names.indexOf(text.toLowerCase())
  if (index >= 0) return low + index
  return /^\+?\d+$/.test(text) ? Number(text) : undefined
}
