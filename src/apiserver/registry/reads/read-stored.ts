/** From bytes of the store or cache back to an object that can be changed. */

import { parseOwnJson, parseOwnSteps } from '../../../api/codec/json.ts'
import { type ApiObject, asObject } from '../../../api/model/object.ts'
import type { Evolution, Kind, StoredJson } from '../../../api/schema/kind.ts'
import { runToCompletion, type Steps } from '../../../base/concurrency/time-slice.ts'

/**
 * An object as the kind has it now, whichever definition of the kind it was stored under. Where a webhook converts it,
 * it has been prepared (`Evolution.prepare`).
 */
export function readStored({ evolution }: Kind, stored: StoredJson): ApiObject {
  if (evolution === undefined || isUpToDate(evolution, stored)) return readObject(stored.json)
  if (evolution.remote) return readObject(evolution.readJson(stored))
  return runToCompletion(evolution.read(readObject(stored.json)))
}

/** The same, with a yield where it can be interrupted, or has to wait. */
export function* readStoredSteps({ evolution }: Kind, stored: StoredJson): Steps<ApiObject> {
  if (evolution === undefined || isUpToDate(evolution, stored)) return asObject(yield* parseOwnSteps(stored.json))
  // What a webhook made of these bytes is kept, so it is made of the bytes.
  if (evolution.remote) return asObject(yield* parseOwnSteps(yield* evolution.readSteps(stored)))
  const object = asObject(yield* parseOwnSteps(stored.json))
  yield
  return yield* evolution.read(object)
}

/** Whether the object was stored as the kind has it now. */
function isUpToDate({ schemaId }: Evolution, { completeFor }: StoredJson): boolean {
  return completeFor === schemaId
}

/** What is stored was checked on its way in, so it needs no strict reading again. */
export function readObject(json: Buffer): ApiObject {
  return asObject(parseOwnJson(json))
}
