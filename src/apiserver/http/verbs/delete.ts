/** Handles DELETE of one object. */
import { success } from '../../../api/model/api-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { deleteObject } from '../../registry/verbs/delete.ts'
import { readDeleteOptions } from '../request/delete-options.ts'
import { type Handler, writeContext } from '../request/resource-request.ts'
import { sendObject, sendStatus } from '../response/responses.ts'

export const handleDelete: Handler = async (request) => {
  const { exchange, info, resource } = request
  const options = await readDeleteOptions(request)
  const { dryRun, sent } = options
  const context = { ...writeContext(request, 'DeleteOptions'), dryRun, sentOptions: () => sent }
  const { orphanWarning } = resource.kind.lifecycle
  if (orphanWarning !== undefined && options.propagation === undefined) exchange.warn(orphanWarning)
  const { object, removed, unshown } = await deleteObject(context, info.name, options)
  if (unshown !== undefined) exchange.warn(`the object is being deleted, but it cannot be shown: ${unshown}`)
  const code = !removed && options.waits ? 202 : 200
  if (unshown !== undefined || (removed && resource.kind.lifecycle.deleteAnswers !== 'object'))
    await sendStatus(exchange, code, deletedStatus(resource, object))
  else await sendObject(exchange, code, { object, kind: resource.kind })
}

function deletedStatus({ group, plural }: Resource, { metadata }: ApiObject) {
  return success({ name: metadata.name!, ...(group === '' ? {} : { group }), kind: plural, uid: metadata.uid! })
}
