/** deletecollection: deletes what a list would show, one object after the other in the order of their names. */
import { ApiError } from '../model/api-error.ts'
import { type DeleteOptions, deleteObject } from './delete.ts'
import { type ListQuery, list } from './list.ts'
import type { WriteContext } from './write.ts'

/** How many were deleted or marked. Objects that are gone meanwhile are passed over. */
export async function deleteCollection(
  context: WriteContext,
  query: ListQuery,
  options: DeleteOptions,
): Promise<number> {
  const page = await list(context.resource, query)
  let count = 0
  for (const { namespace, name } of page.objects) {
    if (await deleteOne({ ...context, namespace }, name, options)) count++
  }
  return count
}

async function deleteOne(context: WriteContext, name: string, options: DeleteOptions): Promise<boolean> {
  try {
    await deleteObject(context, name, options)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return false
    throw error
  }
}
