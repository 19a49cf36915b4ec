/** From bytes of the store or cache back to an object that can be changed. */
import { parseJson } from '../codec/json.ts'
import { type ApiObject, asObject } from '../model/object.ts'

/** Exact: integers beyond 2^53 come back as they were written. */
export function readObject(json: Buffer): ApiObject {
  return asObject(parseJson(json).value)
}
