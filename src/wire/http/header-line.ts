/** The syntax of HTTP header lines. */

/** Regular expression source that matches a header name. */
export const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const wholeToken = new RegExp(`^${token}$`)
const notInLine = /[^\t\x20-\x7e\x80-\xff]/

/** Whether a string is a valid header name or method. */
export function isToken(text: string): boolean {
  return wholeToken.test(text)
}

/**
 * Whether a string contains only characters that are valid in a header line. A line break would allow header injection.
 */
export function fitsLine(text: string): boolean {
  return !notInLine.test(text)
}

/** Trims spaces and tabs from the text that starts at `start`. */
export function withoutBlanks(text: string, start = 0): string {
  let from = start
  let to = text.length
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09
}
