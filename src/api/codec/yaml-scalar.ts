/**
 * Interprets plain YAML scalars according to the types of YAML 1.1, as Kubernetes users expect: `yes` is a boolean, and
 * `0755` is an integer. Dates, base-60 numbers (`80:80`) and one-letter booleans (`y`, `n`) remain strings. Integers
 * are never rounded: integers beyond 2^53 become bigint.
 */
import { badRequest } from '../model/api-error.ts'
import { keptNumber } from './exact-json.ts'

export type Scalar = string | number | bigint | boolean | null

const words: ReadonlyMap<string, Scalar> = new Map<string, Scalar>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['yes', 'true', 'on'].flatMap((word) => spellings(word).map((text) => [text, true] as const)),
  ...['no', 'false', 'off'].flatMap((word) => spellings(word).map((text) => [text, false] as const)),
])

/**
 * Letters that some other parsers read as booleans. This parser reads them as strings, because users choose names and
 * keys such as `n`.
 */
const letters: ReadonlySet<string> = new Set(['y', 'Y', 'n', 'N'])

function spellings(word: string): string[] {
  return [word, word.toUpperCase(), `${word[0]!.toUpperCase()}${word.slice(1)}`]
}

const maxWordLength = 5
const mayBeNumber = /^[-+.\d]/
const integer = /^[-+]?(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
const noNumber = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/
/**
 * Maximum length of a number. A longer text is a string even if it looks like a number, because no supported number has
 * that many digits.
 */
const maxNumberLength = 400

/** Returns the value of an unquoted scalar: the value of a special word, a number, or the string itself. */
export function plainScalar(text: string): Scalar {
  if (text.length <= maxWordLength) {
    const word = words.get(text)
    if (word !== undefined) return word
  }
  if (text.length > maxNumberLength || !mayBeNumber.test(text)) return text
  const digits = text.replaceAll('_', '')
  if (integer.test(digits)) return integerOf(digits)
  if (float.test(digits)) return keptNumber(digits)
  if (noNumber.test(text)) throw badRequest(`the number ${text} cannot be represented in JSON`)
  return text
}

/**
 * Whether every parser reads a scalar as a string rather than as a special word or a number. `1e999` counts as a
 * number, although `plainScalar` rejects it as out of range.
 */
export function isPlainText(text: string): boolean {
  if (text.length <= maxWordLength && (words.has(text) || letters.has(text))) return false
  if (!mayBeNumber.test(text)) return true
  const digits = text.replaceAll('_', '')
  return !integer.test(digits) && !float.test(digits) && !noNumber.test(text)
}

const maxIntegerLength = 40

function integerOf(text: string): number | bigint {
  const negative = text.startsWith('-')
  const digits = text.replace(/^[-+]/, '')
  if (digits.length > maxIntegerLength) return finite(Number(text), text)
  // BigInt accepts octal numbers only with the prefix `0o`. It would read a number with a leading zero as decimal.
  const size = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits.toLowerCase())
  const value = negative ? -size : size
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

function finite(value: number, text: string): number {
  if (!Number.isFinite(value)) throw badRequest(`the number ${text.slice(0, 40)} is out of range`)
  return value
}
