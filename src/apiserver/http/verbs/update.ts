/** Handles PUT of an object or of a subresource view. */
import { badRequest } from '../../../api/model/api-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { update } from '../../registry/verbs/update.ts'
import { readObjectBody } from '../request/object-body.ts'
import { type Handler, writeContext } from '../request/resource-request.ts'
import { sendBytes } from '../response/responses.ts'

export const handleUpdate: Handler = async (request) => {
  const { exchange, info, resource } = request
  const context = writeContext(request, 'UpdateOptions')
  const object = await readObjectBody(exchange, resource)
  assertSameObject(object, info.namespace, info.name)
  const updated = await update(context, info.name, object)
  await sendBytes(exchange, updated.created ? 201 : 200, updated.json)
}

/** Throws 400 unless the object has the name and namespace in the path. */
export function assertSameObject({ metadata }: ApiObject, namespace: string, name: string): void {
  if (!metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
  if (namespace !== '' && metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw badRequest(
      `the namespace of the object (${metadata.namespace}) does not match the namespace on the request (${namespace})`,
    )
  }
}

/**
 * Removes a resourceVersion that equals the stored one. A patch that leaves the resourceVersion unchanged applies to
 * any version of the object.
 */
export function withOwnVersion(next: ApiObject, previous: ApiObject): ApiObject {
  const { resourceVersion, ...metadata } = next.metadata
  return resourceVersion === previous.metadata.resourceVersion ? { ...next, metadata } : next
}
