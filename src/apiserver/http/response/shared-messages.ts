/**
 * Sends stored objects and lists of them in forms that are written from shared messages (Protobuf). Such a list begins
 * with its own length, so it is gone through twice: first to learn how long each message is, which makes those that are
 * not there yet, and then to send them, in chunks and no faster than its reader takes them. Between the two only the
 * objects of the cache are held, which are there anyway; a list from the store's history is read twice instead.
 */

import { envelopeOf } from '../../../api/codec/protobuf/envelope.ts'
import { writeMessage } from '../../../api/codec/protobuf/write.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { EncodedObject } from '../../../storage/cache/encoded-objects.ts'
import { delimitedSize, putHead } from '../../../wire/protobuf/protobuf-wire.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { findMessage, messageSteps } from '../../registry/reads/messages.ts'
import type { Exchange } from '../request/exchange.ts'
import type { SharedForm } from './forms.ts'
import { documentFor, endOf } from './protobuf-form.ts'
import { type ChunkMemory, sendChunks, sendEncoded } from './responses.ts'

/** One object: at once, where its message is there already. */
export function sendMessage(exchange: Exchange, resource: Resource, object: CachedObject): void | Promise<void> {
  const { shared } = exchange.form
  const send = (form: EncodedObject) => sendEncoded(exchange, 200, documentFor(shared!, shared!.one!, form))
  const found = findMessage(resource, object)
  return found === undefined ? exchange.pace.run(messageSteps(resource, object)).then(send) : send(found)
}

/** A list, and its objects, which can be gone through more than once. */
export interface MessageList {
  /** The list without its items. */
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
  /** The number of the field that they are. */
  readonly number: number
}

/** What it costs to look at a message that is there, in the units of a Pace. */
const lookCost = 1

async function itemsLength({ resource, shared, slices }: Items): Promise<number> {
  const pace = new TimeSlice()
  let length = 0
  for await (const slice of slices()) {
    for (const object of slice) {
      const form = findMessage(resource, object) ?? (await makeMessage(pace, resource, object))
      length += delimitedSize(endOf(shared, form) - form.start)
    }
    if (pace.charge(slice.length * lookCost)) await pace.yieldIfDue()
  }
  return length
}

async function makeMessage(pace: TimeSlice, resource: Resource, object: CachedObject): Promise<EncodedObject> {
  const form = await pace.run(messageSteps(resource, object))
  await pace.yieldIfDue()
  return form
}

/** A chunk for each memory that is given. A message larger than that goes as it is. */
async function* listChunks(
  { resource, shared, slices, number: field }: Items,
  { before, after }: { readonly before: Buffer; readonly after: Buffer },
  memory: ChunkMemory,
): AsyncGenerator<Buffer> {
  const pace = new TimeSlice()
  let chunk = memory()
  let used = before.copy(chunk)
  for await (const slice of slices()) {
    for (const object of slice) {
      const form = findMessage(resource, object) ?? (await makeMessage(pace, resource, object))
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

/** The head of an item and the end of the list take no more together. */
const margin = 16
