/** From bytes of the store or cache back to an object that can be changed. */
import { runToCompletion, type Steps } from '../base/time-slice.ts'
import { parseOwnJson, parseOwnSteps } from '../codec/json.ts'
import { type ApiObject, asObject } from '../model/object.ts'
import type { Kind } from '../schema/kind.ts'

/**
 * An object as the kind has it now, whichever definition of the kind it was stored under. Where a webhook converts it,
 * it has been prepared (`Evolution.prepare`).
 */
export function readStored({ evolution }: Kind, json: Buffer): ApiObject {
  if (evolution?.remote) return readObject(evolution.readJson(json))
  const object = readObject(json)
  return evolution === undefined ? object : runToCompletion(evolution.read(object))
}

/** The same, with a yield where it can be interrupted, or has to wait. */
export function* readStoredSteps({ evolution }: Kind, json: Buffer): Steps<ApiObject> {
  // What a webhook made of these bytes is kept, so it is made of the bytes.
  if (evolution?.remote) return asObject(yield* parseOwnSteps(yield* evolution.readSteps(json)))
  const object = asObject(yield* parseOwnSteps(json))
  if (evolution === undefined) return object
  yield
  return yield* evolution.read(object)
}

/** What is stored was checked on its way in, so it needs no strict reading again. */
export function readObject(json: Buffer): ApiObject {
  return asObject(parseOwnJson(json))
}
