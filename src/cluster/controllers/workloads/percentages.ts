/** Converts fields that accept a number or a percentage, such as maxSurge. */

/** Converts a value to a number. A percentage is relative to `whole`. Invalid values count as 0. */
export function absoluteNumber(value: number | string, whole: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value
  const percent = /^(\d{1,9})%$/.exec(value)?.[1]
  return percent === undefined ? 0 : round((Number(percent) * whole) / 100)
}
