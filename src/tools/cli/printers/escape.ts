/**
 * What comes from a server is not trusted to drive a terminal: control characters are shown, not sent, and with them
 * the characters that turn the direction of writing.
 */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Text that is one line: `^[` for escape, as terminals show it. */
export function escapeLine(text: string): string {
  return text.replaceAll(unprintable, show)
}

/** Text of several lines, or in columns. */
export function escapeText(text: string): string {
  return text.replaceAll(unprintable, (character) =>
    character === '\n' || character === '\t' ? character : show(character),
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const colour = /\u001b\[[\d;]{0,20}m/g

/** What programs print, on a terminal: colours pass, and what begins a line anew; all else that drives it is shown. */
export function escapeOutput(text: string): string {
  let shown = ''
  let place = 0
  for (const found of text.matchAll(colour)) {
    shown += escapePlain(text.slice(place, found.index)) + found[0]
    place = found.index + found[0].length
  }
  return shown + escapePlain(text.slice(place))
}

function escapePlain(text: string): string {
  return text.replaceAll(unprintable, (character) => ('\n\t\r'.includes(character) ? character : show(character)))
}

/** JSON, in which only strings can hold such characters, and where the escape means the character still. */
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
