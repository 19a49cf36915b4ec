/** Bounds on the requested lifetime of a service account token. */
import { type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'

const shortestLife = 600
const maxLife = 2 ** 32

export function checkTokenLife(seconds: number = shortestLife, path: FieldPath): FieldError[] {
  if (seconds < shortestLife) return [invalid(path, seconds, 'may not specify a duration less than 10 minutes')]
  return seconds > maxLife ? [invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
}
