/**
 * What was last applied, kept in an annotation of the object itself: it tells the next apply what the file no longer
 * says. The text is the one that kubectl writes, so that both can be used on the same objects.
 */
import { parseJson } from '../../../client/json.ts'
import { isObject, type Json } from '../../../model/json.ts'
import { type ApiObject, asJson } from '../../../model/object.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { sortedJson } from '../../sorted-json.ts'

export function lastAppliedKey(vendor: Vendor): string {
  return vendorKey(vendor, 'last-applied-configuration', 'kubectl')
}

/** The object with the record of itself. */
export function withRecord(object: ApiObject, vendor: Vendor): ApiObject {
  const key = lastAppliedKey(vendor)
  const { [key]: _, ...annotations } = object.metadata.annotations ?? {}
  const plain = { ...object, metadata: { ...object.metadata, annotations } }
  const text = `${escapeHtml(sortedJson(asJson(plain)))}\n`
  return { ...plain, metadata: { ...plain.metadata, annotations: { ...annotations, [key]: text } } }
}

function escapeHtml(json: string): string {
  return json.replaceAll(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What was applied before; undefined where nothing was, or where the record is not one. */
export function recordOf(live: ApiObject, vendor: Vendor): Json | undefined {
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
