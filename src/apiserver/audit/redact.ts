/**
 * Removes secrets from audit events: the values of Secrets and the tokens in reviews and token requests. Secret values
 * in objects, lists and patches are replaced. Keys are preserved, so that readers know which values were redacted.
 */
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'

/** Replacement for a redacted value. */
const hidden = 'REDACTED'

/** The fields to redact, for each resource whose bodies contain secrets. */
const secretFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['secrets', new Set(['data', 'stringData'])],
  ['tokenreviews', new Set(['token'])],
  ['serviceaccounts/token', new Set(['token'])],
])

/** Suffix of the annotation key under which kubectl stores the applied object. */
const lastApplied = 'last-applied-configuration'

/** The resource and subresource of a body, which determine its secret fields. */
export interface Place {
  readonly plural: string
  readonly subresource: string
}

/** Whether bodies of the resource must be redacted. */
export function holdsSecrets({ plural, subresource }: Place): boolean {
  return secretFields.has(keyOf({ plural, subresource }))
}

/** Returns a redacted copy. All values of a JSON patch are redacted, because its paths may refer to any field. */
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
