/** How values of flags are read that occur in several of them. */
import { parseDuration } from '../base/duration.ts'
import { UsageError } from '../base/flags.ts'

/** Words separated by commas. */
export const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

export function readTime(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw new UsageError(`${JSON.stringify(value)} is not a duration: use one such as 30s or 5m`)
  return ms
}
