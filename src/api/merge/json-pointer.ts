/**
 * JSON pointers (RFC 6901), such as `/metadata/annotations/example.com~1one`, as a list of tokens.
 *
 * A token is a member name or a list index, depending on the value to which it is applied. A token never names
 * inherited members, and `__proto__` is treated like any other name. An index is a decimal number without leading
 * zeros. A negative index counts from the end.
 */
import { shorten } from '../../base/text/shorten.ts'
import { isObject, type Json, own } from '../json/json.ts'

export type Pointer = readonly string[]

const maxShownLength = 200

/** Parses a pointer into its tokens. Returns undefined if the string is not a pointer. */
export function parsePointer(text: string): Pointer | undefined {
  if (text === '') return []
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined
  return text.slice(1).split('/').map(unescapeToken)
}

/** Formats a pointer for messages, quoted and shortened. */
export function formatPointer(pointer: Pointer): string {
  const text = pointer.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return JSON.stringify(text.length > maxShownLength ? `${shorten(text, maxShownLength)}...` : text)
}

/** Returns the list index that a token denotes, or undefined if the token is not an index below `end`. */
export function parseIndex(token: string, end: number): number | undefined {
  if (!/^(0|-?[1-9]\d{0,14})$/.test(token)) return undefined
  const index = Number(token) < 0 ? end + Number(token) : Number(token)
  return index >= 0 && index < end ? index : undefined
}

/** Returns the child that a token names, or undefined if there is no such child. */
export function step(value: Json, token: string): Json | undefined {
  if (isObject(value)) return own(value, token)
  if (!Array.isArray(value)) return undefined
  const index = parseIndex(token, value.length)
  return index === undefined ? undefined : value[index]
}

/** Returns the value at a pointer, or undefined if there is no such value. */
export function find(value: Json, pointer: Pointer): Json | undefined {
  let currentValue: Json | undefined = value
  for (const token of pointer) {
    if (currentValue === undefined) return undefined
    currentValue = step(currentValue, token)
  }
  return currentValue
}

/** Whether a pointer equals `above` or lies below it. */
export function isWithin(pointer: Pointer, above: Pointer): boolean {
  return pointer.length >= above.length && above.every((token, i) => token === pointer[i])
}

// Decodes the escapes of a token. `~1` is replaced first, so that `~01` means `~1` and not `/`.
function unescapeToken(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token
}
