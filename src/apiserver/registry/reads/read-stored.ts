/** Parses stored or cached bytes to objects that can be modified. */

import { parseOwnJson, parseOwnSliced } from '../../../api/codec/json.ts'
import { type ApiObject, asObject } from '../../../api/model/object.ts'
import type { Evolution, Kind, StoredJson } from '../../../api/schema/kind.ts'
import { runToCompletion, type Sliced } from '../../../base/concurrency/time-slice.ts'

/**
 * Returns an object in the current form of its kind, regardless of the definition under which it was stored. If a
 * webhook converts it, it must have been prepared (`Evolution.prepare`).
 */
export function readStored({ evolution }: Kind, stored: StoredJson): ApiObject {
  if (evolution === undefined || isUpToDate(evolution, stored)) return readObject(stored.json)
  if (evolution.remote) return readObject(evolution.readJson(stored))
  return runToCompletion(evolution.read(readObject(stored.json)))
}

/** Like `readStored`, but yields between steps and while it waits. */
export function* readStoredSliced({ evolution }: Kind, stored: StoredJson): Sliced<ApiObject> {
  if (evolution === undefined || isUpToDate(evolution, stored)) return asObject(yield* parseOwnSliced(stored.json))
  // The object is read from its bytes, because webhook conversions are cached by the bytes.
  if (evolution.remote) return asObject(yield* parseOwnSliced(yield* evolution.readJsonSliced(stored)))
  const object = asObject(yield* parseOwnSliced(stored.json))
  yield
  return yield* evolution.read(object)
}

/** Whether the object was stored under the current definition. */
function isUpToDate({ schemaId }: Evolution, { completeFor }: StoredJson): boolean {
  return completeFor === schemaId
}

/** Parses an object. Stored data was validated on write, so it is not parsed strictly again. */
export function readObject(json: Buffer): ApiObject {
  return asObject(parseOwnJson(json))
}
