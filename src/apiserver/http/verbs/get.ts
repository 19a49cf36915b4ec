/** Handles GET of one object. */
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { assertReadable, isRemote, jsonOf, prepareJson } from '../../registry/reads/conversion.ts'
import { get } from '../../registry/verbs/get.ts'
import type { Exchange } from '../request/exchange.ts'
import { text } from '../request/query.ts'
import type { Handler } from '../request/resource-request.ts'
import { sendBytes } from '../response/responses.ts'
import { sendMessage } from '../response/shared-messages.ts'

/** The warning for an object that is returned without its schema defaults. */
export const lackingDefaults =
  'its schema defaults would make the object too large: it is shown as stored, without defaults'

export const handleGet: Handler = ({ exchange, info, resource }) => {
  const { namespace, name, subresource, query } = info
  const readObject = get(resource, { namespace, name, subresource, resourceVersion: text(query, 'resourceVersion') })
  return readObject instanceof Promise
    ? readObject.then((object) => send(exchange, resource, object))
    : send(exchange, resource, readObject)
}

function send(exchange: Exchange, resource: Resource, object: CachedObject): void | Promise<void> {
  // The client requested only metadata, which conversion never changes, so skip the webhook.
  if (exchange.form.view?.metadataOnly && isRemote(resource)) return sendBytes(exchange, 200, object.json)
  const preparing = prepareJson(resource, object, exchange.timeSlice)
  return preparing === undefined
    ? sendPrepared(exchange, resource, object)
    : preparing.then(() => sendPrepared(exchange, resource, object))
}

function sendPrepared(exchange: Exchange, resource: Resource, object: CachedObject): void | Promise<void> {
  assertReadable(resource, object)
  if (exchange.form.shared?.one !== undefined) return sendMessage(exchange, resource, object)
  const json = jsonOf(resource, object)
  if (resource.kind.evolution?.lacksDefaults(object.json)) exchange.warn(lackingDefaults)
  return sendBytes(exchange, 200, json)
}
