/**
 * Splits a Go template into tokens: the text between actions, and the words, symbols and literals between `{{` and
 * `}}`. A dash next to a delimiter (`{{- `, ` -}}`) removes the adjacent whitespace. Comments are dropped.
 */
import { trimEndOf } from '../../base/text/trim-end.ts'
import { templateError } from './template-error.ts'

export interface Token {
  readonly kind: 'text' | 'open' | 'close' | 'mark' | 'field' | 'variable' | 'word' | 'string' | 'number' | 'dot'
  /** The value of a string or character literal, or the text of any other token. */
  readonly text: string
  readonly at: number
  /** Whether whitespace precedes the token. */
  readonly spaced: boolean
}

const blank = /^[ \t\r\n]/
const comment = /^\/\*[\s\S]*?\*\//

/** Splits a template into tokens. Throws TemplateError if the template is invalid. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let place = 0
  let trims = false
  while (place < text.length) {
    const open = text.indexOf('{{', place)
    const end = open < 0 ? text.length : open
    const dash = open >= 0 && text[open + 2] === '-' && blank.test(text.slice(open + 3))
    const between = trimmed(text.slice(place, end), { before: trims, after: dash })
    if (between !== '') tokens.push({ kind: 'text', text: between, at: place, spaced: false })
    if (open < 0) break
    const action = readAction(text, open, open + (dash ? 3 : 2))
    tokens.push(...action.tokens)
    trims = action.trims
    place = action.end
  }
  return tokens
}

function trimmed(text: string, { before, after }: { before: boolean; after: boolean }): string {
  const rest = before ? text.replace(/^[ \t\r\n]+/, '') : text
  return after ? trimEndOf(rest, ' \t\r\n') : rest
}

interface Action {
  readonly tokens: readonly Token[]
  readonly end: number
  /** Whether the action removes the whitespace that follows. */
  readonly trims: boolean
}

function readAction(text: string, open: number, start: number): Action {
  const noted = comment.exec(text.slice(start).trimStart())
  if (noted !== null) return endOfComment(text, open, text.indexOf(noted[0], start) + noted[0].length)
  const tokens: Token[] = [{ kind: 'open', text: '{{', at: open, spaced: false }]
  let place = start
  for (;;) {
    const before = place
    while (blank.test(text.slice(place, place + 1))) place++
    const spaced = place > before
    const close = closing(text, place, { spaced })
    if (close !== undefined) {
      tokens.push({ kind: 'close', text: '}}', at: place, spaced })
      return { tokens, ...close }
    }
    if (place >= text.length) throw templateError(text, open, 'unclosed action')
    const token = readToken(text, place)
    tokens.push({ kind: token.kind, text: token.text, at: place, spaced })
    place = token.end
  }
}

function endOfComment(text: string, open: number, place: number): Action {
  const rest = text.slice(place)
  const end = place + rest.length - rest.trimStart().length
  const close = closing(text, end, { spaced: end > place })
  if (close === undefined) throw templateError(text, open, 'a comment ends before the closing delimiter')
  return { tokens: [], ...close }
}

function closing(
  text: string,
  place: number,
  { spaced }: { spaced: boolean },
): { end: number; trims: boolean } | undefined {
  if (text.startsWith('}}', place)) return { end: place + 2, trims: false }
  return spaced && text.startsWith('-}}', place) ? { end: place + 3, trims: true } : undefined
}

const shapes: readonly (readonly [Token['kind'], RegExp])[] = [
  ['mark', /:=|[|=,()]/y],
  ['number', /[+-]?(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y],
  ['field', /\.[\p{L}_][\p{L}\p{Nd}_]*/uy],
  ['dot', /\./y],
  ['variable', /\$[\p{L}\p{Nd}_]*/uy],
  ['word', /[\p{L}_][\p{L}\p{Nd}_]*/uy],
]

interface ReadToken {
  readonly kind: Token['kind']
  readonly text: string
  readonly end: number
}

function readToken(text: string, place: number): ReadToken {
  const first = text[place]!
  if (first === '"' || first === "'" || first === '`') return readQuoted(text, place)
  for (const [kind, shape] of shapes) {
    shape.lastIndex = place
    const tokenText = shape.exec(text)?.[0]
    if (tokenText !== undefined) return { kind, text: tokenText, end: place + tokenText.length }
  }
  throw templateError(text, place, `unexpected ${JSON.stringify(first)} in an action`)
}

/** Reads a string in quotes, or a raw string in backquotes. The value of a character literal is its character code. */
function readQuoted(text: string, place: number): ReadToken {
  const quote = text[place]!
  let end = place + 1
  while (end < text.length && text[end] !== quote) {
    if (quote !== '`' && text[end] === '\n') break
    end += quote !== '`' && text[end] === '\\' ? 2 : 1
  }
  if (text[end] !== quote) throw templateError(text, place, 'a quote is not closed')
  const inner = text.slice(place + 1, end)
  if (quote === '`') return { kind: 'string', text: inner.replaceAll('\r', ''), end: end + 1 }
  const value = unescaped(inner, (what) => templateError(text, place, what))
  if (quote === '"') return { kind: 'string', text: value, end: end + 1 }
  if ([...value].length !== 1)
    throw templateError(text, place, 'single quotes must contain one character: use double quotes')
  return { kind: 'number', text: String(value.codePointAt(0)), end: end + 1 }
}

const letters: { readonly [letter: string]: string } = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
}
const escapes = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(.))/gsu

function unescaped(text: string, fault: (what: string) => Error): string {
  return text.replaceAll(escapes, (_, ...groups: (string | undefined)[]) => {
    const [x, u, long, octal, letter] = groups
    const code = x ?? u ?? long
    if (code !== undefined || octal !== undefined) {
      const value = code === undefined ? Number.parseInt(octal!, 8) : Number.parseInt(code, 16)
      if (value > 0x10ffff) throw fault(`\\${long} is not a character`)
      return String.fromCodePoint(value)
    }
    const escapedCharacter = letters[letter!]
    if (escapedCharacter === undefined) throw fault(`\\${letter} is not an escape sequence`)
    return escapedCharacter
  })
}
