/** Functions that return parts of a timestamp, in UTC or in a given time zone, and parts of a duration. */
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { define, type Functions, type Implementation, type Overload } from '../overload.ts'
import { offsetOf } from '../time-text.ts'
import { CelError, type Duration, type Timestamp, toInt } from '../values.ts'

const milli = 1_000_000n

/** Returns the local time in a time zone. The result is represented as if the time zone were UTC. */
function inZone({ nanos }: Timestamp, zone: string | undefined): Date {
  const milliseconds = floorDivide(nanos, milli)
  const date = new Date(Number(milliseconds))
  if (zone === undefined || zone === '' || zone === 'UTC') return date
  if (/^[-+]?\d\d:\d\d$/.test(zone)) return new Date(date.getTime() + offsetOf(zone) * 60_000)
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(date)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  const shown = new Date(Date.UTC(year, month - 1, day, hour, minute, second, date.getUTCMilliseconds()))
  if (year < 100) shown.setUTCFullYear(year)
  return shown
}

function floorDivide(a: bigint, b: bigint): bigint {
  const rest = ((a % b) + b) % b
  return (a - rest) / b
}

/** Maximum number of cached date formats, one for each time zone that rules use. Creating a date format is slow. */
const maxFormats = 50
const formats = new BoundedMap<string, Intl.DateTimeFormat>(maxFormats)

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const cachedFormat = formats.get(timeZone)
  if (cachedFormat !== undefined) return cachedFormat
  if (!/^[A-Za-z0-9_+\-/]{1,64}$/.test(timeZone)) throw new CelError(`unknown time zone ${timeZone.slice(0, 64)}`)
  let made: Intl.DateTimeFormat
  try {
    const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
    made = new Intl.DateTimeFormat('en-US', { timeZone, ...digits, second: 'numeric', hourCycle: 'h23' })
  } catch {
    throw new CelError(`unknown time zone ${timeZone}`)
  }
  formats.set(timeZone, made)
  return made
}

/**
 * Cost of converting a time to a time zone, in budget steps. The cost is a hundred times that of a typical function.
 */
const zoneSteps = 2000

function ofTimestamp(read: (date: Date) => number): Overload[] {
  const call: Implementation = ({ budget }, [timestamp, zone]) => {
    if (zone !== undefined) budget.work(zoneSteps)
    return read(inZone(timestamp as Timestamp, zone as string | undefined))
  }
  return [define('timestamp.() int', call), define('timestamp.(string) int', call)]
}

function ofDuration(nanosEach: bigint): Overload {
  return define('duration.() int', (_, [duration]) => toInt((duration as Duration).nanos / nanosEach))
}

function dayOfYear(date: Date): number {
  const first = new Date(date)
  first.setUTCMonth(0, 1)
  return Math.round((date.getTime() - first.getTime()) / 86_400_000)
}

const second = 1_000_000_000n

export const times: Functions = new Map([
  ['getFullYear', ofTimestamp((date) => date.getUTCFullYear())],
  ['getMonth', ofTimestamp((date) => date.getUTCMonth())],
  ['getDayOfYear', ofTimestamp(dayOfYear)],
  ['getDate', ofTimestamp((date) => date.getUTCDate())],
  ['getDayOfMonth', ofTimestamp((date) => date.getUTCDate() - 1)],
  ['getDayOfWeek', ofTimestamp((date) => date.getUTCDay())],
  ['getHours', [...ofTimestamp((date) => date.getUTCHours()), ofDuration(3600n * second)]],
  ['getMinutes', [...ofTimestamp((date) => date.getUTCMinutes()), ofDuration(60n * second)]],
  ['getSeconds', [...ofTimestamp((date) => date.getUTCSeconds()), ofDuration(second)]],
  ['getMilliseconds', [...ofTimestamp((date) => date.getUTCMilliseconds()), ofDuration(milli)]],
])
