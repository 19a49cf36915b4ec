/** Formats durations and ages for display. Short durations are formatted more precisely than long durations. */
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/**
 * Formats an age that is given in milliseconds, for example as `95s`, `4m20s`, `47m`, `3h5m`, `26h`, `2d3h`, `90d` or
 * `3y20d`.
 */
export function humanDuration(ms: number): string {
  if (ms < -second) return '<invalid>'
  const age = Math.max(ms, 0)
  if (age < 2 * minute) return count(age, second, 's')
  if (age < 10 * minute) return count(age, minute, 'm') + rest(age, minute, second, 's')
  if (age < 3 * hour) return count(age, minute, 'm')
  if (age < 8 * hour) return count(age, hour, 'h') + rest(age, hour, minute, 'm')
  if (age < 2 * day) return count(age, hour, 'h')
  if (age < 8 * day) return count(age, day, 'd') + rest(age, day, hour, 'h')
  if (age < 2 * 365 * day) return count(age, day, 'd')
  if (age < 8 * 365 * day) return count(age, 365 * day, 'y') + rest(age, 365 * day, day, 'd')
  return count(age, 365 * day, 'y')
}

function count(age: number, unit: number, name: string): string {
  return `${Math.floor(age / unit)}${name}`
}

function rest(age: number, whole: number, unit: number, name: string): string {
  const remainder = Math.floor((age % whole) / unit)
  return remainder === 0 ? '' : `${remainder}${name}`
}
