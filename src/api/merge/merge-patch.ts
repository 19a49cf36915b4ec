/**
 * JSON merge patch (RFC 7386): objects are merged member by member, null removes a member, and any other value replaces
 * the existing value.
 *
 * Neither argument is modified, and unchanged parts are shared with the document. The recursion is no deeper than the
 * patch, whose depth the decoder limits. The result is no deeper than the deeper of the two arguments.
 */
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'

/** Applies a JSON merge patch and returns the result. */
export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  return runToCompletion(mergePatchSliced(document, patch))
}

/** Number of members to process before yielding. */
const membersPerSlice = 1000

/** Copies an object. Yields periodically if it has many members. */
export function* copySliced(object: JsonObject): Generator<void, JsonObject> {
  const keys = Object.keys(object)
  if (keys.length < membersPerSlice) return { ...object }
  const copy: JsonObject = {}
  for (const [i, key] of keys.entries()) {
    if (i % membersPerSlice === 0) yield
    const value = object[key]
    if (value !== undefined) setKey(copy, key, value)
  }
  return copy
}

/** Like `applyMergePatch`, but yields periodically so that other work can run. */
export function* mergePatchSliced(document: Json | undefined, patch: Json): Generator<void, Json> {
  if (!isObject(patch)) return patch
  const result = isObject(document) ? yield* copySliced(document) : {}
  let members = 0
  for (const key of Object.keys(patch)) {
    if (++members % membersPerSlice === 0) yield
    const value = patch[key]
    if (value === null) delete result[key]
    else if (isObject(value)) setKey(result, key, yield* mergePatchSliced(own(result, key), value))
    else if (value !== undefined) setKey(result, key, value)
  }
  return result
}
