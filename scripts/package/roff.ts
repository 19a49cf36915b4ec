/**
 * Writes roff, the markup language of manual pages. Text is escaped only here, so it can never become a roff request.
 */

/** A font of the man macros: `B` for literal text that the user types, `I` for placeholders. */
type Font = 'B' | 'I'

const escapes: { readonly [character: string]: string } = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
}

/** Minimum length of words that may be broken across lines. */
const longWord = 30

/** Returns plain text as one line of roff that is never a request. */
export function escaped(text: string): string {
  const words = text.trim().split(/\s+/)
  return guard(text.trim()) + words.map(escapedWord).join(' ')
}

function escapedWord(word: string): string {
  const mayBreak = word.length > longWord
  return Array.from(word, (each) => escapedCharacter(each) + (mayBreak && /[,|/=:]/.test(each) ? '\\:' : '')).join('')
}

function escapedCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return escapes[character] ?? (code < 127 ? character : `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`)
}

/** A line that starts with a dot is a request. An empty character before the dot turns the line into text. */
function guard(text: string): string {
  return text.startsWith('.') ? '\\&' : ''
}

/** Formats text in a font. */
export function inFont(font: Font, text: string): string {
  return text === '' ? '' : `\\f${font}${escaped(text)}\\fR`
}

/** Returns a section with its title, or an empty list if the section has no lines. */
export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH "${escaped(title)}"`, ...lines]
}

/** Returns a subsection with its title. */
export function subsection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SS "${escaped(title)}"`, ...lines]
}

/** Returns a list entry: the term, which is already roff, and below it a description in plain text. */
export function entry(term: string, text: string): string[] {
  return ['.TP', term, escaped(text)]
}

/** Formats plain text as paragraphs. */
export function paragraphs(text: string): string[] {
  return text.split(/\n+/).flatMap((part, index) => (index === 0 ? [escaped(part)] : ['.PP', escaped(part)]))
}

/** Returns lines that keep their spaces and line breaks. */
export function literal(lines: readonly string[]): string[] {
  const text = lines.flatMap((line) => line.split('\n'))
  return ['.nf', ...text.map((line) => `${guard(line)}${Array.from(line, escapedCharacter).join('')}`), '.fi']
}
