/**
 * Assembles list responses: the text around the items, and the bytes of each item without its apiVersion and kind.
 * Formats other than JSON are written object by object.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import { formatVersion } from '../../../api/model/resource-version.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { largeJson } from '../../registry/reads/conversion.ts'
import { type ListPage, slicesOf } from '../../registry/verbs/list.ts'
import { type ListText, listDocument } from '../response/forms.ts'
import { compressFrom } from '../response/responses.ts'

/**
 * Estimates the size of the list in bytes, to decide whether to compress it. Stops counting at `compressFrom`. Commas
 * are not counted: they take less space than the type fields, which are counted although list items lack them.
 */
export function sizeOf({ start, page: { objects, rest }, end }: Parts): number {
  if (rest !== undefined) return Number.POSITIVE_INFINITY
  let size = start.length + 1 + end.length
  for (const { json } of objects) {
    size += json.length
    if (size >= compressFrom) break
  }
  return size
}

/** A page of objects, with the JSON of the list before and after its items. */
export interface Parts {
  /** The text of the list before its items. */
  readonly start: Buffer
  readonly page: ListPage
  /** The text of the list after its items. */
  readonly end: Buffer
}

/** Splits the JSON of the list at its items. */
export function partsOf(resource: Resource, page: ListPage): Parts {
  const [start, end] = listDocument(emptyList(resource, page)).split('"items":[]')
  return { start: Buffer.from(`${start}"items":[`), page, end: Buffer.from(`]${end}`) }
}

export const openBrace = 0x7b
export const comma = 0x2c

/**
 * Returns the possible prefixes of a stored object's JSON: `kind` and `apiVersion` in the current order, or in the
 * order that older servers used. Both prefixes have the same length.
 */
export function typePrefixes({ apiVersion, kind }: Resource): readonly Buffer[] {
  const type = `"kind":${JSON.stringify(kind.kind)},`
  const version = `"apiVersion":${JSON.stringify(apiVersion)},`
  return [Buffer.from(`{${type}${version}`), Buffer.from(`{${version}${type}`)]
}

/**
 * Returns the length of the type fields at the start of an object. List items do not have these fields. The length is
 * cached for stored bytes, because comparing the bytes takes longer than copying an object.
 */
export function typeLength(object: CachedObject, json: Buffer, types: readonly Buffer[]): number {
  if (json !== object.json) return lengthOfType(object, json, types)
  if (object.typeLength === 0) object.typeLength = lengthOfType(object, json, types)
  return object.typeLength
}

function lengthOfType({ key }: CachedObject, json: Buffer, types: readonly Buffer[]): number {
  for (const type of types) if (json.compare(type, 0, type.length, 0, type.length) === 0) return type.length
  throw new TypeError(`the object stored under the key ${key} has a different kind`)
}

/** Returns the list without items, with its members in the required order. */
export function emptyList({ apiVersion, kind }: Resource, page: ListPage): JsonObject {
  const resourceVersion = formatVersion(page.revision)
  const remaining = page.remaining === undefined ? {} : { remainingItemCount: page.remaining }
  const listKind = kind.listKind ?? `${kind.kind}List`
  // The members of a list of custom objects are in byte order, as are the members of the objects themselves.
  if (kind.views.typedItems) {
    const metadata = { continue: page.continueToken, ...remaining, resourceVersion }
    return { apiVersion, items: [], kind: listKind, metadata }
  }
  const next = page.continueToken === '' ? {} : { continue: page.continueToken }
  return { kind: listKind, apiVersion, metadata: { resourceVersion, ...next, ...remaining }, items: [] }
}

const chunkLength = 64 * 1024

export interface ObjectText extends Omit<ListText, 'item' | 'itemSliced'> {
  /** Prepares an object for encoding. A returned promise must be awaited before `item` is called. */
  readonly prepare: (object: CachedObject) => Promise<void> | undefined
  readonly item: (object: CachedObject) => string
  /** Returns the same text as `item`, but yields periodically. Used for large objects. */
  readonly itemSliced: (object: CachedObject) => Sliced<string>
}

/** Yields the text of a list in chunks. */
export async function* listText(
  page: ListPage,
  { before, between, after, prepare, item, itemSliced }: ObjectText,
): AsyncGenerator<Buffer> {
  const timeSlice = new TimeSlice()
  let text = before
  let separator = ''
  for await (const slice of slicesOf(page)) {
    for (const object of slice) {
      const preparing = prepare(object)
      if (preparing !== undefined) await preparing
      const isLarge = object.json.length > largeJson
      text += separator + (isLarge ? await timeSlice.run(itemSliced(object)) : item(object))
      separator = between
      const pause = timeSlice.yieldIfDue()
      if (pause !== undefined) await pause
      if (text.length < chunkLength) continue
      yield Buffer.from(text)
      text = ''
    }
  }
  yield Buffer.from(text + after)
}
