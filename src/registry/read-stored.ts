/** From bytes of the store or cache back to an object that can be changed. */
import { parseOwnJson, parseOwnSteps } from '../codec/json.ts'
import { type ApiObject, asObject } from '../model/object.ts'
import type { Kind } from '../schema/kind.ts'

/** An object as the kind has it now, whichever definition of the kind it was stored under. */
export function readStored({ evolution }: Kind, json: Buffer): ApiObject {
  const object = readObject(json)
  return evolution === undefined ? object : evolution.read(object)
}

/** The same, with a yield where it can be interrupted. */
export function* readStoredSteps({ evolution }: Kind, json: Buffer): Generator<void, ApiObject> {
  const object = asObject(yield* parseOwnSteps(json))
  if (evolution === undefined) return object
  yield
  return evolution.read(object)
}

/** What is stored was checked on its way in, so it needs no strict reading again. */
export function readObject(json: Buffer): ApiObject {
  return asObject(parseOwnJson(json))
}
