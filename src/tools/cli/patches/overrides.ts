/**
 * Implements `--overrides` for commands that create an object from flags. Its value is a patch in JSON, which is
 * applied last.
 */

import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { parseJson } from '../../../api/json/portable-json.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Patch } from '../../../client/requests/client.ts'
import { applyPatchLocally } from './apply-locally.ts'
import type { OverrideType } from './override-type.ts'

/**
 * Returns the object with the overrides applied. Throws UsageError if the patch is invalid for its type or would change
 * the kind of the object.
 */
export async function readOverrides(
  object: ApiObject,
  { overrides, overrideType }: { readonly overrides: string; readonly overrideType: OverrideType },
): Promise<ApiObject> {
  const overriddenObject = await applyPatchLocally(object, patchOf(parsed(overrides), overrideType)).catch(
    (error: unknown) => {
      throw error instanceof UsageError ? error : new UsageError(`--overrides: ${messageOf(error)}`)
    },
  )
  if (overriddenObject.kind !== object.kind || overriddenObject.apiVersion !== object.apiVersion)
    throw new UsageError(`--overrides: the kind and apiVersion must stay ${object.kind} and ${object.apiVersion}`)
  return overriddenObject
}

function patchOf(value: Json, type: OverrideType): Patch {
  if (type === 'json') {
    if (!Array.isArray(value) || !value.every(isObject))
      throw new UsageError('--overrides must be a list of operations: [{"op": ...}]')
    return { json: value as JsonObject[] }
  }
  if (!isObject(value)) throw new UsageError('--overrides must be a JSON object such as {"spec": ...}')
  return type === 'merge' ? { merge: value } : { strategic: value }
}

function parsed(text: string): Json {
  try {
    return parseJson(text) as Json
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new UsageError('--overrides must be a JSON object such as {"spec": ...}')
  }
}
