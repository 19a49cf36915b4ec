/**
 * Applies the defaults of user-defined schemas. Defaulted values count against the same size limits as the values that
 * clients send. The limits are enforced while defaults are applied, so an oversized object is never created.
 */

import type { Json } from '../json/json.ts'
import { at, child, type FieldError, type FieldPath, forbidden } from '../model/field-error.ts'
import { maxBodyBytes, maxValues } from '../model/limits.ts'
import type { RuleContext } from './context.ts'
import { fillSliced, hasDefaults, Room, sizeSliced } from './defaults.ts'
import type { ObjectSchema } from './schema.ts'

/**
 * Applies defaults to `value` in place. If the value would exceed a limit, returns an error, and the value must not be
 * used. Yields wherever the work can be interrupted.
 */
export function* fillWithinLimits(
  schema: ObjectSchema,
  value: Json,
  context: RuleContext,
): Generator<void, FieldError | undefined> {
  if (!hasDefaults(schema)) return undefined
  const { bytes, values } = yield* sizeSliced(value)
  const room = new Room({ bytes: maxBodyBytes - bytes, values: maxValues - values })
  const over = yield* fillSliced(schema, value, { context, room })
  return over && forbidden(pathOf(over), tooLarge)
}

const tooLarge = `the schema defaults make the object too large: at most ${maxBodyBytes} bytes and ${maxValues} values`

function pathOf(steps: readonly (string | number)[]): FieldPath {
  return steps.reduceRight<FieldPath>(
    (path, step) => (typeof step === 'number' ? at(path, step) : path === '' ? step : child(path, step)),
    '',
  )
}
