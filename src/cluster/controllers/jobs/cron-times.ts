/**
 * Computes the run times of a schedule: the next run after a given time, and the latest run before that time. Schedules
 * use the wall clock of a time zone. A local time that is skipped when clocks are set forward has no run. A local time
 * that occurs twice when clocks are set back has two runs. All times are milliseconds since 1970, in whole seconds.
 */
import type { ParsedSchedule, ScheduleField } from '../../../api/model/cron-expression.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/**
 * Number of days to search for a run. A schedule with no run in this period never runs, for example a schedule for 30
 * February.
 */
const maxDays = 5 * 366

export class CronTimes {
  readonly #times: readonly ScheduleField[] | number
  readonly #zone: ZoneClock

  constructor({ times, zone }: ParsedSchedule) {
    this.#times = times
    this.#zone = new ZoneClock(zone)
  }

  /** Returns the first run after this time, or undefined if there is no such run. */
  next(after: number): number | undefined {
    if (typeof this.#times === 'number') return Math.floor(after / 1000) * 1000 + this.#times
    const firstDay = Math.floor(this.#zone.wall(after) / dayMs) * dayMs
    for (let i = 0; i < maxDays; i++) {
      const day = firstDay + i * dayMs
      const runTime = this.#isDue(day) ? this.#nextOnDay(this.#times, day, after) : undefined
      if (runTime !== undefined) return runTime
    }
    return undefined
  }

  /** Returns the latest run that is after `since` but not after `now`, or undefined if there is no such run. */
  latest(since: number, now: number): number | undefined {
    let runTime = this.next(since)
    if (runTime === undefined || runTime > now) return undefined
    if (typeof this.#times === 'number') return runTime + Math.floor((now - runTime) / this.#times) * this.#times
    // Invariant: no run of the schedule lies between `end` and `now`.
    let end = now
    while (end - runTime >= 1000) {
      const middle: number = Math.floor((runTime + end) / 2)
      const next = this.next(middle)
      if (next !== undefined && next <= now) runTime = next
      else end = middle
    }
    return runTime
  }

  /** Counts the runs that are after `since` but not after `now`, up to a limit. */
  count(since: number, { now, limit }: { readonly now: number; readonly limit: number }): number {
    let counted = 0
    for (let at = this.next(since); at !== undefined && at <= now && counted < limit; at = this.next(at)) counted++
    return counted
  }

  /** Whether the schedule includes this calendar day. */
  #isDue(day: number): boolean {
    const [, , dates, months, weekdays] = this.#times as readonly ScheduleField[]
    const date = new Date(day)
    if (!months!.values.has(date.getUTCMonth() + 1)) return false
    const onDate = dates!.values.has(date.getUTCDate())
    const onWeekday = weekdays!.values.has(date.getUTCDay())
    return dates!.isAny || weekdays!.isAny ? onDate && onWeekday : onDate || onWeekday
  }

  #nextOnDay([minutes, hours]: readonly ScheduleField[], day: number, after: number): number | undefined {
    let first: number | undefined
    const momentsOf = this.#zone.momentsOnDay(day)
    for (let hour = 0; hour < 24; hour++) {
      if (!hours!.values.has(hour)) continue
      for (let minute = 0; minute < 60; minute++) {
        if (!minutes!.values.has(minute)) continue
        for (const at of momentsOf(day + (hour * 60 + minute) * minuteMs))
          if (at > after && (first === undefined || at < first)) first = at
        // If the day has a single UTC offset, later minutes on the wall clock are later points in time.
        if (first !== undefined && momentsOf.isEven) return first
      }
    }
    return first
  }
}

/** Formats a time as local time in a time zone, for example as `2026-11-19T14:05:00+01:00`. */
export function timestampInZone(at: number, zone: string): string {
  const wall = new ZoneClock(zone).wall(at)
  const offsetMinutes = Math.round((wall - at) / minuteMs)
  const digits = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const [hours, minutes] = [Math.abs(offsetMinutes) / 60, Math.abs(offsetMinutes) % 60]
  const offset = offsetMinutes === 0 ? 'Z' : `${offsetMinutes < 0 ? '-' : '+'}${digits(hours)}:${digits(minutes)}`
  return new Date(wall).toISOString().slice(0, 19) + offset
}

interface MomentsOf {
  /** Returns the times when the wall clock shows this time: none, one or two. */
  (wall: number): number[]
  /** Whether the UTC offset stays the same throughout the day. */
  readonly isEven: boolean
}

/**
 * The wall clock of a time zone. A wall-clock time is represented by the point in time at which a UTC clock shows the
 * same date and time.
 */
class ZoneClock {
  readonly #format: Intl.DateTimeFormat | undefined

  constructor(zone: string | undefined) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
    this.#format =
      zone === 'UTC'
        ? undefined
        : new Intl.DateTimeFormat('en', {
            ...fields,
            second: 'numeric',
            hourCycle: 'h23',
            calendar: 'gregory',
            numberingSystem: 'latn',
            ...(zone === undefined ? {} : { timeZone: zone }),
          })
  }

  wall(moment: number): number {
    if (this.#format === undefined) return moment
    const parts = new Map(this.#format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
    const date = [part('year'), part('month') - 1, part('day')] as const
    return Date.UTC(...date, part('hour'), part('minute'), part('second')) + (moment % 1000)
  }

  momentsOnDay(day: number): MomentsOf {
    // UTC offsets are smaller than a day, so the offsets one day before and one day after cover all offsets within the
    // day.
    const offsets = new Set([day - dayMs, day + dayMs, day + 2 * dayMs].map((at) => this.wall(at) - at))
    const momentsOf = (wall: number) =>
      [...offsets].map((offset) => wall - offset).filter((at) => offsets.size === 1 || this.wall(at) === wall)
    return Object.assign(momentsOf, { isEven: offsets.size === 1 })
  }
}
