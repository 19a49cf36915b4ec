/**
 * Strict JSON in, canonical JSON out.
 *
 * In: the native parser, plus one pass over the text beforehand for what it hides: nesting deeper than 512, lone
 * surrogates, and duplicate keys (reported; the last one wins). Bytes that are not UTF-8 are refused, integers beyond
 * 2^53 become bigint, numbers too large for any type are refused. Out: keys in UTF-8 byte order, except that
 * `apiVersion` and `kind` of the top level come first.
 */
import { isUtf8 } from 'node:buffer'
import { compareUtf8, sortUtf8 } from '../base/utf8-order.ts'
import { badRequest } from '../model/api-error.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { scanJson } from './json-scan.ts'

export interface ParsedJson {
  readonly value: Json
  /** Paths of keys that occur more than once in their object. */
  readonly duplicates: readonly string[]
}

export function parseJson(bytes: Buffer): ParsedJson {
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  const scan = scanJson(text)
  try {
    const value = scan.bigNumbers ? JSON.parse(text, exactNumbers) : JSON.parse(text)
    return { value, duplicates: scan.duplicates }
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`the body is not valid JSON: ${error.message}`, { cause: error })
    throw error
  }
}

/** A reviver that keeps every digit of an integer and lets no number become infinite. */
function exactNumbers(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  if (/^-?\d{1,40}$/.test(source)) return BigInt(source)
  if (!Number.isFinite(value) || source.length > 400)
    throw badRequest(`the number ${source.slice(0, 40)} is out of range`)
  return value
}

export function stringifyJson(value: Json): string {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? writeTop(value) : write(value)
}

function writeTop({ apiVersion, kind, ...rest }: JsonObject): string {
  const members: string[] = []
  if (apiVersion !== undefined) members.push(stringifyMember('apiVersion', apiVersion))
  if (kind !== undefined) members.push(stringifyMember('kind', kind))
  const others = stringifyMembers(rest)
  if (others !== '') members.push(others)
  return `{${members.join(',')}}`
}

function write(value: Json): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    default:
      if (value === null) return 'null'
      if (Array.isArray(value)) return writeArray(value)
      return `{${stringifyMembers(value)}}`
  }
}

function writeArray(items: Json[]): string {
  let text = '['
  for (let i = 0; i < items.length; i++) text += i === 0 ? write(items[i]!) : `,${write(items[i]!)}`
  return `${text}]`
}

/** The members of an object, without the braces. */
export function stringifyMembers(object: JsonObject): string {
  let text = ''
  for (const key of sortedKeys(object)) {
    const value = object[key]
    if (value === undefined) continue
    text += text === '' ? stringifyMember(key, value) : `,${stringifyMember(key, value)}`
  }
  return text
}

function stringifyMember(key: string, value: Json): string {
  return `${JSON.stringify(key)}:${write(value)}`
}

/** The same text; by the native writer, which is faster by far, where every object in the value is in order already. */
export function stringifyOrdered(value: Json): string {
  return isOrdered(value) ? JSON.stringify(value) : write(value)
}

/** Whether the native writer would write just what `write` does. */
function isOrdered(value: Json | undefined): boolean {
  if (typeof value === 'bigint') return false
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isOrdered)
  let last: string | undefined
  for (const key in value) {
    if (last !== undefined && compareUtf8(last, key) > 0) return false
    if (!isOrdered(value[key])) return false
    last = key
  }
  return true
}

export function sortedKeys(object: JsonObject): string[] {
  return sortUtf8(Object.keys(object))
}
