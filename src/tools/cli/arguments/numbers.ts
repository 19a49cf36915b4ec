/** Numbers on the command line. */
import { UsageError } from '../../../base/flags/flags.ts'

/** A number that is not negative, of at most nine digits. */
export function readCount(value: string): number {
  return readNumber(value, /^\d{1,9}$/, 'a number')
}

/** A number of at most nine digits; one below zero often stands for none. */
export function readWhole(value: string): number {
  return readNumber(value, /^-?\d{1,9}$/, 'a number')
}

/** A number of seconds; one below zero leaves it to the server, or to the object. */
export function readSeconds(value: string): number {
  return readNumber(value, /^-?\d{1,9}$/, 'a number of seconds')
}

function readNumber(value: string, form: RegExp, what: string): number {
  if (!form.test(value)) throw new UsageError(`${JSON.stringify(value)} is not ${what}`)
  return Number(value)
}
