/**
 * Parses JSON without rounding integers beyond 2^53. The native parser can also preserve all digits, but it is then ten
 * times slower and still cannot be interrupted. The native parser is therefore used only to validate the input. The
 * exact parser relies on this validation and builds the value in steps.
 */
import { trimEndOf } from '../../base/text/trim-end.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { type ApiError, badRequest } from '../model/api-error.ts'
import { endOfNumber } from './json-scan.ts'

/** Number of tokens to process before yielding. */
const tokensPerSlice = 2000

export interface ExactOptions {
  /** Whether objects under a duplicate key are merged. By default, the last value wins. */
  readonly mergesObjects?: boolean
}

/** Parses text that has already been validated as JSON. Throws a 400 error for a number that would become infinite. */
export function* parseExactSliced(text: string, options: ExactOptions = {}): Generator<void, Json> {
  const maker = new ValueMaker(options)
  let tokens = 0
  for (let at = 0; at < text.length; ) {
    if (++tokens % tokensPerSlice === 0) yield
    at = readToken(text, at, maker)
  }
  return maker.result
}

/** Builds a value from its tokens, which must be passed in source order. */
class ValueMaker {
  result: Json = null
  readonly #open: { readonly value: Json[] | JsonObject; key: string | undefined }[] = []
  readonly #mergesObjects: boolean

  constructor({ mergesObjects = false }: ExactOptions) {
    this.#mergesObjects = mergesObjects
  }

  open(value: Json[] | JsonObject): void {
    const earlier = this.#mergesObjects && !Array.isArray(value) ? this.#earlierObject() : undefined
    this.put(earlier ?? value)
    this.#open.push({ value: earlier ?? value, key: undefined })
  }

  /**
   * Returns the object from an earlier occurrence of the current key, so that the next object can be merged into it.
   */
  #earlierObject(): JsonObject | undefined {
    const inner = this.#open.at(-1)
    if (inner?.key === undefined || Array.isArray(inner.value)) return undefined
    const value = own(inner.value, inner.key)
    return isObject(value) ? value : undefined
  }

  close(): void {
    this.#open.pop()
  }

  put(value: Json): void {
    const inner = this.#open.at(-1)
    if (inner === undefined) this.result = value
    else if (Array.isArray(inner.value)) inner.value.push(value)
    else {
      setKey(inner.value, inner.key!, value)
      inner.key = undefined
    }
  }

  /** Adds a string, either as a key or as a value, depending on the position. */
  putString(string: string): void {
    const inner = this.#open.at(-1)
    if (inner !== undefined && inner.key === undefined && !Array.isArray(inner.value)) inner.key = string
    else this.put(string)
  }
}

/** Processes the token at the given position, and returns the position after the token. */
function readToken(text: string, at: number, maker: ValueMaker): number {
  switch (text[at]) {
    case '{':
      maker.open({})
      return at + 1
    case '[':
      maker.open([])
      return at + 1
    case '}':
    case ']':
      maker.close()
      return at + 1
    case ',':
    case ':':
    case ' ':
    case '\n':
    case '\r':
    case '\t':
      return at + 1
    case '"': {
      const end = endOfString(text, at)
      maker.putString(readString(text, at, end))
      return end
    }
    case 't':
      maker.put(true)
      return at + 'true'.length
    case 'f':
      maker.put(false)
      return at + 'false'.length
    case 'n':
      maker.put(null)
      return at + 'null'.length
    default: {
      const end = endOfNumber(text, at)
      maker.put(exactNumber(text.slice(at, end)))
      return end
    }
  }
}

/** Returns the position after the closing quote, that is, after the first quote without a backslash escape. */
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

/** Parses a number without rounding integers. Rejects a number that would become infinite. */
function exactNumber(source: string): number | bigint {
  const value = Number(source)
  if (Number.isSafeInteger(value) && !/[.eE]/.test(source)) return value
  if (/^-?\d{1,40}$/.test(source)) return BigInt(source)
  if (source.length > 400) throw outOfRange(source)
  return keptNumber(source)
}

/**
 * Parses a number with a decimal point or an exponent. Throws a 400 error if the number would become infinite, or if
 * rounding would change a fraction into an integer.
 */
export function keptNumber(source: string): number {
  const value = Number(source)
  if (!Number.isFinite(value) || (Number.isInteger(value) && !isWhole(source))) throw outOfRange(source)
  return value
}

function outOfRange(source: string): ApiError {
  return badRequest(`the number ${source.slice(0, 40)} is out of range`)
}

/** Whether a number is an integer after its exponent is applied to its digits. */
function isWhole(source: string): boolean {
  const [digits = '', exponent = '0'] = source.toLowerCase().split('e')
  const [whole = '', fraction = ''] = digits.replace(/^[-+]/, '').split('.')
  const significant = trimEndOf(`${whole}${fraction}`, '0')
  const places = significant.length - whole.length - Number(exponent)
  return places <= 0 || significant === ''
}
