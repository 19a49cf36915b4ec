/**
 * Escapes text from a server, because such text must not control the user's terminal. Control characters and characters
 * that change the writing direction become visible.
 */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Escapes a single line. The escape character becomes `^[`, as in terminals. */
export function escapeLine(text: string): string {
  return text.replaceAll(unprintable, show)
}

/** Escapes text with several lines or columns. */
export function escapeText(text: string): string {
  return text.replaceAll(unprintable, (character) =>
    character === '\n' || character === '\t' ? character : show(character),
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches the escape character
const colour = /\u001b\[[\d;]{0,20}m/g

/** Escapes the output of a program for a terminal, except for colors and carriage returns. */
export function escapeOutput(text: string): string {
  let escaped = ''
  let place = 0
  for (const colourMatch of text.matchAll(colour)) {
    escaped += escapePlain(text.slice(place, colourMatch.index)) + colourMatch[0]
    place = colourMatch.index + colourMatch[0].length
  }
  return escaped + escapePlain(text.slice(place))
}

function escapePlain(text: string): string {
  return text.replaceAll(unprintable, (character) => ('\n\t\r'.includes(character) ? character : show(character)))
}

/**
 * Escapes JSON. In JSON, only strings can contain such characters, and escaping them does not change a string's value.
 */
export function escapeJson(text: string): string {
  return text.replaceAll(unprintable, (character) => (character === '\n' ? character : unicodeEscape(character)))
}

function show(character: string): string {
  const code = character.charCodeAt(0)
  if (code === 0x7f) return '^?'
  return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : unicodeEscape(character)
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
