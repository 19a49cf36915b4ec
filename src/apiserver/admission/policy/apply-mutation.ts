/**
 * Applies the result of a mutation expression to the object. An apply configuration is merged as in server-side apply
 * but without field ownership. A JSON patch is applied as in a patch request.
 */
import { toJsonSliced } from '../../../api/cel/to-json.ts'
import { CelError, type Value } from '../../../api/cel/values.ts'
import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { configFieldSetSliced } from '../../../api/merge/config-field-set.ts'
import { jsonPatchSliced, operationsSliced } from '../../../api/merge/json-patch.ts'
import { refuseKeyless } from '../../../api/merge/keyless-elements.ts'
import { mergeConfigSliced } from '../../../api/merge/merge-config.ts'
import { FailedTest } from '../../../api/merge/patch-faults.ts'
import { hasElements, hasMembers, memberSchema } from '../../../api/merge/shape.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import type { ObjectForm } from '../object-forms.ts'
import type { CompiledMutation } from './compiled-mutations.ts'

/**
 * Thrown if the result of a mutation is invalid or does not apply to the object. The failure policy of the admission
 * policy decides whether the request fails.
 */
export class MutationError extends Error {}

/**
 * Applies the result of a mutation expression, and returns the changed object. `object` is in the version of `form`.
 * Throws MutationError if the result is invalid.
 */
export function* applyMutationSliced(
  { patchType }: CompiledMutation,
  value: Value,
  { form, object }: { readonly form: ObjectForm; readonly object: JsonObject },
): Sliced<JsonObject> {
  const result = yield* mutationErrors('', toJsonSliced(value))
  if (patchType === 'JSONPatch') return yield* patched(object, result)
  return yield* mutationErrors('error applying patch: ', merged(form, object, result))
}

function* merged({ schema }: ObjectForm, object: JsonObject, result: Json): Sliced<JsonObject> {
  if (schema === undefined) throw new MutationError('an apply configuration cannot be merged into connection options')
  if (!isObject(result)) throw new MutationError('the configuration must be an object')
  const config = { ...result, apiVersion: object.apiVersion!, kind: object.kind! }
  yield* refuseKeyless(schema, config, 'the applied configuration')
  yield* configFieldSetSliced(schema, config)
  const atomics = [...atomicValues(schema, config, '')]
  if (atomics.length > 0)
    throw new MutationError(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    )
  return (yield* mergeConfigSliced(schema, object, config)) as JsonObject
}

/** Returns the paths of lists, maps and objects that a merge would replace completely. */
function* atomicValues(schema: Schema, value: Json | undefined, path: string): Generator<string> {
  if (hasMembers(schema) && isObject(value)) {
    for (const name of Object.keys(value))
      yield* atomicValues(memberSchema(schema, name), value[name], `${path}.${name}`)
  } else if (hasElements(schema) && Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* atomicValues(schema.items, item, `${path}[${i}]`)
  } else if (typeof value === 'object' && value !== null) yield path
}

/** Applies a JSON Patch. If one of its `test` operations fails, returns the object unchanged. */
function* patched(object: JsonObject, operations: Json): Sliced<JsonObject> {
  try {
    const result = yield* mutationErrors('JSON Patch: ', jsonPatchSliced(object, yield* operationsSliced(operations)))
    if (isObject(result)) return result
    throw new MutationError('JSON Patch: the result is not an object')
  } catch (error) {
    if (error instanceof FailedTest) return object
    throw error
  }
}

/** Converts errors caused by the result of an expression into MutationErrors, so that the failure policy applies. */
function* mutationErrors<T>(prefix: string, work: Sliced<T>): Sliced<T> {
  try {
    return yield* work
  } catch (error) {
    if (error instanceof FailedTest) throw error
    if (error instanceof ApiError || error instanceof CelError || error instanceof MutationError)
      throw new MutationError(`${prefix}${error.message}`)
    throw error
  }
}
