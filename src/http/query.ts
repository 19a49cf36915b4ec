/** Reading query parameters: a wrong value is a 400 that names the parameter. */
import { shorten } from '../base/shorten.ts'
import { badRequest } from '../model/api-error.ts'

/** A whole number of 64 bits; undefined when the parameter is not sent. One that no count reaches is as good as the next. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^-?\d{1,19}$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text))
    throw badRequest(`invalid ${name} ${JSON.stringify(shorten(text, 50))}: it must be an integer of 64 bits`)
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

export function text(query: URLSearchParams, name: string): string {
  return query.get(name) ?? ''
}
