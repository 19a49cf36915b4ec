/** Parses stored or cached JSON into objects that the caller may modify. */

import { parseOwnJson, parseOwnSliced } from '../../../api/codec/json.ts'
import { type ApiObject, asObject } from '../../../api/model/object.ts'
import type { Evolution, Kind, StoredJson } from '../../../api/schema/kind.ts'
import { runToCompletion, type Sliced } from '../../../base/concurrency/time-slice.ts'

/**
 * Parses an object and upgrades it to the current definition of its kind, with the fields and defaults of that
 * definition. If a webhook converts the object, the caller must await `Evolution.prepare` first.
 */
export function readStored({ evolution }: Kind, stored: StoredJson): ApiObject {
  if (evolution === undefined || isUpToDate(evolution, stored)) return readObject(stored.json)
  if (evolution.remote) return readObject(evolution.readJson(stored))
  return runToCompletion(evolution.read(readObject(stored.json)))
}

/** Like `readStored`, but works in steps, and calls the conversion webhook itself if necessary. */
export function* readStoredSliced({ evolution }: Kind, stored: StoredJson): Sliced<ApiObject> {
  if (evolution === undefined || isUpToDate(evolution, stored)) return asObject(yield* parseOwnSliced(stored.json))
  // Convert from the stored bytes, which are the key of the conversion cache.
  if (evolution.remote) return asObject(yield* parseOwnSliced(yield* evolution.readJsonSliced(stored)))
  const object = asObject(yield* parseOwnSliced(stored.json))
  yield
  return yield* evolution.read(object)
}

/** Returns whether the object was stored under the current definition of its kind. */
function isUpToDate({ schemaId }: Evolution, { completeFor }: StoredJson): boolean {
  return completeFor === schemaId
}

/** Parses a stored object. A lenient parser is sufficient, because the object was validated when it was written. */
export function readObject(json: Buffer): ApiObject {
  return asObject(parseOwnJson(json))
}
