/** deletecollection: deletes what a list would show, one object after the other in the order of their names. */
import type { Unreadable } from '../cache/unreadable.ts'
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
  for (const { namespace, name } of unreadable(context, query))
    await deleteOne({ ...context, namespace }, name, options)
  return page
}

/**
 * Objects that cannot be read are deleted with all the others, but not by a selector: nobody knows whether it matches.
 */
function unreadable({ resource }: WriteContext, { selection, limit }: ListQuery): readonly Unreadable[] {
  if (selection.matches !== undefined || selection.name !== undefined || limit !== 0) return []
  return resource.cache.allUnreadable(selection.namespace)
}

async function deleteOne(context: WriteContext, name: string, options: DeleteOptions): Promise<void> {
  try {
    await deleteObject(context, name, options)
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return
    throw error
  }
}
