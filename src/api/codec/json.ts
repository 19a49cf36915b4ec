/**
 * Parses JSON strictly and writes canonical JSON.
 *
 * Before the native parser runs, a scan detects properties that the parser hides: nesting deeper than 512 levels, lone
 * surrogates, and duplicate keys. Duplicate keys are reported, and their last value is used. Bytes that are not UTF-8
 * are rejected, integers beyond 2^53 become bigint, and numbers that are too large for any type are rejected. Members
 * are written in a defined order (`member-order.ts`). The writer rejects values that could not be parsed again: lone
 * surrogates, NaN, infinity, and excessive nesting.
 */
import { isUtf8 } from 'node:buffer'
import { compareUtf8, sortUtf8 } from '../../base/collections/utf8-order.ts'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { type Json, type JsonObject, setKey } from '../json/json.ts'
import { isLarge, partsPerSlice } from '../json/large-json.ts'
import { parseNative } from '../json/native-json.ts'
import { badRequest } from '../model/api-error.ts'
import { parseExactSliced } from './exact-json.ts'
import { findDuplicatesSliced } from './json-duplicates.ts'
import { JsonScan, loneSurrogate, maxDepth, tooDeep } from './json-scan.ts'
import { elementOrder, keysInOrder, memberOrder, type Order, orderBelow } from './member-order.ts'
import { parsePiecewise } from './piecewise-json.ts'

/** The result of parsing: the value, and the paths of duplicate keys. */
export interface ParsedJson {
  readonly value: Json
  /** Paths of keys that occur more than once in the same object. */
  readonly duplicates: readonly string[]
}

/** Parses a document strictly. Throws a 400 error with the position of a syntax error. */
export function parseJson(bytes: Buffer): ParsedJson {
  return runToCompletion(parseSliced(bytes))
}

export interface ParseOptions {
  /** Maximum number of values in the document. Defaults to the maximum for a request body. */
  readonly maxCount?: number | undefined
  /** Whether objects with the same key are merged, as in the typed decoder of Kubernetes. */
  readonly mergesObjects?: boolean
}

/** Parses a document like `parseJson`, but yields periodically so that other work can run. */
export function* parseSliced(
  bytes: Buffer,
  { maxCount, mergesObjects = false }: ParseOptions = {},
): Generator<void, ParsedJson> {
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  const scan = new JsonScan(text, maxCount)
  while (!scan.scan(charactersPerSlice)) yield
  yield
  try {
    const parsed = text.length > longText ? yield* parsePiecewise(text) : parseNative(text)
    yield
    const value = scan.bigNumbers ? yield* parseExactSliced(text) : parsed
    yield
    if ((yield* countMembersSliced(value)) === scan.members) return { value, duplicates: [] }
    return {
      value: mergesObjects ? yield* parseExactSliced(text, { mergesObjects }) : value,
      duplicates: yield* findDuplicatesSliced(text),
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`the body is not valid JSON: ${error.message}`, { cause: error })
    throw error
  }
}

/** Counts all object members in a value. If the text contains more members, it has duplicate keys. */
function* countMembersSliced(value: Json): Generator<void, number> {
  if (!isLarge(value)) return countMembers(value)
  yield
  let members = 0
  const parts = Object.values(value as object) as Json[]
  for (const [i, part] of parts.entries()) {
    if (i % partsPerSlice === 0) yield
    members += yield* countMembersSliced(part)
  }
  return Array.isArray(value) ? members : members + parts.length
}

function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  if (Array.isArray(value)) for (const item of value) members += countMembers(item)
  else for (const key in value) members += 1 + countMembers(value[key]!)
  return members
}

/**
 * Parses JSON that this server has written and therefore already validated. Only integers beyond 2^53 require the exact
 * parser.
 */
export function parseOwnJson(bytes: Buffer): Json {
  return parseOwnText(bytes.toString('utf8'))
}

function parseOwnText(text: string): Json {
  return mayHoldBigIntegers.test(text) ? runToCompletion(parseExactSliced(text)) : parseNative(text)
}

/**
 * Parses JSON like `parseOwnJson`, but yields periodically. The native parser cannot be interrupted and may need 50 ms
 * for a document with very many keys.
 */
export function* parseOwnSliced(bytes: Buffer): Generator<void, Json> {
  return yield* parseOwnTextSliced(bytes.toString('utf8'))
}

/** Like `parseOwnSliced`, but parses a string. */
export function* parseOwnTextSliced(text: string): Generator<void, Json> {
  if (text.length <= longText) return parseOwnText(text)
  yield
  return yield* parseExactSliced(text)
}

/**
 * Length in characters above which a document is parsed in slices. The native parser needs at most a few milliseconds
 * for a shorter document.
 */
const longText = 128 * 1024

/** Number of characters of a document to scan between yields. */
const charactersPerSlice = 64 * 1024

