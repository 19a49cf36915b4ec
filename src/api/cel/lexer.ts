/**
 * Splits an expression into tokens. The lexer decodes escapes in strings, but does not otherwise interpret the tokens.
 */
import { SyntaxIssue } from './issues.ts'

/** A token of an expression. `at` is its offset. */
export type Token =
  | { readonly kind: 'operator' | 'identifier' | 'int' | 'uint' | 'double'; readonly text: string; readonly at: number }
  | { readonly kind: 'string'; readonly text: string; readonly at: number }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly text: string; readonly at: number }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number }

const blank = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y
const number = /(?:0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?)/y
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y
const operator = /==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()[\]{}]/y
/** Matches the opening quote of a string, including prefixes: `r` disables escapes, and `b` starts a bytes literal. */
const opening = /(?:[rR][bB]?|[bB][rR]?)?(?:"""|'''|"|')/y

/** Splits an expression into tokens, the last of which has the kind `end`. Throws SyntaxIssue. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    at += matchAt(blank, text, at)?.length ?? 0
    if (at >= text.length) break
    const token = tokenAt(text, at)
    tokens.push(token.token)
    at = token.end
  }
  return [...tokens, { kind: 'end', text: '', at }]
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

interface Read {
  readonly token: Token
  readonly end: number
}

function tokenAt(text: string, at: number): Read {
  const letter = text[at]!
  const open = /[rRbB"']/.test(letter) ? matchAt(opening, text, at) : undefined
  if (open !== undefined) return stringAt(text, at, open)
  const digits = matchAt(number, text, at)
  if (digits !== undefined) return { token: { kind: numberKind(digits), text: digits, at }, end: at + digits.length }
  const name = matchAt(identifier, text, at)
  if (name !== undefined) {
    // All operators except `in` consist of symbols.
    const kind = name === 'in' ? 'operator' : 'identifier'
    return { token: { kind, text: name, at }, end: at + name.length }
  }
  const sign = matchAt(operator, text, at)
  if (sign === undefined) throw unknownToken(text, at)
  return { token: { kind: 'operator', text: sign, at }, end: at + sign.length }
}

function numberKind(digits: string): 'int' | 'uint' | 'double' {
  if (/[uU]$/.test(digits)) return 'uint'
  return !digits.startsWith('0x') && /[.eE]/.test(digits) ? 'double' : 'int'
}

function unknownToken(text: string, at: number): SyntaxIssue {
  const [letter = ''] = text.slice(at, at + 2)
  return new SyntaxIssue(at, `Syntax error: token recognition error at: '${letter}'`)
}

function stringAt(text: string, at: number, open: string): Read {
  const quote = open.replace(/^[rRbB]+/, '')
  const prefix = open.slice(0, open.length - quote.length).toLowerCase()
  const isRaw = prefix.includes('r')
  const begin = at + open.length
  const end = closing(text, begin, { quote, isRaw })
  if (end === undefined) throw unknownToken(text, at)
  const body = text.slice(begin, end)
  const reading = { at, isBytes: prefix.includes('b') }
  const next = end + quote.length
  if (!reading.isBytes) {
    return { token: { kind: 'string', text: isRaw ? body : readEscapes(body, reading), at }, end: next }
  }
  // Decode the UTF-8 bytes as Latin-1, so that each character represents one byte.
  const latin = Buffer.from(body).toString('latin1')
  const bytes = Buffer.from(isRaw ? latin : readEscapes(latin, reading), 'latin1')
  return { token: { kind: 'bytes', bytes, text: text.slice(at, next), at }, end: next }
}

/** Returns the position of the closing quote. Only triple-quoted strings can span multiple lines. */
function closing(
  text: string,
  begin: number,
  { quote, isRaw }: { readonly quote: string; readonly isRaw: boolean },
): number | undefined {
  for (let at = begin; at < text.length; at++) {
    if (text.startsWith(quote, at)) return at
    if (quote.length === 1 && (text[at] === '\n' || text[at] === '\r')) return undefined
    if (text[at] === '\\' && !isRaw) at++
  }
  return undefined
}

const simple: { readonly [letter: string]: string } = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
}
const escapes = /\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.?))/gs

interface Reading {
  readonly at: number
  readonly isBytes: boolean
}

/**
 * Decodes escapes. An `\x` or octal escape represents one byte in a bytes literal and one code point in a string. The
 * body of a bytes literal must therefore be passed as Latin-1.
 */
function readEscapes(body: string, reading: Reading): string {
  if (!body.includes('\\')) return body
  return body.replaceAll(escapes, (_, ...groups: (string | undefined)[]) => escaped(groups, reading))
}

function escaped([x, bigX, u, bigU, octal, letter]: readonly (string | undefined)[], { at, isBytes }: Reading): string {
  const hex = x ?? bigX ?? u ?? bigU
  if (hex === undefined && octal === undefined) {
    const escapedCharacter = Object.hasOwn(simple, letter!) ? simple[letter!] : undefined
    if (escapedCharacter === undefined) throw new SyntaxIssue(at, 'Syntax error: unable to unescape string')
    return escapedCharacter
  }
  const code = hex === undefined ? Number.parseInt(octal!, 8) : Number.parseInt(hex, 16)
  const isUnicode = u !== undefined || bigU !== undefined
  const isValid = isUnicode ? !isBytes && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) : true
  if (!isValid) throw new SyntaxIssue(at, 'Syntax error: invalid unicode code point')
  return String.fromCodePoint(code)
}
