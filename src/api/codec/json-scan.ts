/**
 * Scans JSON text once for properties that the native parser hides. The scan does not check the grammar, because the
 * parser does that. For text that is not JSON, the result is arbitrary, but the scan still finishes in linear time.
 */
import { shorten } from '../../base/text/shorten.ts'
import { type ApiError, badRequest, entityTooLarge } from '../model/api-error.ts'
import { maxValues } from '../model/limits.ts'

/** Maximum nesting depth of a document. */
export const maxDepth = 512
export { maxValues }

const quote = 0x22
const backslash = 0x5c

const longExponent = /[eE][-+]?\d{3}/

/**
 * Scans a document before it is parsed. Throws a 400 or 413 error if the document exceeds the limits of a request body.
 */
export class JsonScan {
  /** Number of object members in the text, including duplicates. */
  members = 0
  /** Whether the document contains a number that a double may not represent exactly. */
  bigNumbers = false
  readonly #text: string
  readonly #maxCount: number
  #at = 0
  #depth = 0
  #values = 0
  #escapeAt: number

  constructor(text: string, maxCount = maxValues) {
    this.#text = text
    this.#maxCount = maxCount
    this.#escapeAt = indexOrEnd(text, '\\', 0)
  }

  /** Scans about `length` more characters. Returns whether the whole document has been scanned. */
  scan(length: number): boolean {
    const text = this.#text
    const maxCount = this.#maxCount
    const end = Math.min(text.length, this.#at + length)
    let depth = this.#depth
    let values = this.#values
    let escapeAt = this.#escapeAt
    let i = this.#at
    for (; i < end; i++) {
      const unit = text.charCodeAt(i)
      if (unit === quote) {
        if (escapeAt < i) escapeAt = indexOrEnd(text, '\\', i)
        const plainEnd = indexOrEnd(text, '"', i + 1)
        i = plainEnd < escapeAt ? plainEnd : endOfString(text, i)
      } else if (unit === 0x3a /* : */) {
        this.members++
      } else if (unit === 0x2c /* , */) {
        if (++values > maxCount) throw tooManyValues(maxCount)
      } else if (unit === 0x7b /* { */ || unit === 0x5b /* [ */) {
        if (++depth > maxDepth) throw tooDeep()
        if (++values > maxCount) throw tooManyValues(maxCount)
      } else if (unit === 0x7d /* } */ || unit === 0x5d /* ] */) {
        depth--
      } else if (isDigit(unit)) {
        const numberEnd = endOfNumber(text, i)
        this.#noteNumber(i, numberEnd)
        i = numberEnd - 1
      }
    }
    this.#at = i
    this.#depth = depth
    this.#values = values
    this.#escapeAt = escapeAt
    return i >= text.length
  }

  /**
   * A double can represent any number with 15 digits exactly. A number with a three-digit exponent may exceed the range
   * of a double.
   */
  #noteNumber(start: number, end: number): void {
    const length = end - start
    if (length > 15) this.bigNumbers = true
    else if (length > 4 && !this.bigNumbers) this.bigNumbers = longExponent.test(this.#text.slice(start, end))
  }
}

function indexOrEnd(text: string, searchedText: string, from: number): number {
  const index = text.indexOf(searchedText, from)
  return index < 0 ? text.length : index
}

/**
 * Returns the index of the closing quote of a string that may contain escapes. Rejects escape sequences of lone
 * surrogates.
 */
export function endOfString(text: string, start: number): number {
  let i = start + 1
  for (; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === quote) return i
    if (unit !== backslash) continue
    if (text.charCodeAt(i + 1) !== 0x75 /* u */) {
      i++
      continue
    }
    const escaped = Number.parseInt(text.slice(i + 2, i + 6), 16)
    if (escaped >= 0xd800 && escaped <= 0xdbff) {
      const low = text.startsWith('\\u', i + 6) ? Number.parseInt(text.slice(i + 8, i + 12), 16) : 0
      if (!(low >= 0xdc00 && low <= 0xdfff)) throw loneSurrogate(text.slice(i, i + 6))
      i += 11
    } else if (escaped >= 0xdc00 && escaped <= 0xdfff) {
      throw loneSurrogate(text.slice(i, i + 6))
    } else {
      i += 5
    }
  }
  return i
}

/** Returns the error for a lone surrogate, which UTF-8 cannot encode. */
export function loneSurrogate(sequence: string): ApiError {
  return badRequest(`the body contains an unpaired surrogate: ${sequence}`)
}

/** Returns the error for a document with more values than an object may contain. */
export function tooManyValues(maxCount = maxValues): ApiError {
  return entityTooLarge(`Request entity too large: limit is ${maxCount} values, counting members and elements`)
}

/** Returns the error for a document that is nested too deeply. */
export function tooDeep(): ApiError {
  return badRequest(`the body is nested deeper than ${maxDepth} levels`)
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

/** Returns the position after the number that starts at the given position. */
export function endOfNumber(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && isNumeric(text.charCodeAt(i))) i++
  return i
}

/** Whether a code unit is a digit, a sign, a decimal point or the letter of an exponent. */
function isNumeric(unit: number): boolean {
  return isDigit(unit) || unit === 0x2e || unit === 0x2d || unit === 0x2b || unit === 0x65 || unit === 0x45
}

const maxPlaceLength = 200

/** Maximum number of duplicate keys to report. */
export const maxDuplicates = 100

/** Formats the path of a key, for example as `spec.ports[0].name`. */
export function pathText(places: readonly (string | number)[], key: string): string {
  const steps = places.map((place) => (typeof place === 'number' ? `[${place}]` : `.${shorten(place, maxPlaceLength)}`))
  return `${steps.join('')}.${shorten(key, maxPlaceLength)}`.replace(/^\./, '')
}
