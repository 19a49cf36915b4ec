/** Numbers that older versions had in fields, and that are annotations now. */
import { badRequest } from '../../model/api-error.ts'

/** The whole number in an annotation. One that is none is refused as it would be in a field: with 400. */
export function readInt64(text: string, key: string): bigint {
  if (!/^[+-]?\d{1,19}$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text))
    throw badRequest(`metadata.annotations[${key}]: expected a whole number`)
  return BigInt(text)
}
