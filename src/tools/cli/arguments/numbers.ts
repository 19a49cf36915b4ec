/** Parses numbers on the command line. */
import { UsageError } from '../../../base/flags/flags.ts'

/** Parses a non-negative integer of at most nine digits. */
export function readCount(value: string): number {
  return readNumber(value, /^\d{1,9}$/, 'a number')
}

/** Parses an integer of at most nine digits. Negative values often mean "none". */
export function readWhole(value: string): number {
  return readNumber(value, /^-?\d{1,9}$/, 'a number')
}

/** Parses a number of seconds. Negative values are allowed and mean that the server or the object chooses the value. */
export function readSeconds(value: string): number {
  return readNumber(value, /^-?\d{1,9}$/, 'a number of seconds')
}

function readNumber(value: string, form: RegExp, what: string): number {
  if (!form.test(value)) throw new UsageError(`${JSON.stringify(value)} is not ${what}`)
  return Number(value)
}
