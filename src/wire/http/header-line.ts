/** What the lines of a head in HTTP may hold: the names of headers, and their values without the blanks around them. */

/** A name, as a part of a regular expression. */
export const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const wholeToken = new RegExp(`^${token}$`)
const notInLine = /[^\t\x20-\x7e\x80-\xff]/

/** Whether it may be the name of a header, or a method. */
export function isToken(text: string): boolean {
  return wholeToken.test(text)
}

/** Whether all of it may stand in a line: a line break would begin one of somebody else's making. */
export function fitsLine(text: string): boolean {
  return !notInLine.test(text)
}

/** The text from here on, without the blanks around it. */
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
