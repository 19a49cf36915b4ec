/**
 * Protobuf encodings of cached objects in this version. Each object is encoded once from the cached JSON, and all
 * readers share the result: GET sends the document, watches add a frame to it, and LIST extracts the message.
 */

import { envelopeOf } from '../../../api/codec/protobuf/envelope.ts'
import { writeMessage, writeSliced } from '../../../api/codec/protobuf/write.ts'
import { asJson } from '../../../api/model/object.ts'
import { runToCompletion, type Sliced } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { EncodedObject } from '../../../storage/cache/encoded-objects.ts'
import type { Resource } from '../catalogue/resource.ts'
import { readVersionSliced } from './conversion.ts'

/** Returns the cached encoding. Undefined if the object must be encoded first. */
export function findMessage({ messages, cache }: Resource, object: CachedObject): EncodedObject | undefined {
  return messages.find(object, cache.loads)
}

/** Encodes an object and caches the result. Yields between steps for large objects. */
export function* messageSliced(resource: Resource, object: CachedObject): Sliced<EncodedObject> {
  const { messages, cache } = resource
  const { key, revision } = object
  const loads = cache.loads
  const form = yield* encodeSliced(resource, object)
  messages.keep({ key, revision, loads }, form)
  return form
}

/** Like `messageSliced`, but synchronous. */
export function messageOf(resource: Resource, object: CachedObject): EncodedObject {
  return findMessage(resource, object) ?? runToCompletion(messageSliced(resource, object))
}

/** Encodes the last state of a deleted object without caching it. */
export function lastMessageOf(resource: Resource, object: CachedObject): EncodedObject {
  return runToCompletion(encodeSliced(resource, object))
}

/** Maximum size in bytes of an object that is encoded in one step, so that concurrent readers never encode it twice. */
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
 * Returns an encoded object. Copies the message into a separate buffer, so that a long-lived message does not keep a
 * shared memory block in memory.
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
