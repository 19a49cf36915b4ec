/** `--overrides` of commands that make an object from flags: a merge patch, in JSON, that has the last word. */
import { UsageError } from '../../base/flags.ts'
import { parseJson } from '../../client/json.ts'
import { applyMergePatch } from '../../merge/merge-patch.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { type ApiObject, asJson, asObject } from '../../model/object.ts'

/** Throws UsageError where it is not an object, or would make another kind of it. */
export async function readOverrides(object: ApiObject, overrides: string): Promise<ApiObject> {
  const made = asObject(applyMergePatch(asJson(object), parsed(overrides)) as JsonObject)
  if (made.kind !== object.kind || made.apiVersion !== object.apiVersion)
    throw new UsageError(`--overrides: it must stay a ${object.kind} of ${object.apiVersion}`)
  return made
}

function parsed(text: string): Json {
  try {
    const value = parseJson(text) as Json
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new UsageError('--overrides takes an object in JSON: {"spec": ...}')
}
