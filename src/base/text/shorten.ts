/** Shortens text from clients and other servers before it is included in a message. */

/** Returns the first `longest` UTF-16 code units of a string. Never splits a surrogate pair, such as an emoji. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text
  const last = text.charCodeAt(longest - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longest - 1 : longest)
}
