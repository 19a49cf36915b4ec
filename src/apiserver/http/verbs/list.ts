/**
 * Handles GET of a collection. A JSON list is assembled from the cached bytes of its objects. Other formats convert one
 * object at a time. In both cases, the list is produced while it is sent, as fast as the client reads.
 */

import type { Cut } from '../../../api/codec/cut-json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { hasDefaults } from '../../../api/schema/defaults.ts'
import { orderOf } from '../../../api/schema/kind.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { joinedObjects, type WriteItem } from '../../../storage/cache/joined-objects.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import {
  isAsStored,
  isRemote,
  jsonOf,
  prepareJson,
  prepareObjects,
  readMetadata,
  readMetadataSliced,
  readVersion,
  readVersionSliced,
} from '../../registry/reads/conversion.ts'
import { type ListPage, type ListQuery, list, slicesOf, slicesTwice } from '../../registry/verbs/list.ts'
import type { Exchange } from '../request/exchange.ts'
import { readListExtensions } from '../request/list-extensions.ts'
import { readListQuery } from '../request/list-options.ts'
import type { Handler, ResourceRequest } from '../request/resource-request.ts'
import type { ChunkMemory } from '../response/chunk-memory.ts'
import { listDocument } from '../response/forms.ts'
import { sendBytes, sendChunks } from '../response/responses.ts'
import { sendMessageList } from '../response/shared-messages.ts'
import { lackingDefaults } from './get.ts'
import { sendFields } from './list-fields.ts'
import {
  comma,
  emptyList,
  listText,
  openBrace,
  type Parts,
  partsOf,
  sizeOf,
  typeLength,
  typePrefixes,
} from './list-parts.ts'

export const handleList: Handler = async (request) => {
  const { info, resource } = request
  const extensions = request.extensions ? readListExtensions(info.query, resource.kind.schema) : undefined
  const query = readListQuery(request, extensions)
  const page = await list(request.resource, query)
  try {
    await sendPage(request, query, { page: await lookAhead(request, page), cut: extensions?.cut })
  } finally {
    page.close?.()
  }
}

interface Answer {
  readonly page: ListPage
  /** The object fields to send, or undefined to send all fields. */
  readonly cut: Cut | undefined
}

async function sendPage(request: ResourceRequest, query: ListQuery, { page, cut }: Answer): Promise<void> {
  const { exchange, resource } = request
  const { form } = exchange
  warnOfUnreadable(exchange, resource, query.selection.namespace)
  await warnOfDefaults(exchange, resource, page)
  if (cut !== undefined) await sendFields(exchange, resource, { page, cut })
  else if (form.encode === undefined) await sendJson(exchange, resource, page)
  else if (form.shared?.list !== undefined) await sendShared(request, query, page)
  else await sendForm(exchange, resource, page)
}

/**
 * Maximum total size in bytes of the objects that are prepared before sending. If more were prepared, the first of them
 * would be evicted from the cache before they are sent.
 */
const maxLookedAt = 32 * 1024 * 1024

/**
 * Converts objects before the response starts if a webhook converts them or if their defaults may make them too large.
 * Until then, a failure can still become an error response, and warnings can still be added. Batching reduces the
 * number of webhook calls. Objects beyond the limit are prepared while the list is sent.
 */
async function lookAhead({ exchange, resource }: ResourceRequest, page: ListPage): Promise<ListPage> {
  const { kind } = resource
  const converts = isRemote(resource) && !exchange.form.view?.metadataOnly
  if (!converts && (kind.evolution === undefined || !hasDefaults(kind.schema))) return page
  const slices = slicesOf(page)
  const objects: CachedObject[] = []
  let bytes = 0
  for (let next = await slices.next(); !next.done; next = await slices.next()) {
    for (const object of next.value) objects.push(object)
    bytes += next.value.reduce((sum, { json }) => sum + json.length, 0)
    if (converts) await prepareObjects(resource, next.value)
    if (bytes > maxLookedAt) return { ...page, objects, rest: slices }
  }
  const { rest: _, ...whole } = page
  return { ...whole, objects }
}

/** Sends a list in Protobuf, where the total length comes first. */
async function sendShared({ exchange, resource }: ResourceRequest, query: ListQuery, page: ListPage): Promise<void> {
  const empty = emptyList(resource, page)
  await sendMessageList(exchange, resource, { empty, slices: slicesTwice(resource, query, page) })
}

const toldKeys = 5

/** Warns about unreadable objects, so that an incomplete list is not mistaken for a complete list. */
function warnOfUnreadable(exchange: Exchange, { cache }: Resource, namespace: string | undefined): void {
  const unreadableObjects = cache.allUnreadable(namespace)
  for (const { key, why } of unreadableObjects.slice(0, toldKeys)) exchange.warn(`${key} is omitted: ${why}`)
  if (unreadableObjects.length > toldKeys)
    exchange.warn(`${unreadableObjects.length - toldKeys} more unreadable objects are omitted`)
}

/**
 * Warns if objects are listed without their schema defaults. Warnings are headers, so they must be sent before the
 * objects. For objects that are not prepared in advance, the warning depends on whether an earlier object of the type
 * lacked defaults.
 */
