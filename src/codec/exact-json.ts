/**
 * JSON with every digit of its integers, which the native parser rounds beyond 2^53. The native parser can be asked for
 * the digits, but is then ten times slower and cannot be interrupted. So it only says that the text is valid, and this
 * parser, which relies on that, makes the value in steps.
 */
import { badRequest } from '../model/api-error.ts'
import { type Json, type JsonObject, setKey } from '../model/json.ts'
import { endOfNumber } from './json-scan.ts'

/** How many tokens are read between two places where it can be interrupted. */
const tokensPerStep = 2000

interface Open {
  readonly value: Json[] | JsonObject
  /** The key whose value comes next. */
  key: string | undefined
}

/** Of text that is known to be valid JSON. Throws 400 for a number that no type can hold. */
export function* exactSteps(text: string): Generator<void, Json> {
  const stack: Open[] = []
  let result: Json = null
  let at = 0
  let tokens = 0
  const put = (value: Json) => {
    const inner = stack.at(-1)
    if (inner === undefined) result = value
    else if (Array.isArray(inner.value)) inner.value.push(value)
    else {
      setKey(inner.value, inner.key!, value)
      inner.key = undefined
    }
  }
  const open = (value: Json[] | JsonObject) => {
    put(value)
    stack.push({ value, key: undefined })
  }
  while (at < text.length) {
    if (++tokens % tokensPerStep === 0) yield
    const character = text[at]!
    switch (character) {
      case '{':
        open({})
        at++
        break
      case '[':
        open([])
        at++
        break
      case '}':
      case ']':
        stack.pop()
        at++
        break
      case ',':
      case ':':
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        at++
        break
      case '"': {
        const end = endOfString(text, at)
        const string = readString(text, at, end)
        at = end
        const inner = stack.at(-1)
        if (inner !== undefined && inner.key === undefined && !Array.isArray(inner.value)) inner.key = string
        else put(string)
        break
      }
      case 't':
        put(true)
        at += 4
        break
      case 'f':
        put(false)
        at += 5
        break
      case 'n':
        put(null)
        at += 4
        break
      default: {
        const end = endOfNumber(text, at)
        put(exactNumber(text.slice(at, end)))
        at = end
      }
    }
  }
  return result
}

/** Past the closing quote: the first that no odd number of backslashes stands before. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text[before - 1] === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
}

function readString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? JSON.parse(text.slice(start, end)) : inner
}

/** Keeps every digit of an integer and lets no number become infinite. */
function exactNumber(source: string): number | bigint {
  const value = Number(source)
  if (Number.isSafeInteger(value)) return value
  if (/^-?\d{1,40}$/.test(source)) return BigInt(source)
  if (!Number.isFinite(value) || source.length > 400)
    throw badRequest(`the number ${source.slice(0, 40)} is out of range`)
  return value
}
