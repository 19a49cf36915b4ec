/**
 * The last applied configuration, which is stored in an annotation of the object. The next apply uses it to find fields
 * that the file no longer contains. The format is the same as in kubectl, so that both tools can be used on the same
 * objects.
 */

import { isObject, type Json, type JsonObject } from '../../../../api/json/json.ts'
import { parseJson } from '../../../../api/json/portable-json.ts'
import { sortedJson } from '../../../../api/json/sorted-json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import type { Patch } from '../../../../client/requests/client.ts'
import type { Subject } from '../../arguments/subjects.ts'
import { singularName } from '../../connection/find-type.ts'

export function lastAppliedKey(vendor: Vendor): string {
  return vendorKey(vendor, 'last-applied-configuration', 'kubectl')
}

/** Returns the object with its own configuration recorded in the annotation. */
export function withRecord(object: ApiObject, vendor: Vendor): ApiObject {
  const plain = withoutRecord(object, vendor)
  const text = `${escapeHtml(sortedJson(asJson(plain)))}\n`
  const annotations = { ...plain.metadata.annotations, [lastAppliedKey(vendor)]: text }
  return { ...plain, metadata: { ...plain.metadata, annotations } }
}

/**
 * Returns the object without the annotation, which a file may contain if it was read from a server. Keeps an
 * `annotations` map even if it is empty, because recorded configurations always contain such a map.
 */
export function withoutRecord(object: ApiObject, vendor: Vendor): ApiObject {
  const { [lastAppliedKey(vendor)]: _, ...annotations } = object.metadata.annotations ?? {}
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function escapeHtml(json: string): string {
  return json.replaceAll(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns the last applied configuration, or undefined if the annotation is missing or invalid. */
export function recordOf(live: ApiObject, vendor: Vendor): JsonObject | undefined {
  const text = live.metadata.annotations?.[lastAppliedKey(vendor)]
  if (text === undefined || text === '') return undefined
  try {
    const value = parseJson(text) as Json
    return isObject(value) ? value : undefined
  } catch (error) {
    // The annotation has other content, so the last applied configuration is unknown.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns a patch that sets the last-applied annotation of the live object and nothing else. */
export function recordPatch({ metadata }: ApiObject, vendor: Vendor): Patch {
  const key = lastAppliedKey(vendor)
  return { merge: { metadata: { annotations: { [key]: metadata.annotations?.[key] ?? '' } } } }
}

/** Returns the error message for an object without a last-applied annotation. */
export function noRecord({ type, name }: Pick<Subject, 'type' | 'name'>): string {
  return `no last-applied-configuration annotation found on ${singularName(type)}/${name.name}`
}
