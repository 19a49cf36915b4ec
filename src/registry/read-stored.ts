/** From bytes of the store or cache back to an object that can be changed. */
import { parseJson } from '../codec/json.ts'
import { type ApiObject, asObject } from '../model/object.ts'

/**
 * What is stored was checked on its way in, so it needs no strict reading again; only integers beyond 2^53 must come
 * back as they were written, which takes the careful parser.
 */
export function readObject(json: Buffer): ApiObject {
  const text = json.toString('utf8')
  return asObject(mayHoldBigIntegers.test(text) ? parseJson(json).value : JSON.parse(text))
}

const mayHoldBigIntegers = /[:[,]-?\d{16}/
