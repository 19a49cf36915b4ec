/** Handles POST to a collection, which creates an object. */
import { badRequest } from '../../../api/model/api-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { create } from '../../registry/verbs/create.ts'
import { assertReadable } from '../request/content.ts'
import { readObjectBody } from '../request/object-body.ts'
import { type Handler, writeContext } from '../request/resource-request.ts'
import { sendBytes } from '../response/responses.ts'

export const handleCreate: Handler = async (request) => {
  // Check the content type first, so that it is reported before errors in the options.
  assertReadable(request.exchange, request.resource)
  const context = writeContext(request, 'CreateOptions')
  const object = await readObjectBody(request.exchange, request.resource)
  assertNamespace(object, request.info.namespace)
  await sendBytes(request.exchange, 201, await create(context, { object, managed: false }))
}

function assertNamespace({ metadata }: ApiObject, namespace: string): void {
  if (namespace !== '' && metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}
