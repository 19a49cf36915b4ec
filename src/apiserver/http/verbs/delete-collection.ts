/** Handles DELETE of a collection. */
import { success } from '../../../api/model/api-error.ts'
import { deleteCollection } from '../../registry/verbs/delete-collection.ts'
import { readDeleteOptions } from '../request/delete-options.ts'
import { readListQuery } from '../request/list-options.ts'
import { type Handler, writeContext } from '../request/resource-request.ts'
import { sendStatus } from '../response/responses.ts'

export const handleDeleteCollection: Handler = async (request) => {
  const { exchange, resource } = request
  const query = readListQuery(request)
  const options = await readDeleteOptions(request)
  const { dryRun, sent } = options
  const context = {
    ...writeContext(request, 'DeleteOptions'),
    dryRun,
    sentOptions: () => sent,
    ofCollection: true,
  }
  const page = await deleteCollection(context, query, options)
  const { group, plural } = resource
  const metadata = {
    ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  }
  const details = { ...(group === '' ? {} : { group }), kind: plural }
  await sendStatus(exchange, 200, { ...success(details), metadata, ...remainder(page.remaining ?? 0) })
}

function remainder(count: number): { readonly message?: string } {
  if (count === 0) return {}
  const message = `${count} more objects match; to delete them, repeat the request with metadata.continue or without a limit`
  return { message }
}
