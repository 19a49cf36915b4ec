/**
 * YAML out: keys in the order of `yaml-key-order.ts`, lists not indented, texts of several lines as blocks. Every text is quoted that another
 * reader could take for something else (`yes`, `1e3`, a date), or that holds what drives a terminal.
 */
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { compareKeys } from './yaml-key-order.ts'
import { isPlainText } from './yaml-scalar.ts'

/** Writes YAML that every reader understands in the same way. */
export function stringifyYaml(value: Json): string {
  const lines: string[] = []
  writeNode(lines, value, { lead: '', margin: '' })
  return `${lines.join('\n')}\n`
}

/** Where a value begins: what stands before it on its line, and what before each line below. */
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

/** YAML finds the end of a key on its own only within 1,024 characters. */
const longestKey = 1000

function keyText(key: string, margin: string): string {
  const text = oneLine(key)
  return text.length <= longestKey ? text : `? ${text}\n${margin}`
}

/** A value that begins on the line of its key; `margin` is that of further lines. */
function inline(value: Json, margin: string): string {
  if (typeof value === 'string') return textOf(value, margin)
  if (Array.isArray(value)) return '[]'
  return isObject(value) ? '{}' : String(value)
}

function textOf(text: string, margin: string): string {
  return text.includes('\n') && isBlock(text) ? block(text, margin) : oneLine(text)
}

/**
 * As kubectl writes it: without quotes where it stands for itself, in single ones where characters of YAML are in the
 * way, in double ones where a reader could take it for something else than a text, or it has to be escaped.
 */
function oneLine(text: string): string {
  if (isAmbiguous(text) || unprintable.test(text) || !text.isWellFormed()) return quoted(text)
  return hasIndicator(text) ? `'${text.replaceAll("'", "''")}'` : text
}

const mayBeDate = /^\d{4}-\d{1,2}-/
/** Numbers to some readers: `1,300`, `80:80`. */
const mayBeNumber = /^[-+]?[.\d][\d_.]*[,:][\d_.,:]*$/
/** Words that mean something to some readers in the place of a value or a key. */
const specialWords = new Set(['=', '<<'])

/** Whether some reader would take it for something else than this text. */
function isAmbiguous(text: string): boolean {
  return specialWords.has(text) || mayBeDate.test(text) || mayBeNumber.test(text) || !isPlainText(text)
}

const atBeginning = /^(?:[ #,[\]{}&*!|>'"%@`]|---|\.\.\.|[-?:](?: |$))/
const anywhere = /:(?: |$)| #| $/

/** Whether a character of YAML stands where it would mean something. */
function hasIndicator(text: string): boolean {
  return atBeginning.test(text) || anywhere.test(text)
}

/** What drives a terminal, turns the direction of writing, or ends a line for some readers of YAML and not for others. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u
const everyUnprintable = new RegExp(unprintable, 'gu')

/** Texts that a block gives back as they are: printable, and no space where a reader could drop it. */
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
