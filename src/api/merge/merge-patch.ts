/**
 * JSON merge patch (RFC 7386): objects merge member by member, null removes a member, anything else replaces.
 *
 * Changes neither argument; what the patch does not touch is shared with the document. Recursion goes as deep as the
 * patch, whose depth the decoder bounds, and the result is no deeper than the deeper of the two.
 */
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'

/** The document with the patch applied. */
export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  return runToCompletion(mergePatchSteps(document, patch))
}

/** How many members are merged between two places where it can be interrupted. */
const membersPerStep = 1000

/** A copy of an object, with a yield where it can be interrupted. */
export function* copySteps(object: JsonObject): Generator<void, JsonObject> {
  const keys = Object.keys(object)
  if (keys.length < membersPerStep) return { ...object }
  const copy: JsonObject = {}
  for (const [i, key] of keys.entries()) {
    if (i % membersPerStep === 0) yield
    const value = object[key]
    if (value !== undefined) setKey(copy, key, value)
  }
  return copy
}

/** The same, with a yield where it can be interrupted. */
export function* mergePatchSteps(document: Json | undefined, patch: Json): Generator<void, Json> {
  if (!isObject(patch)) return patch
  const result = isObject(document) ? yield* copySteps(document) : {}
  let members = 0
  for (const key of Object.keys(patch)) {
    if (++members % membersPerStep === 0) yield
    const value = patch[key]
    if (value === null) delete result[key]
    else if (isObject(value)) setKey(result, key, yield* mergePatchSteps(own(result, key), value))
    else if (value !== undefined) setKey(result, key, value)
  }
  return result
}
