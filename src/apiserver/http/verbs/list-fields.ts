/**
 * Sends a list that contains only some fields of each object (`fields=`). While the list is being sent, the fields are
 * copied from the stored bytes of one object after another.
 */
import { type Cut, Cutter } from '../../../api/codec/cut-json.ts'
import { parseOwnJson, parseOwnSliced } from '../../../api/codec/json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { orderOf } from '../../../api/schema/kind.ts'
import { runToCompletion, type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { jsonOf, largeJson, prepareJson, prepareObjects } from '../../registry/reads/conversion.ts'
import { type ListPage, slicesOf } from '../../registry/verbs/list.ts'
import type { Exchange } from '../request/exchange.ts'
import type { ChunkMemory } from '../response/chunk-memory.ts'
import { listDocument } from '../response/forms.ts'
import { sendBytes, sendChunks } from '../response/responses.ts'
import { comma, emptyList, listText, type Parts, partsOf, sizeOf, typeLength, typePrefixes } from './list-parts.ts'

interface FieldsPage {
  readonly page: ListPage
  readonly cut: Cut
}

/** Sends the selected fields of the objects on a page. */
export async function sendFields(exchange: Exchange, resource: Resource, { page, cut }: FieldsPage): Promise<void> {
  const parts = partsOf(resource, page)
  const fields = fieldReader(resource, cut)
  if (exchange.form.encode === undefined)
    return await sendChunks(exchange, (memory) => cutJson(resource, { ...parts, fields }, memory), sizeOf(parts))
  const empty = emptyList(resource, page)
  if (page.objects.length === 0) return await sendBytes(exchange, 200, Buffer.from(listDocument(empty)))
  const text = await exchange.form.openList(empty, 'items', exchange.documentWorker)
  const order = orderOf(resource.kind)
  const item = (object: CachedObject) => text.item(parseOwnJson(runToCompletion(fields(object))) as JsonObject, order)
  const itemSliced = function* (object: CachedObject) {
    const selected = (yield* parseOwnSliced(yield* fields(object))) as JsonObject
    return yield* text.itemSliced(selected, order)
  }
  const prepare = (object: CachedObject) => prepareObjects(resource, [object])
  await sendChunks(exchange, () => listText(page, { ...text, item, itemSliced, prepare }), sizeOf(parts))
}

/** Reads the selected fields of an object as JSON, and yields periodically. The buffer is valid until the next call. */
type FieldReader = (object: CachedObject) => Sliced<Buffer>

/**
 * Returns a function that extracts the selected fields from objects. As in other lists, apiVersion and kind are
 * included only for custom kinds.
 */
function fieldReader(resource: Resource, cut: Cut): FieldReader {
  const cutter = new Cutter(cut)
  const types = resource.kind.views.typedItems ? undefined : typePrefixes(resource)
  return (object) => {
    const json = jsonOf(resource, object)
    return cutter.cutSliced(json, types === undefined ? 1 : typeLength(object, json, types))
  }
}

interface CutParts extends Parts {
  readonly fields: FieldReader
}

/** Yields the list as JSON, one chunk per buffer. */
async function* cutJson(
  resource: Resource,
  { start, page, end, fields: fieldsOf }: CutParts,
  memory: ChunkMemory,
): AsyncGenerator<Buffer> {
  const timeSlice = new TimeSlice()
  let chunk = memory()
  let used = start.copy(chunk)
  let isFirst = true
  for await (const slice of slicesOf(page)) {
    for (const object of slice) {
      const preparing = prepareJson(resource, object, timeSlice)
      if (preparing !== undefined) await preparing
      const cutting = fieldsOf(object)
      const fields = object.json.length > largeJson ? await timeSlice.run(cutting) : runToCompletion(cutting)
      // Leave room for a comma and for the end of the list.
      const full = chunk.length - end.length - 1
      if (used + fields.length > full) {
        yield chunk.subarray(0, used)
        chunk = memory()
        used = 0
      }
      if (!isFirst) chunk[used++] = comma
      isFirst = false
      if (fields.length > full) {
        yield Buffer.concat([chunk.subarray(0, used), fields])
        used = 0
      } else used += fields.copy(chunk, used)
      const pause = timeSlice.yieldIfDue()
      if (pause !== undefined) await pause
    }
  }
  yield chunk.subarray(0, used + end.copy(chunk, used))
}
