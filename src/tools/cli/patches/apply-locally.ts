/** Applies a patch to an object without a server, for `patch --local`. */

import type { Json, JsonObject } from '../../../api/json/json.ts'
import { applyJsonPatch, parseJsonPatch } from '../../../api/merge/json-patch.ts'
import { applyMergePatch } from '../../../api/merge/merge-patch.ts'
import { applyStrategicMergePatch, withoutDirectives } from '../../../api/merge/strategic-merge-patch.ts'
import { groupOf, versionOf } from '../../../api/model/api-version.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Patch } from '../../../client/requests/client.ts'
import { builtInSchema } from './patch-for.ts'

/**
 * Applies a patch to an object. Throws ApiError if the patch is invalid, and UsageError for a strategic merge patch of
 * a custom kind.
 */
export async function applyPatchLocally(object: ApiObject, patch: Patch): Promise<ApiObject> {
  const json = asJson(object)
  if ('json' in patch) return asObject(applyJsonPatch(json, parseJsonPatch([...patch.json] as Json)) as JsonObject)
  if ('merge' in patch) return asObject(applyMergePatch(json, patch.merge as JsonObject) as JsonObject)
  const { apiVersion, kind } = object
  const schema = await builtInSchema({ group: groupOf(apiVersion), version: versionOf(apiVersion), kind })
  if (!('strategic' in patch) || schema === undefined)
    throw new UsageError(`${object.kind} does not support strategic merge patches: use --type merge`)
  return asObject(
    withoutDirectives(schema, applyStrategicMergePatch(schema, json, patch.strategic as JsonObject)) as JsonObject,
  )
}
