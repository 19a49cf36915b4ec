/** Formats JSON with one member per line. */
import { isObject, type Json } from '../json/json.ts'

export interface IndentStyle {
  /** Indentation per nesting level. */
  readonly step: string
  readonly order: (a: string, b: string) => number
}

/** Formats a value as indented JSON. `style` determines the indentation and the order of members. */
export function indentJson(value: Json, style: IndentStyle): string {
  return `${write(value, '', style)}\n`
}

function write(value: Json, margin: string, style: IndentStyle): string {
  const inner = `${margin}${style.step}`
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((item) => `${inner}${write(item, inner, style)}`).join(',\n')}\n${margin}]`
  }
  if (isObject(value)) {
    const keys = Object.keys(value).sort(style.order)
    if (keys.length === 0) return '{}'
    return `{\n${keys.map((key) => `${inner}${JSON.stringify(key)}: ${write(value[key]!, inner, style)}`).join(',\n')}\n${margin}}`
  }
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
}

const step = '  '

/**
 * Indents compact JSON by two spaces per level, without a final newline. The JSON is not parsed, so its members stay in
 * order. `margin` is written before every line except the first.
 */
export function indentText(json: string, margin = ''): string {
  let text = ''
  let line = `\n${margin}`
  let last = ''
  for (const token of tokensOf(json)) {
    const isFirst = last === '{' || last === '['
    last = token
    if (token === '}' || token === ']') {
      line = line.slice(0, -step.length)
      text += isFirst ? token : line + token
      continue
    }
    text += isFirst ? line + token : token
    if (token === ':') text += ' '
    else if (token === ',') text += line
    else if (token === '{' || token === '[') line += step
  }
  return text
}

const marks = '{}[],:'
const ends = /[\s,}\]]|$/g

/** Yields the tokens of a JSON text: strings and other scalars, brackets, commas and colons. */
function* tokensOf(json: string): Generator<string> {
  for (let at = 0; at < json.length; ) {
    const end = endOfToken(json, at)
    if (json[at] !== '\n') yield json.slice(at, end)
    at = end
  }
}

function endOfToken(json: string, start: number): number {
  const first = json[start]!
  if (first === '"') return endOfText(json, start)
  if (first === '\n' || marks.includes(first)) return start + 1
  ends.lastIndex = start
  return ends.exec(json)!.index
}

/** Returns the position after the closing quote, that is, after the first quote without a backslash escape. */
function endOfText(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1)
  while (quote >= 0 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1)
  return quote < 0 ? json.length : quote + 1
}

function isEscaped(json: string, quote: number): boolean {
  let before = quote
  while (json[before - 1] === '\\') before--
  return (quote - before) % 2 === 1
}
