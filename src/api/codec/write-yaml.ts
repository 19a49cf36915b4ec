/**
 * Formats YAML with keys in the order of `yaml-key-order.ts`, without indenting lists, and with blocks for multi-line
 * strings. A string is quoted if another parser could read it as something other than a string (`yes`, `1e3`, a date),
 * or if it contains terminal control characters.
 */
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { compareKeys } from './yaml-key-order.ts'
import { isPlainText } from './yaml-scalar.ts'

/** Formats a value as YAML that every parser reads in the same way. */
export function stringifyYaml(value: Json): string {
  const lines: string[] = []
  writeNode(lines, value, { lead: '', margin: '' })
  return `${lines.join('\n')}\n`
}

/** Where a value is written: the text that precedes it on its line, and the indentation of the following lines. */
interface Place {
  readonly lead: string
  readonly margin: string
}

function writeNode(lines: string[], value: Json, place: Place): void {
  if (Array.isArray(value) && value.length > 0) writeList(lines, value, place)
  else if (isObject(value) && hasMembers(value)) writeMap(lines, value, place)
  else lines.push(`${place.lead}${inline(value, place.margin)}`)
}

function hasMembers(object: JsonObject): boolean {
  for (const key in object) if (object[key] !== undefined) return true
  return false
}

function writeList(lines: string[], list: readonly Json[], { lead, margin }: Place): void {
  const inner = `${margin}  `
  for (const [i, item] of list.entries())
    writeNode(lines, item, { lead: `${i === 0 ? lead : margin}- `, margin: inner })
}

function writeMap(lines: string[], map: JsonObject, { lead, margin }: Place): void {
  let start = lead
  for (const key of Object.keys(map).sort(compareKeys)) {
    const value = map[key]
    if (value === undefined) continue
    const name = `${start}${keyText(key, margin)}:`
    start = margin
    if (Array.isArray(value) && value.length > 0) {
      lines.push(name)
      writeList(lines, value, { lead: margin, margin })
    } else if (isObject(value) && hasMembers(value)) {
      lines.push(name)
      const inner = `${margin}  `
      writeMap(lines, value, { lead: inner, margin: inner })
    } else {
      lines.push(`${name} ${inline(value, `${margin}  `)}`)
    }
  }
}

/** Maximum length of a key without quotes. YAML parsers require an unquoted key to end within 1,024 characters. */
const maxKeyLength = 1000

function keyText(key: string, margin: string): string {
  const text = oneLine(key)
  return text.length <= maxKeyLength ? text : `? ${text}\n${margin}`
}

/**
 * Formats a scalar or an empty collection, which can follow its key on the same line. `margin` is the indentation of
 * the subsequent lines of a multi-line string.
 */
function inline(value: Json, margin: string): string {
  if (typeof value === 'string') return scalarText(value, margin)
  if (Array.isArray(value)) return '[]'
  return isObject(value) ? '{}' : String(value)
}

function scalarText(text: string, margin: string): string {
  return text.includes('\n') && isBlock(text) ? block(text, margin) : oneLine(text)
}

/**
 * Formats a string on one line, with the same quoting as kubectl. Most strings are not quoted. Strings that contain
 * YAML indicators are single-quoted. Strings that need escapes, or that a parser could read as something other than a
 * string, are double-quoted.
 */
function oneLine(text: string): string {
  if (isAmbiguous(text) || unprintable.test(text) || !text.isWellFormed()) return quoted(text)
  return hasIndicator(text) ? `'${text.replaceAll("'", "''")}'` : text
}

const mayBeDate = /^\d{4}-\d{1,2}-/
/** Matches strings that some parsers read as numbers, such as `1,300` and `80:80`. */
const mayBeNumber = /^[-+]?[.\d][\d_.]*[,:][\d_.,:]*$/
/** Words that have a special meaning to some parsers as a value or key. */
const specialWords = new Set(['=', '<<'])

/** Whether some parser would read a string as another type. */
function isAmbiguous(text: string): boolean {
  return specialWords.has(text) || mayBeDate.test(text) || mayBeNumber.test(text) || !isPlainText(text)
}

const atBeginning = /^(?:[ #,[\]{}&*!|>'"%@`]|---|\.\.\.|[-?:](?: |$))/
const anywhere = /:(?: |$)| #| $/

/** Whether a string contains a YAML indicator at a position where the indicator is significant. */
function hasIndicator(text: string): boolean {
  return atBeginning.test(text) || anywhere.test(text)
}

/**
 * Matches characters that control a terminal, change the writing direction, or end a line for only some YAML parsers.
 */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u
const everyUnprintable = new RegExp(unprintable, 'gu')

/**
 * Whether a block reproduces a string exactly: the string is printable and has no whitespace that a parser could drop.
 */
function isBlock(text: string): boolean {
  return !/^\s|[ \t](?:\n|$)/.test(text) && !unprintable.test(text.replaceAll(/[\n\t]/g, ''))
}

function block(text: string, margin: string): string {
  const mark = !text.endsWith('\n') ? '|-' : text.endsWith('\n\n') ? '|+' : '|'
  const lines = text.replace(/\n$/, '').split('\n')
  return `${mark}\n${lines.map((line) => (line === '' ? '' : `${margin}${line}`)).join('\n')}`
}

function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(everyUnprintable, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
