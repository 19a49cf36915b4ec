/** What the headers of an answer have in common in HTTP/1.1 and HTTP/2. */
import { fitsLine } from './header-line.ts'

let second = 0
let date = ''

/** The value of the header `date`, written once a second. */
export function dateHeader(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) date = new Date(now * 1000).toUTCString()
  second = now
  return date
}

/** A line break in a value would begin a header of somebody else's making. */
export function assertFits(name: string, value: string): void {
  if (!fitsLine(value)) throw new Error(`the header ${name} of an answer has a character that no header may have`)
}
