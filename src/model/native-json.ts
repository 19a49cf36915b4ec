/**
 * The native JSON parser, kept from a fault of its own. V8 14 guesses the next key of an object from the shapes of
 * objects that it has seen, and compares its guess with the text as it is spelt. So once there was an object with a
 * backslash in a key, anybody's, keys that are spelt with an escape are taken for that one: after `{"a":1,"b\\":2}` it
 * reads `{"a":1,"b\n":2}` as `{"a":1,"b\\":2}`. Keys that are spelt with an escape are therefore given a plain name for
 * the time of parsing.
 */
import { isObject, type Json, type JsonObject, setKey } from './json.ts'

export type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

export function parseNative(text: string, reviver?: Reviver): Json {
  return text.includes('\\') && escapedKey.test(text) ? parseRenamed(text, reviver) : JSON.parse(text, reviver)
}

const escapedKey = /"[^"\\]*(?:\\.[^"\\]*)+"\s*:/s
const everyString = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/gs
/** Begins the plain names; a key that begins like one gets one too. */
const mark = '~'

function parseRenamed(text: string, reviver: Reviver | undefined): Json {
  const keys: string[] = []
  const renamed = text.replaceAll(everyString, (string) => {
    if (!string.endsWith(':') || !(string[1] === mark || string.includes('\\'))) return string
    return `"${mark}${keys.push(JSON.parse(string.slice(0, -1))) - 1}":`
  })
  return withKeys(JSON.parse(renamed, reviver), keys)
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
