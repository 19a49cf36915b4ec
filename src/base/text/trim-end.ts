/**
 * Removes characters from the end of a text in linear time. A regular expression such as `/0+$/` is quadratic because
 * it tries every zero as the first one of the end.
 */

/** Returns the text without these characters at its end. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}
