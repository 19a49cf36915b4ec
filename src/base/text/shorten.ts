/** Shortens text from outside before it goes into one of our messages. */

/** The first `length` code units of a text, without cutting a character that takes two of them (an emoji) in half. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text
  const last = text.charCodeAt(longest - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longest - 1 : longest)
}
