/** Reads query parameters. Throws a 400 that names the parameter if the value is invalid. */

import { badRequest } from '../../../api/model/api-error.ts'
import { shorten } from '../../../base/text/shorten.ts'

/**
 * Reads an integer parameter. Returns undefined if it is missing. All 64-bit integers are accepted, but values above
 * 2^53 - 1 are capped at 2^53 - 1.
 */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^-?\d{1,19}$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text))
    throw badRequest(`invalid ${name} ${JSON.stringify(shorten(text, 50))}: must be a 64-bit integer`)
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** Returns the parameter, or '' if it is missing. */
export function text(query: URLSearchParams, name: string): string {
  return query.get(name) ?? ''
}
