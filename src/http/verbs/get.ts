/** GET of one object. */
import { jsonOf } from '../../registry/conversion.ts'
import { get } from '../../registry/get.ts'
import { text } from '../query.ts'
import type { Handler } from '../resource-request.ts'
import { sendBytes } from '../responses.ts'

export const handleGet: Handler = ({ exchange, info, resource }) => {
  const { namespace, name, query } = info
  const found = get(resource, { namespace, name, resourceVersion: text(query, 'resourceVersion') })
  if (found instanceof Promise) return found.then((object) => sendBytes(exchange, 200, jsonOf(resource, object.json)))
  return sendBytes(exchange, 200, jsonOf(resource, found.json))
}
