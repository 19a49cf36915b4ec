/**
 * Decodes header values. Node returns one character per byte, but user names are encoded in UTF-8. Values that are not
 * valid UTF-8 are rejected, because any other decoding could map two different values to the same name.
 */
import { isUtf8 } from 'node:buffer'

/** Decodes a header value as UTF-8. Returns undefined if the value is not valid UTF-8. */
export function headerText(value: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches all of ASCII
  if (/^[\x00-\x7f]*$/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
