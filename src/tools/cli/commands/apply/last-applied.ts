/**
 * What was last applied, kept in an annotation of the object itself: it tells the next apply what the file no longer
 * says. The text is the one that kubectl writes, so that both can be used on the same objects.
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

/** The object with the record of itself. */
export function withRecord(object: ApiObject, vendor: Vendor): ApiObject {
  const plain = withoutRecord(object, vendor)
  const text = `${escapeHtml(sortedJson(asJson(plain)))}\n`
  const annotations = { ...plain.metadata.annotations, [lastAppliedKey(vendor)]: text }
  return { ...plain, metadata: { ...plain.metadata, annotations } }
}

/** Without a record, which a file has that was read from a server. It has annotations, if none: so records have it. */
export function withoutRecord(object: ApiObject, vendor: Vendor): ApiObject {
  const { [lastAppliedKey(vendor)]: _, ...annotations } = object.metadata.annotations ?? {}
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function escapeHtml(json: string): string {
  return json.replaceAll(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What was applied before; undefined where nothing was, or where the record is not one. */
export function recordOf(live: ApiObject, vendor: Vendor): JsonObject | undefined {
  const text = live.metadata.annotations?.[lastAppliedKey(vendor)]
  if (text === undefined || text === '') return undefined
  try {
    const value = parseJson(text) as Json
    return isObject(value) ? value : undefined
  } catch (error) {
    // Somebody wrote something else there: then nothing is known of what was applied.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The patch that gives an object on the server the record of this one, and changes nothing else. */
export function recordPatch({ metadata }: ApiObject, vendor: Vendor): Patch {
  const key = lastAppliedKey(vendor)
  return { merge: { metadata: { annotations: { [key]: metadata.annotations?.[key] ?? '' } } } }
}

/** What is said of an object that has no record. */
export function noRecord({ type, name }: Pick<Subject, 'type' | 'name'>): string {
  return `no last-applied-configuration annotation found on ${singularName(type)}/${name.name}`
}
