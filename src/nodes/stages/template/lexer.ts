/** Splits a template into its text and the words of its actions. */
import type { Json } from '../../../model/json.ts'
import { StageError } from '../stage-error.ts'

export type Lexeme =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open' | 'close' | '|' | '(' | ')' | ',' | ':=' | '=' }
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'word'; readonly text: string }
  /** `attached`: it follows a closing parenthesis at once, so it is a field of what stands there. */
  | { readonly kind: 'dot'; readonly path: readonly string[]; readonly attached: boolean }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly string[] }

const maxLength = 64 * 1024
const word =
  /(\s+)|("(?:[^"\\\n]|\\.)*")|`([^`]*)`|(-?\d+(?:\.\d+)?)(?![\w.])|\$(\w*)((?:\.\w+)*)|((?:\.\w+)+|\.)|(\w+)|(:=|[=|(),])/y

/** Throws StageError. */
export function lex(text: string): Lexeme[] {
  if (text.length > maxLength) throw new StageError(`statusTemplate is longer than ${maxLength} characters`)
  const lexemes: Lexeme[] = []
  let trimNext = false
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('{{', at)
    const end = open < 0 ? text.length : open
    const trims = open >= 0 && /^\{\{-\s/.test(text.slice(open, open + 4))
    const plain = trimmed(text.slice(at, end), { start: trimNext, end: trims })
    if (plain !== '') lexemes.push({ kind: 'text', text: plain })
    if (open < 0) break
    const close = closingOf(text, open)
    const inner = text.slice(open + (trims ? 3 : 2), close)
    trimNext = /\s-$/.test(inner)
    if (!/^\s*\/\*/.test(inner)) lexemes.push(...action(trimNext ? inner.slice(0, -1) : inner))
    at = close + 2
  }
  return lexemes
}

function trimmed(text: string, { start, end }: { start: boolean; end: boolean }): string {
  const fromStart = start ? text.trimStart() : text
  return end ? fromStart.trimEnd() : fromStart
}

/** Where the braces are that close an action: not those in a quoted text. */
function closingOf(text: string, open: number): number {
  const part = /"(?:[^"\\\n]|\\.)*"|`[^`]*`|\}\}/g
  part.lastIndex = open + 2
  for (let match = part.exec(text); match !== null; match = part.exec(text)) if (match[0] === '}}') return match.index
  throw new StageError('statusTemplate: an action is not closed with }}')
}

function action(text: string): Lexeme[] {
  const lexemes: Lexeme[] = [{ kind: 'open' }]
  for (let at = 0; at < text.length; at = word.lastIndex) {
    word.lastIndex = at
    const match = word.exec(text)
    if (match === null)
      throw new StageError(`statusTemplate: ${JSON.stringify(text.slice(at, at + 20))} cannot be read`)
    if (match[1] === undefined) lexemes.push(lexemeOf(match, text[at - 1]))
  }
  lexemes.push({ kind: 'close' })
  return lexemes
}

function lexemeOf(match: RegExpExecArray, before: string | undefined): Lexeme {
  const [, , quoted, raw, number, variable, variablePath = '', path, name, mark] = match
  if (quoted !== undefined) return { kind: 'literal', value: unquoted(quoted) }
  if (raw !== undefined) return { kind: 'literal', value: raw }
  if (number !== undefined) return { kind: 'literal', value: Number(number) }
  if (variable !== undefined) return { kind: 'variable', name: variable, path: parts(variablePath) }
  if (path !== undefined) return { kind: 'dot', path: parts(path), attached: before === ')' }
  if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' }
  if (name === 'nil') return { kind: 'literal', value: null }
  if (name !== undefined) return { kind: 'word', text: name }
  return { kind: mark as '|' | '(' | ')' | ',' | ':=' | '=' }
}

function parts(path: string): string[] {
  return path.split('.').filter((part) => part !== '')
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    throw new StageError(`statusTemplate: the text ${text} cannot be read`)
  }
}
