/**
 * The text of a JSONPath template, as kubectl's users write it, becomes a tree: plain text, expressions in braces, and
 * ranges. `{range .items[*]}{.metadata.name}{"\n"}{end}` is a range whose body is an expression and a newline.
 *
 * In an expression: `.field`, `.a\.b`, `['field']`, `[0]`, `[-1]`, `[0:2]`, `[0,2]`, `[*]`, `.*`, `..field`,
 * `[?(@.x=="y")]`, `$` and `@`. Throws UsageError with what was not understood.
 */
import { UsageError } from '../../base/flags/flags.ts'

export type Step =
  | { readonly field: string }
  | { readonly all: true }
  /** The value itself and everything below it. */
  | { readonly descend: true }
  | { readonly slice: { readonly from?: number; readonly to?: number; readonly by: number } }
  | { readonly any: readonly (readonly Step[])[] }
  | { readonly filter: Filter }
  /** From the top again: `$`. */
  | { readonly top: true }

export interface Filter {
  readonly left: Operand
  /** `exists`: the left side is there at all. */
  readonly operator: '==' | '!=' | '<=' | '>=' | '<' | '>' | 'exists'
  readonly right: Operand
}

export type Operand = { readonly path: readonly Step[] } | { readonly value: string | number | boolean | null }

export type Part =
  | { readonly text: string }
  | { readonly path: readonly Step[] }
  | { readonly range: readonly Step[]; readonly body: readonly Part[] }

/** A template of text and expressions in braces. */
export function parseTemplate(template: string): Part[] {
  const tokens = tokensOf(template)
  return partsUntilEnd(tokens, { inRange: false })
}

/** A single expression, with or without braces and the leading dot: that of a column, or of `--sort-by`. */
export function parsePath(text: string): Step[] {
  const bare = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim()
  return new PathReader(/^[.[$@]/.test(bare) ? bare : `.${bare}`).read()
}

interface Token {
  readonly inBraces: boolean
  readonly text: string
}

function tokensOf(template: string): Token[] {
  const tokens: Token[] = []
  let place = 0
  while (place < template.length) {
    const open = template.indexOf('{', place)
    const end = open < 0 ? template.length : open
    if (end > place) tokens.push({ inBraces: false, text: template.slice(place, end) })
    if (open < 0) break
    const close = closingBrace(template, open)
    tokens.push({ inBraces: true, text: template.slice(open + 1, close).trim() })
    place = close + 1
  }
  return tokens
}

/** Braces in quotes do not count. */
function closingBrace(template: string, open: number): number {
  let quote = ''
  for (let i = open + 1; i < template.length; i++) {
    const c = template[i]!
    if (c === '\\') i++
    else if (quote !== '') quote = c === quote ? '' : quote
    else if (c === '"' || c === "'") quote = c
    else if (c === '}') return i
  }
  throw new UsageError(`jsonpath: the brace at ${JSON.stringify(template.slice(open, open + 20))} is not closed`)
}

function partsUntilEnd(tokens: Token[], { inRange }: { inRange: boolean }): Part[] {
  const parts: Part[] = []
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (!token.inBraces) parts.push({ text: token.text })
    else if (token.text === 'end') {
      if (!inRange) throw new UsageError('jsonpath: {end} without {range ...}')
      return parts
    } else parts.push(...expressionParts(token.text, tokens))
  }
  if (inRange) throw new UsageError('jsonpath: {range ...} without {end}')
  return parts
}

