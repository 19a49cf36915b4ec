/**
 * Sends stored objects and lists from shared Protobuf messages. A Protobuf list starts with its length, so the objects
 * are read twice. The first pass computes the length and creates missing messages. The second pass sends the messages
 * in chunks, as fast as the client reads. Between the passes, the server references only cached objects, which are in
 * memory anyway. A list from the store's history is read twice from the store.
 */

import { envelopeOf } from '../../../api/codec/protobuf/envelope.ts'
import { writeMessage } from '../../../api/codec/protobuf/write.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { EncodedObject } from '../../../storage/cache/encoded-objects.ts'
import { delimitedSize, putHead } from '../../../wire/protobuf/protobuf-wire.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { findMessage, messageSliced } from '../../registry/reads/messages.ts'
import type { Exchange } from '../request/exchange.ts'
import type { ChunkMemory } from './chunk-memory.ts'
import type { SharedForm } from './forms.ts'
import { documentFor, endOf } from './protobuf-form.ts'
import { sendChunks, sendEncoded } from './responses.ts'

/** Sends one object. The function is synchronous if the object's message already exists. */
export function sendMessage(exchange: Exchange, resource: Resource, object: CachedObject): void | Promise<void> {
  const { shared } = exchange.form
  const send = (form: EncodedObject) => sendEncoded(exchange, 200, documentFor(shared!, shared!.one!, form))
  const cachedMessage = findMessage(resource, object)
  return cachedMessage === undefined
    ? exchange.timeSlice.run(messageSliced(resource, object)).then(send)
    : send(cachedMessage)
}

/** A list whose objects are read twice: to compute its length and to send it. */
export interface MessageList {
  /** The list object without its items. */
  readonly empty: JsonObject
  readonly slices: () => AsyncIterable<readonly CachedObject[]>
}

export async function sendMessageList(
  exchange: Exchange,
  resource: Resource,
  { empty, slices }: MessageList,
): Promise<void> {
  const shared = exchange.form.shared!
  const { type, schema } = shared.list!
  const start = writeMessage(schema, empty)
  const items = { resource, shared, slices, number: schema.fields.items!.tag }
  const length = start.length + (await itemsLength(items))
  const { before, after } = envelopeOf(type, length)
  const around = { before: Buffer.concat([before, start]), after }
  const size = before.length + length + after.length
  await sendChunks(exchange, (memory) => listChunks(items, around, memory), size)
}

interface Items extends Pick<MessageList, 'slices'> {
  readonly resource: Resource
  readonly shared: SharedForm
  /** The Protobuf field number of the list's items. */
  readonly number: number
}

/** Estimated cost of reading a cached message, charged to the time slice. */
const lookCost = 1

async function itemsLength({ resource, shared, slices }: Items): Promise<number> {
  const timeSlice = new TimeSlice()
  let length = 0
  for await (const slice of slices()) {
    for (const object of slice) {
      const form = findMessage(resource, object) ?? (await makeMessage(timeSlice, resource, object))
      length += delimitedSize(endOf(shared, form) - form.start)
    }
    if (timeSlice.charge(slice.length * lookCost)) await timeSlice.yieldIfDue()
  }
  return length
}

async function makeMessage(timeSlice: TimeSlice, resource: Resource, object: CachedObject): Promise<EncodedObject> {
  const form = await timeSlice.run(messageSliced(resource, object))
  await timeSlice.yieldIfDue()
  return form
}

/** Yields the list in chunks, one chunk per buffer. A message larger than the buffer is yielded without copying. */
async function* listChunks(
  { resource, shared, slices, number: field }: Items,
  { before, after }: { readonly before: Buffer; readonly after: Buffer },
  memory: ChunkMemory,
): AsyncGenerator<Buffer> {
  const timeSlice = new TimeSlice()
  let chunk = memory()
  let used = before.copy(chunk)
  for await (const slice of slices()) {
    for (const object of slice) {
      const form = findMessage(resource, object) ?? (await makeMessage(timeSlice, resource, object))
      const { document, start } = form
      const end = endOf(shared, form)
      const length = end - start
      const full = chunk.length - margin
      if (used + length > full) {
        yield chunk.subarray(0, used)
        chunk = memory()
        used = 0
      }
      used = putHead(chunk, used, { field, length })
      if (length <= full) {
        used += document.copy(chunk, used, start, end)
        continue
      }
      yield chunk.subarray(0, used)
      yield document.subarray(start, end)
      chunk = memory()
      used = 0
    }
  }
  yield chunk.subarray(0, used + after.copy(chunk, used))
}

/** Number of bytes to leave free for an item's header and for the end of the list. */
const margin = 16
