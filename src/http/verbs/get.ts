/** GET of one object. */
import type { CachedObject } from '../../cache/cached-object.ts'
import { assertReadable, isRemote, jsonOf, prepareJson } from '../../registry/conversion.ts'
import { get } from '../../registry/get.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Exchange } from '../exchange.ts'
import { text } from '../query.ts'
import type { Handler } from '../resource-request.ts'
import { sendBytes } from '../responses.ts'
import { sendMessage } from '../shared-messages.ts'

/** For the reader of an object that is shown without some of its defaults. */
export const lackingDefaults = 'the defaults of its schema would make an object too large: it is shown as it is stored'

export const handleGet: Handler = ({ exchange, info, resource }) => {
  const { namespace, name, subresource, query } = info
  const found = get(resource, { namespace, name, subresource, resourceVersion: text(query, 'resourceVersion') })
  return found instanceof Promise
    ? found.then((object) => send(exchange, resource, object))
    : send(exchange, resource, found)
}

function send(exchange: Exchange, resource: Resource, object: CachedObject): void | Promise<void> {
  // Nobody is asked to convert what is not shown.
  if (exchange.form.view?.metadataOnly && isRemote(resource)) return sendBytes(exchange, 200, object.json)
  const preparing = prepareJson(resource, object, exchange.pace)
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
