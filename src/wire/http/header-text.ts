/**
 * The value of a header as text. Node hands out one character for each byte; names of users are UTF-8. Undefined where
 * it is not UTF-8: read in any other way, two different values could become one name.
 */
import { isUtf8 } from 'node:buffer'

/** The value of a header, read as UTF-8; undefined where it is not UTF-8. */
export function headerText(value: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (/^[\x00-\x7f]*$/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
