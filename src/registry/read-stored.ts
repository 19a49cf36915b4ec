/** From bytes of the store or cache back to an object that can be changed. */
import { parseOwnJson } from '../codec/json.ts'
import { type ApiObject, asObject } from '../model/object.ts'

/** What is stored was checked on its way in, so it needs no strict reading again. */
export function readObject(json: Buffer): ApiObject {
  return asObject(parseOwnJson(json))
}
