/**
 * When a schedule is due: the next time after a moment, and the latest of those that have passed. Times are those of a
 * wall clock in a time zone: one that is skipped when clocks go forward does not come, one that comes twice when they go
 * back comes twice. All moments are in milliseconds since 1970, whole seconds.
 */
import type { ParsedSchedule, ScheduleField } from '../../../api/model/cron-schedule.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** A schedule that is not due within so many days never is: 30 February. */
const maxDays = 5 * 366

export class CronSchedule {
  readonly #times: readonly ScheduleField[] | number
  readonly #zone: ZoneClock

  constructor({ times, zone }: ParsedSchedule) {
    this.#times = times
    this.#zone = new ZoneClock(zone)
  }

  /** The first time after this moment; undefined where there is none. */
  next(after: number): number | undefined {
    if (typeof this.#times === 'number') return Math.floor(after / 1000) * 1000 + this.#times
    const firstDay = Math.floor(this.#zone.wall(after) / dayMs) * dayMs
    for (let i = 0; i < maxDays; i++) {
      const day = firstDay + i * dayMs
      const found = this.#isDue(day) ? this.#nextOnDay(this.#times, day, after) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The latest time after `since` that is not after `now`; undefined where there is none. */
  latest(since: number, now: number): number | undefined {
    let found = this.next(since)
    if (found === undefined || found > now) return undefined
    if (typeof this.#times === 'number') return found + Math.floor((now - found) / this.#times) * this.#times
    // Nothing is due between `end` and now.
    let end = now
    while (end - found >= 1000) {
      const middle: number = Math.floor((found + end) / 2)
      const next = this.next(middle)
      if (next !== undefined && next <= now) found = next
      else end = middle
    }
    return found
  }

  /** How many times there are after `since` that are not after `now`, counted up to a limit. */
  count(since: number, { now, limit }: { readonly now: number; readonly limit: number }): number {
    let counted = 0
    for (let at = this.next(since); at !== undefined && at <= now && counted < limit; at = this.next(at)) counted++
    return counted
  }

  /** Whether a day, as a moment of the wall clock, is one of the schedule. */
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
        // On a day of one offset later minutes come later.
        if (first !== undefined && momentsOf.isEven) return first
      }
    }
    return first
  }
}

interface MomentsOf {
  /** The moments at which the wall clock shows this: none, one or two. */
  (wall: number): number[]
  /** Whether the day has one offset. */
  readonly isEven: boolean
}

/** The wall clock of a zone: what it shows is written as the moment at which one of UTC shows the same. */
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
    // Offsets are less than a day: those around the day are all that it can have.
    const offsets = new Set([day - dayMs, day + dayMs, day + 2 * dayMs].map((at) => this.wall(at) - at))
    const momentsOf = (wall: number) =>
      [...offsets].map((offset) => wall - offset).filter((at) => offsets.size === 1 || this.wall(at) === wall)
    return Object.assign(momentsOf, { isEven: offsets.size === 1 })
  }
}
