/** Parsers for values that several flags share. */
import { isIP } from 'node:net'
import { UsageError } from '../../base/flags/flags.ts'
import { parseDuration } from '../../base/time/duration.ts'

/** Splits a list at its commas. */
export const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** Parses a duration such as `30s`. Returns milliseconds. */
export function readTime(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined)
    throw new UsageError(`${JSON.stringify(value)} is not a duration: use a duration such as 30s or 5m`)
  return ms
}

export function readAddress(value: string): string {
  if (isIP(value) === 0)
    throw new UsageError(`${JSON.stringify(value)} is not an IP address: use an address such as 127.0.0.1`)
  return value
}

/** Parses a non-negative integer. */
export function readCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a non-negative whole number`)
  return Number(value)
}
