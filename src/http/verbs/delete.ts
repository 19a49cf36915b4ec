/** DELETE of one object. */
import { success } from '../../model/api-error.ts'
import type { ApiObject } from '../../model/object.ts'
import { deleteObject } from '../../registry/delete.ts'
import type { Resource } from '../../registry/resource.ts'
import { readDeleteOptions } from '../delete-options.ts'
import { type Handler, writeContext } from '../resource-request.ts'
import { sendObject, sendStatus } from '../responses.ts'

export const handleDelete: Handler = async (request) => {
  const { exchange, info, resource } = request
  const options = await readDeleteOptions(request)
  const { dryRun, sent } = options
  const context = { ...writeContext(request, 'DeleteOptions'), dryRun, sentOptions: () => sent }
  const { orphanWarning } = resource.kind.life
  if (orphanWarning !== undefined && options.propagation === undefined) exchange.warn(orphanWarning)
  const { object, removed, unshown } = await deleteObject(context, info.name, options)
  if (unshown !== undefined) exchange.warn(`the deletion has begun, but the object cannot be shown: ${unshown}`)
  const code = !removed && options.waits ? 202 : 200
  if (unshown !== undefined || (removed && resource.kind.life.deleteAnswers !== 'object'))
    await sendStatus(exchange, code, deletedStatus(resource, object))
  else await sendObject(exchange, code, { object, kind: resource.kind })
}

function deletedStatus({ group, plural }: Resource, { metadata }: ApiObject) {
  return success({ name: metadata.name!, ...(group === '' ? {} : { group }), kind: plural, uid: metadata.uid! })
}
