/**
 * Migration from client-side apply (spec: apply, rule 9).
 *
 * A client that used client-side apply stored the applied object in an annotation. When that client's default manager
 * uses server-side apply, the manager takes over those fields in the annotation that still have the same value, without
 * causing a conflict. The annotation is updated so that the client can return to client-side apply. Managers with other
 * names do not take over any fields.
 */
import { parseJson, stringifyMembers } from '../codec/json.ts'
import { isObject, type Json, type JsonObject, own, setKey } from '../json/json.ts'
import { ApiError } from '../model/api-error.ts'
import type { Vendor } from '../model/vendor.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { changedBy, compare } from './compare.ts'
import { configFieldSet } from './config-field-set.ts'
import { difference, emptySet, type FieldSet } from './field-set.ts'
import type { Writer } from './managed-fields.ts'

const defaultManagers = new Set(['orchctl', 'kubectl'])
const maxAnnotationBytes = 256 * 1024

/** Whether this manager is the default manager of a client that may have used client-side apply before. */
export function followsLastApplied({ name }: Writer): boolean {
  return defaultManagers.has(name)
}

function annotationKey(vendor: Vendor): string {
  return `kubectl.${vendor.keyDomain}/last-applied-configuration`
}

function annotationsOf(object: JsonObject): JsonObject {
  const annotations = isObject(object.metadata) ? own(object.metadata, 'annotations') : undefined
  return isObject(annotations) ? annotations : {}
}

function lastAppliedOf(object: JsonObject, vendor: Vendor): string | undefined {
  const text = own(annotationsOf(object), annotationKey(vendor))
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** Returns the fields in the annotation of the live object that still have the same value. */
export function lastAppliedSet(schema: ObjectSchema, live: JsonObject, vendor: Vendor): FieldSet {
  const text = lastAppliedOf(live, vendor)
  const config = text === undefined ? undefined : readConfig(text)
  if (config === undefined || config.apiVersion !== live.apiVersion) return emptySet
  try {
    const changes = compare(schema, config, live)
    return difference(difference(configFieldSet(schema, config), changedBy(changes)), changes.removed)
  } catch (error) {
    if (error instanceof ApiError) return emptySet // The annotation is not a configuration of this kind.
    throw error
  }
}

/**
 * Parses the annotation. Returns undefined for anything other than a JSON object, because users can edit the
 * annotation.
 */
function readConfig(text: string): JsonObject | undefined {
  try {
    const { value } = parseJson(Buffer.from(text))
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/**
 * Sets the annotation of the object to the given configuration if the object already has the annotation. Removes the
 * annotation if it would be too large.
 */
export function withLastApplied(object: JsonObject, config: JsonObject, vendor: Vendor): JsonObject {
  if (lastAppliedOf(object, vendor) === undefined) return object
  const key = annotationKey(vendor)
  const annotations: JsonObject = { ...annotationsOf(object) }
  setKey(annotations, key, configText(withoutAnnotation(config, key)))
  if (sizeOf(annotations) > maxAnnotationBytes) delete annotations[key]
  return { ...object, metadata: { ...(object.metadata as JsonObject), annotations } }
}

function withoutAnnotation(config: JsonObject, key: string): JsonObject {
  const { [key]: held, ...annotations } = annotationsOf(config)
  return held === undefined ? config : { ...config, metadata: { ...(config.metadata as JsonObject), annotations } }
}

/**
 * Formats the configuration in the same way as the client: sorted keys, a final newline, and HTML characters escaped.
 */
function configText(config: JsonObject): string {
  const json = `{${stringifyMembers(config)}}\n`
  return json.replaceAll(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function sizeOf(annotations: JsonObject): number {
  return Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(asText(value)),
    0,
  )
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
