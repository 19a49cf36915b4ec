/** deletecollection: deletes what a list would show, one object after the other in the order of their names. */
import { ApiError } from '../model/api-error.ts'
import { type DeleteOptions, deleteObject } from './delete.ts'
import { type ListPage, type ListQuery, list, slicesOf } from './list.ts'
import { failedHalfway, type WriteContext } from './write.ts'

/** Gives the page that was deleted or marked. Objects that are gone meanwhile are passed over. */
export async function deleteCollection(
  context: WriteContext,
  query: ListQuery,
  options: DeleteOptions,
): Promise<ListPage> {
  const page = await list(context.resource, query)
  let done = 0
  try {
    for await (const slice of slicesOf(page)) {
      for (const { namespace, name } of slice) {
        await deleteOne({ ...context, namespace }, name, options)
        done++
      }
    }
  } catch (error) {
    throw done === 0 || context.dryRun ? error : failedHalfway(error, `deleted ${done} objects`)
  } finally {
    page.close?.()
  }
  return page
}

async function deleteOne(context: WriteContext, name: string, options: DeleteOptions): Promise<void> {
  try {
    await deleteObject(context, name, options)
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return
    throw error
  }
}
