/**
 * Removes trailing characters in linear time. A regular expression such as `/0+$/` would be quadratic, because it
 * attempts a match at every zero.
 */

/** Returns the string without trailing characters that occur in `characters`. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}