function expressionParts(text: string, tokens: Token[]): Part[] {
  if (/^range\s/.test(text))
    return [{ range: parsePath(text.slice('range'.length)), body: partsUntilEnd(tokens, { inRange: true }) }]
  return piecesOf(text).map((piece) => (/^["']/.test(piece) ? { text: unquote(piece) } : { path: parsePath(piece) }))
}

/** `.a "x" .b` is three: blanks separate, but not in quotes or brackets. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let piece = ''
  let quote = ''
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (quote === '' && depth === 0 && /\s/.test(c)) {
      if (piece !== '') pieces.push(piece)
      piece = ''
      continue
    }
    if (quote === '' && depth === 0 && /["']/.test(c) && piece !== '') {
      pieces.push(piece)
      piece = ''
    }
    piece += c
    if (c === '\\') piece += text[++i] ?? ''
    else if (quote !== '') {
      if (c === quote) quote = ''
      if (quote === '' && depth === 0) {
        pieces.push(piece)
        piece = ''
      }
    } else if (/["']/.test(c)) quote = c
    else if (c === '[') depth++
    else if (c === ']') depth--
  }
  return piece === '' ? pieces : [...pieces, piece]
}

const escapes: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r' }

function unquote(text: string): string {
  return text.slice(1, -1).replaceAll(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter)
}

class PathReader {
  readonly #text: string
  #place = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Step[] {
    const steps: Step[] = []
    while (this.#place < this.#text.length) steps.push(...this.#step())
    return steps
  }

  #step(): Step[] {
    const rest = this.#text.slice(this.#place)
    if (rest.startsWith('$')) return this.#took(1, { top: true })
    if (rest.startsWith('@')) return this.#took(1)
    if (rest.startsWith('..')) return this.#took(rest[2] === '[' ? 2 : 1, { descend: true })
    if (rest.startsWith('.*')) return this.#took(2, { all: true })
    if (rest.startsWith('[')) return [this.#brackets()]
    const name = /^\.((?:\\.|[^.[\]\s\\])*)/.exec(rest)
    if (name === null) throw this.#fault(rest)
    const field = name[1]!.replaceAll(/\\(.)/g, '$1')
    return field === '' ? this.#took(1) : this.#took(name[0].length, { field })
  }

  #took(length: number, ...steps: Step[]): Step[] {
    this.#place += length
    return steps
  }

  #brackets(): Step {
    const open = this.#place
    const inner = this.#text.slice(open + 1, this.#closing(open))
    this.#place = open + inner.length + 2
    const text = inner.trim()
    if (text === '*') return { all: true }
    const filter = /^\?\((.*)\)$/s.exec(text)
    if (filter !== null) return { filter: filterOf(filter[1]!) }
    const members = splitOutsideQuotes(text, ',').map((member) => this.#member(member.trim()))
    return members.length === 1 ? members[0]! : { any: members.map((member) => [member]) }
  }

  #closing(open: number): number {
    let depth = 0
    let quote = ''
    for (let i = open; i < this.#text.length; i++) {
      const c = this.#text[i]!
      if (c === '\\') i++
      else if (quote !== '') quote = c === quote ? '' : quote
      else if (c === '"' || c === "'") quote = c
      else if (c === '[') depth++
      else if (c === ']' && --depth === 0) return i
    }
    throw this.#fault(this.#text.slice(open))
  }

  #member(text: string): Step {
    if (/^["'].*["']$/s.test(text)) return { field: unquote(text) }
    const slice = /^(-?\d+)?(:(-?\d+)?)?(:(-?\d+))?$/.exec(text)
    if (slice === null || text === '') {
      if (/^[\w./-]+$/.test(text)) return { field: text }
      throw this.#fault(`[${text}]`)
    }
    const [, from, colon, to, , by] = slice
    if (colon === undefined) return { slice: oneElement(Number(from)) }
    return {
      slice: {
        ...(from === undefined ? {} : { from: Number(from) }),
        ...(to === undefined ? {} : { to: Number(to) }),
        by: by === undefined ? 1 : Number(by),
      },
    }
  }

  #fault(rest: string): UsageError {
    return new UsageError(
      `jsonpath: ${JSON.stringify(rest.slice(0, 40))} in ${JSON.stringify(this.#text)} is not understood`,
    )
  }
}

/** -1 is the last element, so there is no end to name. */
function oneElement(index: number): { from: number; to?: number; by: number } {
  return index === -1 ? { from: index, by: 1 } : { from: index, to: index + 1, by: 1 }
}

const operators = ['==', '!=', '<=', '>=', '<', '>'] as const

function filterOf(text: string): Filter {
  for (const operator of operators) {
    const sides = splitOutsideQuotes(text, operator)
    if (sides.length === 2) return { left: operandOf(sides[0]!), operator, right: operandOf(sides[1]!) }
  }
  return { left: operandOf(text), operator: 'exists', right: { value: null } }
}

function operandOf(text: string): Operand {
  const word = text.trim()
  if (/^["']/.test(word)) return { value: unquote(word) }
  if (word === 'true' || word === 'false') return { value: word === 'true' }
  if (/^-?\d+(?:\.\d+)?$/.test(word)) return { value: Number(word) }
  return { path: parsePath(word) }
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (c === '\\') i++
    else if (quote !== '') quote = c === quote ? '' : quote
    else if (c === '"' || c === "'") quote = c
    else if (text.startsWith(separator, i)) {
      parts.push(text.slice(start, i))
      i += separator.length - 1
      start = i + 1
    }
  }
  return [...parts, text.slice(start)]
}
