/** Formats JSON on one line with keys in byte order, so that equal values produce equal strings. */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { isObject, type Json } from './json.ts'
import { stringifyJson } from './portable-json.ts'

/** Returns the JSON of a value with sorted keys. Equal values produce equal strings. */
export function sortedJson(value: Json): string {
  return stringifyJson(sorted(value))
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort(compareUtf8)
      .map((key) => [key, sorted(value[key] ?? null)]),
  )
}
