/**
 * The native JSON parser, with a guard against a bug in V8. V8 14 predicts the next key of an object from the shapes of
 * earlier objects, and compares the prediction with the raw text. If an earlier object has a backslash in a key, the
 * parser may therefore read a wrong key: after `{"a":1,"b\\":2}`, it parses `{"a":1,"b\n":2}` as `{"a":1,"b\\":2}`.
 * After such an object has been created, keys that contain an escape are replaced with plain names during parsing. Most
 * servers never receive such a key, and the guard then does nothing.
 */
import { backslashKeysWereMade, noteKey } from './backslash-keys.ts'
import { isObject, type Json, type JsonObject, setKey } from './json.ts'

export type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

/** Parses JSON like `JSON.parse`, with a guard against the V8 bug that affects keys containing escapes. */
export function parseNative(text: string, reviver?: Reviver): Json {
  if (!text.includes('\\')) return JSON.parse(text, reviver)
  if (mayHoldBackslash.test(text) && holdsKey(text, mayHoldBackslash)) noteKey('\\')
  const guarded = backslashKeysWereMade() && holdsKey(text, anyEscape)
  return guarded ? parseRenamed(text, reviver) : JSON.parse(text, reviver)
}

/** Matches an escape sequence for a backslash. Such escapes are common in values but very rare in keys. */
const mayHoldBackslash = /\\(?:\\|u005c)/i
const anyEscape = /\\/
/** The prefix of the plain names that replace keys. A key that already starts with this prefix is also replaced. */
const mark = '~'

function holdsKey(text: string, keyPattern: RegExp): boolean {
  for (const { start, end } of keysOf(text)) if (keyPattern.test(text.slice(start, end))) return true
  return false
}

interface Span {
  /** The position of the opening quote of a key, and the position after its closing quote. */
  readonly start: number
  readonly end: number
}

/** Yields the positions of the keys in a JSON document, in linear time. The input does not have to be valid JSON. */
function* keysOf(text: string): Generator<Span> {
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start)
    if (end === 0) return
    if (isBeforeColon(text, end)) yield { start, end }
    start = text.indexOf('"', end)
  }
}

/**
 * Returns the position after the closing quote, that is, after the first quote without a backslash escape. Returns 0 if
 * there is no closing quote.
 */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text[before - 1] === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return 0
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

function parseRenamed(text: string, reviver: Reviver | undefined): Json {
  const keys: string[] = []
  let renamed = ''
  let done = 0
  for (const { start, end } of keysOf(text)) {
    const spelt = text.slice(start, end)
    if (spelt[1] !== mark && !spelt.includes('\\')) continue
    renamed += `${text.slice(done, start)}"${mark}${keys.push(JSON.parse(spelt)) - 1}"`
    done = end
  }
  return withKeys(JSON.parse(renamed + text.slice(done), reviver), keys)
}

function withKeys(value: Json, keys: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, keys))
  if (!isObject(value)) return value
  const object: JsonObject = {}
  for (const name of Object.keys(value)) {
    const key = name.startsWith(mark) ? keys[Number(name.slice(mark.length))]! : name
    setKey(object, key, withKeys(value[name]!, keys))
  }
  return object
}
