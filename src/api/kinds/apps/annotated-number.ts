/** Reads and writes integers that were fields in older API versions and are annotations in apps/v1. */
import { badRequest } from '../../model/api-error.ts'

/** Returns the integer in an annotation. Rejects other values with a 400 error, as for a field of the wrong type. */
export function readInt64(text: string, key: string): bigint {
  if (!/^[+-]?\d{1,19}$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text))
    throw badRequest(`metadata.annotations[${key}]: expected a whole number`)
  return BigInt(text)
}
