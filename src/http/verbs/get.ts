/** GET of one object. */
import { get } from '../../registry/get.ts'
import { text } from '../query.ts'
import type { Handler } from '../resource-request.ts'
import { sendBytes } from '../responses.ts'

export const handleGet: Handler = async ({ exchange, info, resource }) => {
  const object = await get(resource, info.namespace, info.name, text(info.query, 'resourceVersion'))
  await sendBytes(exchange, 200, object.json)
}
