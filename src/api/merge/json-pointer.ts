/**
 * JSON pointers (RFC 6901): `/metadata/annotations/example.com~1one` as the list of its tokens.
 *
 * A token is a member of an object or an index of a list; which of them is known only at the value it meets. It names
 * own members alone, `__proto__` like any other. An index is a decimal number without leading zeros; one with a minus
 * counts from the end.
 */
import { shorten } from '../../base/text/shorten.ts'
import { isObject, type Json, own } from '../json/json.ts'

export type Pointer = readonly string[]

const longestShown = 200

/** The tokens of a pointer; undefined when the text is none. */
export function parsePointer(text: string): Pointer | undefined {
  if (text === '') return []
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined
  return text.slice(1).split('/').map(unescapeToken)
}

/** The pointer as text, quoted and shortened for messages. */
export function formatPointer(pointer: Pointer): string {
  const text = pointer.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return JSON.stringify(text.length > longestShown ? `${shorten(text, longestShown)}...` : text)
}

/** The index that a token means in a list, if it is one below `end`. */
export function parseIndex(token: string, end: number): number | undefined {
  if (!/^(0|-?[1-9]\d{0,14})$/.test(token)) return undefined
  const index = Number(token) < 0 ? end + Number(token) : Number(token)
  return index >= 0 && index < end ? index : undefined
}

/** What a token leads to; undefined when there is nothing. */
export function step(value: Json, token: string): Json | undefined {
  if (isObject(value)) return own(value, token)
  if (!Array.isArray(value)) return undefined
  const index = parseIndex(token, value.length)
  return index === undefined ? undefined : value[index]
}

/** What the pointer leads to; undefined when there is nothing. */
export function find(value: Json, pointer: Pointer): Json | undefined {
  let found: Json | undefined = value
  for (const token of pointer) {
    if (found === undefined) return undefined
    found = step(found, token)
  }
  return found
}

/** Whether a pointer leads to where `above` leads, or to somewhere below it. */
export function isWithin(pointer: Pointer, above: Pointer): boolean {
  return pointer.length >= above.length && above.every((token, i) => token === pointer[i])
}

// `~1` goes first, so that `~01` means `~1` and not `/`.
function unescapeToken(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token
}
