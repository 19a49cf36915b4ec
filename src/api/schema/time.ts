/** Parses and normalizes RFC 3339 times. Accepts any UTC offset and returns the time in UTC. */
const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/**
 * Returns the time in UTC with whole seconds, or undefined if the string is invalid. If `micro` is set, both the string
 * and the result have six decimal places.
 */
export function normalTime(text: string, micro: boolean): string | undefined {
  if (text.length > 40) return undefined
  const match = form.exec(text)
  if (match === null || (micro && match[7]?.length !== 6)) return undefined
  const whole = Date.parse(`${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6]}${match[8]}`)
  if (Number.isNaN(whole)) return undefined
  const iso = new Date(whole).toISOString()
  if (iso.length !== 24) return undefined
  // `Date.parse` would convert 31 February to a day in March, so such dates are rejected here.
  if (!isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3]))) return undefined
  return `${iso.slice(0, 19)}${micro ? `.${match[7]}` : ''}Z`
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  return day >= 1 && month >= 1 && month <= 12 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}