const mayHoldBigIntegers = /[:[,]-?\d{16}/

/**
 * Formats a document as compact JSON with a final newline. `room` limits the nesting depth. Documents that clients can
 * send back need the same limit as request bodies.
 */
export function jsonDocument(value: Json, order?: Order, room?: number): Buffer {
  return Buffer.from(`${stringifyJson(value, order, room)}\n`)
}

/**
 * A value that is already JSON text. Used for parts of responses that are formatted once and sent often. Only the
 * response writer supports such values, so they must not be stored or inspected.
 */
export class WrittenJson {
  readonly text: string

  private constructor(text: string) {
    this.text = text
  }

  /** Wraps a string that must be one complete JSON value. */
  static of(text: string): Json {
    return new WrittenJson(text) as unknown as Json
  }
}

/**
 * Formats a value as JSON, with members in the given order. Throws an error if the value is nested more than `room`
 * levels deep.
 */
export function stringifyJson(value: Json, order?: Order, room = Number.POSITIVE_INFINITY): string {
  switch (typeof value) {
    case 'string':
      return writeText(value, room)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be encoded as JSON`)
      return String(value)
    case 'boolean':
    case 'bigint':
      return String(value)
    default:
      if (value instanceof WrittenJson) return value.text
      if (value === null) return 'null'
      if (value === undefined) throw new TypeError('an undefined value cannot be encoded as JSON')
      if (room <= 0) throw tooDeep()
      if (Array.isArray(value)) return writeArray(value, elementOrder(order), room - 1)
      return `{${stringifyMembers(value, order, room - 1)}}`
  }
}

/**
 * Formats a string. A lone surrogate is rejected if the string will be stored. In a response, a lone surrogate is
 * accepted, because a message may have been cut in the middle of a surrogate pair.
 */
function writeText(text: string, room: number): string {
  if (text.isWellFormed()) return JSON.stringify(text)
  if (Number.isFinite(room)) throw loneSurrogate(JSON.stringify(text.slice(0, 100)))
  return JSON.stringify(text.toWellFormed())
}

function writeArray(items: Json[], order: Order, room: number): string {
  let text = '['
  for (let i = 0; i < items.length; i++) {
    const item = stringifyJson(items[i]!, order, room)
    text += i === 0 ? item : `,${item}`
  }
  return `${text}]`
}

/**
 * Returns the start of a value's JSON for a message. The JSON of a large value is truncated shortly after `length`
 * characters.
 */
export function startOfJson(value: Json, length: number): string {
  if (!isLarge(value)) return stringifyJson(value)
  const isList = Array.isArray(value)
  let text = isList ? '[' : '{'
  for (const key of isList ? Object.keys(value) : sortedKeys(value as JsonObject)) {
    if (text.length > length) return text
    const part = startOfJson((value as JsonObject)[key]!, length)
    text += `${text.length === 1 ? '' : ','}${isList ? part : `${JSON.stringify(key)}:${part}`}`
  }
  return `${text}${isList ? ']' : '}'}`
}

/** Formats the members of an object without the enclosing braces. `room` limits the nesting depth of their values. */
export function stringifyMembers(object: JsonObject, order?: Order, room = Number.POSITIVE_INFINITY): string {
  const members = memberOrder(order)
  let text = ''
  for (const key of keysInOrder(object, members)) {
    const value = object[key]
    if (value === undefined) continue
    const member = `${writeText(key, room)}:${stringifyJson(value, orderBelow(members, key), room)}`
    text += text === '' ? member : `,${member}`
  }
  return text
}

/**
 * Formats a part of a stored object. `level` is the nesting depth of the part. Uses the much faster native writer if
 * its output would be the same.
 */
export function stringifyStored(value: Json | undefined, order: Order, level: number): string {
  const room = maxDepth - level
  const ordered = inMemberOrder(value, order, room)
  const text = ordered === undefined ? undefined : JSON.stringify(ordered)
  // The native writer writes `\ud` only for lone surrogates, which must be rejected.
  return text === undefined || text.includes('\\ud') ? stringifyJson(value!, order, room) : text
}

/**
 * Returns a value with its members in output order. Returns the same value if they are already in order, and undefined
 * if the native writer cannot preserve the order.
 */
function inMemberOrder(value: Json | undefined, order: Order, room: number): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : undefined
    case 'object':
      if (value === null) return value
      if (room <= 0) return undefined
      return Array.isArray(value)
        ? elementsInOrder(value, elementOrder(order), room - 1)
        : membersInOrder(value, order, room - 1)
    default:
      return undefined
  }
}

function elementsInOrder(items: Json[], order: Order, room: number): Json[] | undefined {
  let copy: Json[] | undefined
  for (let i = 0; i < items.length; i++) {
    const item = inMemberOrder(items[i], order, room)
    if (item === undefined) return undefined
    if (item !== items[i]) copy ??= items.slice()
    if (copy !== undefined) copy[i] = item
  }
  return copy ?? items
}

function membersInOrder(object: JsonObject, order: Order, room: number): JsonObject | undefined {
  const { fields, values, asSent } = memberOrder(order)
  let members = object
  let sorted = true
  let last: string | undefined
  let lastRank = -1
  for (const key in object) {
    const place = fields?.get(key)
    if (fields !== undefined) sorted &&= place !== undefined && place.rank > lastRank
    else if (!asSent && last !== undefined && compareUtf8(last, key) > 0) sorted = false
    last = key
    lastRank = place?.rank ?? -1
    const value = object[key]
    if (value === undefined) continue
    const item = inMemberOrder(value, fields === undefined ? values : place?.order, room)
    if (item === undefined) return undefined
    if (item === value) continue
    if (members === object) members = { ...object }
    setKey(members, key, item)
  }
  return sorted ? members : sortMembers(members, order)
}

function sortMembers(object: JsonObject, order: Order): JsonObject | undefined {
  const keys = keysInOrder(object, memberOrder(order))
  // A JavaScript object lists keys that are array indexes before all other keys, regardless of insertion order.
  if (keys.some(beginsWithDigit)) return undefined
  const sorted: JsonObject = {}
  for (const key of keys) setKey(sorted, key, object[key]!)
  return sorted
}

function beginsWithDigit(key: string): boolean {
  return key >= '0' && key < ':'
}

/** Returns the keys of an object in the order of their UTF-8 bytes. The entries of maps are written in this order. */
export function sortedKeys(object: JsonObject): string[] {
  return sortUtf8(Object.keys(object))
}
