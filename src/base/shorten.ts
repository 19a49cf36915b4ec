/** Texts of others in messages of ours: bounded, and still texts. */

/** The beginning of a text, at most so many units long, and never half of a character that takes two (as emoji do). */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text
  const last = text.charCodeAt(longest - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? longest - 1 : longest)
}
