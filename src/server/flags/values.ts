/** Readers of values that several flags share. */
import { isIP } from 'node:net'
import { UsageError } from '../../base/flags/flags.ts'
import { parseDuration } from '../../base/time/duration.ts'

/** Words separated by commas. */
export const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** A duration such as `30s`, in milliseconds. */
export function readTime(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw new UsageError(`${JSON.stringify(value)} is not a duration: use one such as 30s or 5m`)
  return ms
}

export function readAddress(value: string): string {
  if (isIP(value) === 0) throw new UsageError(`${JSON.stringify(value)} is not an IP address`)
  return value
}

/** A whole number from 0 on. */
export function readCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a whole number from 0 on`)
  return Number(value)
}
