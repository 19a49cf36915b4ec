/**
 * Keeps secrets out of the audit: the values of a Secret, and the tokens of reviews and of token requests. Whatever has
 * such a place loses its value there, be it an object, a list of objects or a patch; the keys stay, so that one sees
 * what was touched.
 */
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'

/** What stands for a value that is not told. */
const hidden = 'REDACTED'

/** Resources whose bodies hold secrets, with the fields that do. */
const secretFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['secrets', new Set(['data', 'stringData'])],
  ['tokenreviews', new Set(['token'])],
  ['serviceaccounts/token', new Set(['token'])],
])

/** Annotations that repeat an object as a text. */
const lastApplied = 'last-applied-configuration'

/** Where a body was sent to. */
export interface Place {
  readonly plural: string
  readonly subresource: string
}

/** Whether a body of this resource must not be recorded as it is. */
export function holdsSecrets({ plural, subresource }: Place): boolean {
  return secretFields.has(keyOf({ plural, subresource }))
}

/** A copy without secrets. Of a JSON patch no value is told: its paths may lead anywhere. */
export function withoutSecrets(body: Json, place: Place): Json {
  const fields = secretFields.get(keyOf(place))
  if (fields === undefined) return body
  if (Array.isArray(body)) return body.map((operation) => (isObject(operation) ? withoutValue(operation) : hidden))
  return redact(body, fields)
}

function keyOf({ plural, subresource }: Place): string {
  return subresource === '' ? plural : `${plural}/${subresource}`
}

function withoutValue(operation: JsonObject): JsonObject {
  return Object.hasOwn(operation, 'value') ? { ...operation, value: hidden } : operation
}

function redact(value: Json, fields: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return value.map((item) => redact(item, fields))
  if (!isObject(value)) return value
  const entries = Object.keys(value).map((key): [string, Json] => {
    const inner = own(value, key)!
    if (fields.has(key)) return [key, hide(inner)]
    return [key, key.endsWith(lastApplied) ? hidden : redact(inner, fields)]
  })
  return Object.fromEntries(entries)
}

function hide(value: Json): Json {
  return isObject(value) ? Object.fromEntries(Object.keys(value).map((key) => [key, hidden])) : hidden
}