async function warnOfDefaults(exchange: Exchange, resource: Resource, { objects, rest }: ListPage): Promise<void> {
  const { evolution, schema } = resource.kind
  if (evolution === undefined || !hasDefaults(schema)) return
  const timeSlice = new TimeSlice()
  let lacks = rest !== undefined && evolution.lacksDefaults()
  for (const object of objects) {
    if (lacks) break
    await prepareJson(resource, object, timeSlice)
    jsonOf(resource, object)
    lacks = evolution.lacksDefaults(object.json)
    await timeSlice.yieldIfDue()
  }
  if (lacks) exchange.warn(lackingDefaults)
}

async function sendJson(exchange: Exchange, resource: Resource, page: ListPage): Promise<void> {
  const parts = partsOf(resource, page)
  const size = sizeOf(parts)
  if (size <= shortList && isAsStored(resource) && !resource.kind.views.typedItems)
    return await sendBytes(exchange, 200, shortJson(resource, parts, size))
  await sendChunks(exchange, (memory) => listJson(resource, parts, memory), size)
}

/** Maximum size in bytes of a list that is sent from a single buffer. Most lists with a selector are smaller. */
const shortList = 64 * 1024

function shortJson(resource: Resource, { start, page, end }: Parts, size: number): Buffer {
  const types = typePrefixes(resource)
  const bytes = Buffer.allocUnsafeSlow(size)
  let used = start.copy(bytes)
  const first = used
  for (const object of page.objects) {
    const { json } = object
    const cut = typeLength(object, json, types)
    if (used > first) bytes[used++] = comma
    bytes[used++] = openBrace
    used += json.copy(bytes, used, cut, json.length - 1)
  }
  return bytes.subarray(0, used + end.copy(bytes, used))
}

/** Yields the list as JSON, one chunk per buffer. An object larger than the buffer is yielded without copying. */
async function* listJson(resource: Resource, { start, page, end }: Parts, memory: ChunkMemory): AsyncGenerator<Buffer> {
  const types = resource.kind.views.typedItems ? undefined : typePrefixes(resource)
  const timeSlice = isAsStored(resource) ? undefined : new TimeSlice()
  const writeItem = timeSlice === undefined && types !== undefined ? itemWriter(types) : undefined
  let chunk = memory()
  let used = start.copy(chunk)
  let isFirst = true
  for await (const slice of slicesOf(page)) {
    for (let i = 0; i < slice.length; ) {
      const object = slice[i]!
      const group = writeItem && joinedObjects.at(slice, i, writeItem)
      i += group?.objects.length ?? 1
      const preparing = timeSlice && prepareJson(resource, object, timeSlice)
      if (preparing !== undefined) await preparing
      const json = group?.bytes ?? jsonOf(resource, object)
      // The bytes of a group begin after the opening brace of its first item.
      const cut = group !== undefined || types === undefined ? 1 : typeLength(object, json, types)
      const length = group === undefined ? json.length - 1 : json.length
      if (!isFirst) chunk[used++] = comma
      chunk[used++] = openBrace
      isFirst = false
      // Leave room for a comma, a brace and the end of the list.
      const full = chunk.length - end.length - 2
      const fitting = json.length > full ? 0 : Math.max(0, Math.min(length - cut, full - used))
      used += json.copy(chunk, used, cut, cut + fitting)
      if (cut + fitting < length) {
        yield chunk.subarray(0, used)
        chunk = memory()
        used = 0
        if (json.length > full) yield json.subarray(cut, length)
        else used = json.copy(chunk, 0, cut + fitting, length)
      }
      // Yield, because upgrading an object to its current definition can be slow.
      const pause = timeSlice?.yieldIfDue()
      if (pause !== undefined) await pause
    }
  }
  yield chunk.subarray(0, used + end.copy(chunk, used))
}

/** Writes a list item with its braces. */
function itemWriter(types: readonly Buffer[]): WriteItem<CachedObject> {
  return (object, into, at) => {
    const { json } = object
    into[at] = openBrace
    return at + 1 + json.copy(into, at + 1, typeLength(object, json, types), json.length - 1)
  }
}

async function sendForm(exchange: Exchange, resource: Resource, page: ListPage): Promise<void> {
  const { form } = exchange
  const list = emptyList(resource, page)
  if (page.objects.length === 0) return await sendBytes(exchange, 200, Buffer.from(listDocument(list)))
  const { shown, member } = form.view?.list(list) ?? { shown: list, member: 'items' }
  const text = await form.openList(shown, member, exchange.documentWorker)
  const show = form.view?.item ?? (resource.kind.views.typedItems ? asJson : withoutType)
  const order = form.view === undefined ? orderOf(resource.kind) : form.view.order
  const metadataOnly = form.view?.metadataOnly === true
  const read = metadataOnly ? readMetadata : readVersion
  const readSliced = metadataOnly ? readMetadataSliced : readVersionSliced
  const item = (object: CachedObject) => text.item(show(read(resource, object)), order)
  const itemSliced = function* (object: CachedObject) {
    return yield* text.itemSliced(show(yield* readSliced(resource, object)), order)
  }
  const prepare = (object: CachedObject) => (metadataOnly ? undefined : prepareObjects(resource, [object]))
  await sendChunks(
    exchange,
    () => listText(page, { ...text, item, itemSliced, prepare }),
    sizeOf(partsOf(resource, page)),
  )
}

/** Returns an object without apiVersion and kind, which list items do not have. */
function withoutType(object: ApiObject): JsonObject {
  const { apiVersion: _, kind: __, ...rest } = asJson(object)
  return rest
}
