/** Shortens external text before it becomes part of a message. */

/** Returns the first `length` code units of a text without splitting a surrogate pair (an emoji). */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text
  const last = text.charCodeAt(longest - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longest - 1 : longest)
}
