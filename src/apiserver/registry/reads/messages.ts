/**
 * Encodes cached objects in Protobuf. Each object is encoded once from the cached JSON, and all readers share the
 * result: a get sends the whole document, a watch adds a frame to it, and a list extracts the message from it.
 */

import { envelopeOf } from '../../../api/codec/protobuf/envelope.ts'
import { writeMessage, writeSliced } from '../../../api/codec/protobuf/write.ts'
import { asJson } from '../../../api/model/object.ts'
import { runToCompletion, type Sliced } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { EncodedObject } from '../../../storage/cache/encoded-objects.ts'
import type { Resource } from '../catalogue/resource.ts'
import { readVersionSliced } from './conversion.ts'

/** Returns the cached encoding of an object. Undefined if the object has not been encoded yet. */
export function findMessage({ messages, cache }: Resource, object: CachedObject): EncodedObject | undefined {
  return messages.find(object, cache.loads)
}

/** Encodes an object and caches the encoding. Yields between the steps of a large object. */
export function* messageSliced(resource: Resource, object: CachedObject): Sliced<EncodedObject> {
  const { messages, cache } = resource
  const { key, revision } = object
  const loads = cache.loads
  const form = yield* encodeSliced(resource, object)
  messages.keep({ key, revision, loads }, form)
  return form
}

/** Returns the same encoding as `messageSliced`, but synchronously. */
export function messageOf(resource: Resource, object: CachedObject): EncodedObject {
  return findMessage(resource, object) ?? runToCompletion(messageSliced(resource, object))
}

/** Encodes the last state of a deleted object in several steps, without caching the encoding. */
export function lastMessageSliced(resource: Resource, object: CachedObject): Sliced<EncodedObject> {
  return encodeSliced(resource, object)
}

/** Encodes the last state of a deleted object, without caching the encoding. */
export function lastMessageOf(resource: Resource, object: CachedObject): EncodedObject {
  return runToCompletion(encodeSliced(resource, object))
}

/**
 * Size in bytes above which an object is encoded in several steps. Smaller objects are encoded in one step, so that
 * concurrent readers never encode them twice.
 */
const large = 64 * 1024

function* encodeSliced(resource: Resource, object: CachedObject): Sliced<EncodedObject> {
  const { json } = object
  const value = asJson(yield* readVersionSliced(resource, object))
  const { schema } = resource.kind
  const options = { size: json.length, vendor: resource.vendor }
  if (json.length <= large) return enclose(resource, writeMessage(schema, value, options))
  yield
  return enclose(resource, yield* writeSliced(schema, value, options))
}

/**
 * Returns an encoded object. Copies the message into its own buffer, because otherwise a long-lived message would keep
 * a larger shared buffer in memory.
 */
function enclose({ apiVersion, kind }: Resource, message: Buffer): EncodedObject {
  const { before, after } = envelopeOf({ apiVersion, kind: kind.kind }, message.length)
  const start = before.length
  const end = before.length + message.length
  const document = Buffer.allocUnsafeSlow(end + after.length)
  before.copy(document)
  message.copy(document, start)
  after.copy(document, end)
  return { document, start, end }
}
