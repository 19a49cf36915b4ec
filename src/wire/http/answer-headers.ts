/** Response headers that are the same for HTTP/1.1 and HTTP/2. */
import { fitsLine } from './header-line.ts'

let second = 0
let date = ''

/** Returns the value of the `date` header, which is formatted at most once per second. */
export function dateHeader(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) date = new Date(now * 1000).toUTCString()
  second = now
  return date
}

/**
 * Throws an error if a header value contains an invalid character. A line break in a value would allow header
 * injection.
 */
export function assertFits(name: string, value: string): void {
  if (!fitsLine(value))
    throw new Error(`the response header ${name} contains a character that is not allowed in headers`)
}
