/**
 * The native JSON parser, with a guard against a bug in V8. V8 14 guesses the next key of an object from the shapes of
 * objects that the process has made before, and compares its guess with the text as it is spelt. So once anybody has
 * made an object with a backslash in a key, keys that are spelt with an escape may be taken for that one: after
 * `{"a":1,"b\\":2}` it reads `{"a":1,"b\n":2}` as `{"a":1,"b\\":2}`. From that moment on, keys that are spelt with an
 * escape are given a plain name for the time of parsing. Until then, which for most servers is always, nothing is done.
 */
import { backslashKeysWereMade, noteKey } from './backslash-keys.ts'
import { isObject, type Json, type JsonObject, setKey } from './json.ts'

export type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

/** `JSON.parse`, with the guard that is described above. */
export function parseNative(text: string, reviver?: Reviver): Json {
  if (!text.includes('\\')) return JSON.parse(text, reviver)
  if (mayHoldBackslash.test(text) && holdsKey(text, mayHoldBackslash)) noteKey('\\')
  const guarded = backslashKeysWereMade() && holdsKey(text, anyEscape)
  return guarded ? parseRenamed(text, reviver) : JSON.parse(text, reviver)
}

/** An escape that stands for a backslash; in values there are many, in keys hardly ever. */
const mayHoldBackslash = /\\(?:\\|u005c)/i
const anyEscape = /\\/
/** Begins the plain names; a key that begins like one gets one too. */
const mark = '~'

function holdsKey(text: string, wanted: RegExp): boolean {
  for (const { start, end } of keysOf(text)) if (wanted.test(text.slice(start, end))) return true
  return false
}

interface Span {
  /** Of the quote that begins it, and past the one that ends it. */
  readonly start: number
  readonly end: number
}

/** The keys as they stand in the text, which need not be JSON; in time linear in its length. */
function* keysOf(text: string): Generator<Span> {
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = endOfString(text, start)
    if (end === 0) return
    if (isBeforeColon(text, end)) yield { start, end }
    start = text.indexOf('"', end)
  }
}

/** Past the closing quote: the first that no odd number of backslashes stands before. 0 where there is none. */
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
