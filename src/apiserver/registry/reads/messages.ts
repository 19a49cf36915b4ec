/**
 * Cached objects as documents in Protobuf, in the version that they are read through. Each is made once from the JSON of
 * the cache and shared by all who ask for it: GET sends it, a watch puts it into a frame, LIST takes the message in it.
 */

import { envelopeOf } from '../../../api/codec/protobuf/envelope.ts'
import { writeMessage, writeSteps } from '../../../api/codec/protobuf/write.ts'
import { asJson } from '../../../api/model/object.ts'
import { runToCompletion, type Steps } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { EncodedObject } from '../../../storage/cache/encoded-objects.ts'
import type { Resource } from '../catalogue/resource.ts'
import { readVersionSteps } from './conversion.ts'

/** Undefined where it has to be made: that takes some time. */
export function findMessage({ messages, cache }: Resource, object: CachedObject): EncodedObject | undefined {
  return messages.find(object, cache.loads)
}

/** Makes it, and keeps it. With a yield where it can be interrupted, if it is a large one. */
export function* messageSteps(resource: Resource, object: CachedObject): Steps<EncodedObject> {
  const { messages, cache } = resource
  const { key, revision } = object
  const loads = cache.loads
  const form = yield* makeSteps(resource, object)
  messages.keep({ key, revision, loads }, form)
  return form
}

/** The same at once. */
export function messageOf(resource: Resource, object: CachedObject): EncodedObject {
  return findMessage(resource, object) ?? runToCompletion(messageSteps(resource, object))
}

/** The last state of an object that is gone: nobody will ask for it again. */
export function lastMessageOf(resource: Resource, object: CachedObject): EncodedObject {
  return runToCompletion(makeSteps(resource, object))
}

/** Of two who ask for the same at the same time both make it only if it is larger. */
const large = 64 * 1024

function* makeSteps(resource: Resource, object: CachedObject): Steps<EncodedObject> {
  const { json } = object
  const value = asJson(yield* readVersionSteps(resource, object))
  const { schema } = resource.kind
  const options = { size: json.length, vendor: resource.vendor }
  if (json.length <= large) return enclose(resource, writeMessage(schema, value, options))
  yield
  return enclose(resource, yield* writeSteps(schema, value, options))
}

/** In memory of its own: what is kept for long should not keep its neighbours. */
function enclose({ apiVersion, kind }: Resource, message: Buffer): EncodedObject {
  const { before, after } = envelopeOf({ apiVersion, kind: kind.kind }, message.length)
  const [start, end] = [before.length, before.length + message.length]
  const document = Buffer.allocUnsafeSlow(end + after.length)
  before.copy(document)
  message.copy(document, start)
  after.copy(document, end)
  return { document, start, end }
}
