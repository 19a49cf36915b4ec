/**
 * JSON merge patch (RFC 7386): objects merge member by member, null removes a member, anything else replaces.
 *
 * Changes neither argument; what the patch does not touch is shared with the document. Recursion goes as deep as the
 * patch, whose depth the decoder bounds, and the result is no deeper than the deeper of the two.
 */
import { isObject, type Json, type JsonObject, own, setKey } from '../model/json.ts'

export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const result: JsonObject = isObject(document) ? { ...document } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else if (value !== undefined) setKey(result, key, applyMergePatch(own(result, key), value))
  }
  return result
}
