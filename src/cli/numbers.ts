/** Numbers on the command line. */
import { UsageError } from '../base/flags.ts'

/** A number that is not negative, of at most nine digits. */
export function readCount(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a number`)
  return Number(value)
}
