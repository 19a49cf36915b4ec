/**
 * Implements deletecollection, which deletes the objects that a list would return. Several objects are deleted
 * concurrently, in name order, so that the store can batch the commits.
 */

import { ApiError } from '../../../api/model/api-error.ts'
import type { Unreadable } from '../../../storage/cache/unreadable.ts'
import { assertSameLoad } from '../catalogue/resource.ts'
import { failedHalfway, type WriteContext } from '../writes/write.ts'
import { type DeleteOptions, deleteObject } from './delete.ts'
import { type ListPage, type ListQuery, list, slicesOf } from './list.ts'

/**
 * Maximum number of concurrent deletions. The first batch is a single object, and later batches grow, so that an error
 * that affects all objects causes only one failed attempt.
 */
const maxAtOnce = 64

/**
 * Deletes the objects of a page. Returns the page with the deleted or terminating objects. Skips objects that were
 * deleted in the meantime. Stops if the store has been restored since the list was read.
 */
export async function deleteCollection(
  context: WriteContext,
  query: ListQuery,
  sentOptions: DeleteOptions,
): Promise<ListPage> {
  const options = { ...sentOptions, assertCurrent: assertSameLoad(context.resource) }
  const page = await countedPage(context, query)
  let done = 0
  let atOnce = 1
  try {
    for await (const slice of slicesOf(page))
      for (let i = 0; i < slice.length; ) {
        const some = slice.slice(i, i + atOnce)
        const failure = await deleteSome(context, some, { options, onDone: () => done++ })
        if (failure !== undefined) throw failure.reason
        i += some.length
        atOnce = Math.min(2 * atOnce, maxAtOnce)
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
 * Lists a page and counts the objects after it. A list with a selector reports no count, but clients of
 * deletecollection need one.
 */
async function countedPage({ resource }: WriteContext, query: ListQuery): Promise<ListPage> {
  const page = await list(resource, query)
  const { continueToken } = page
  if (continueToken === '' || page.remaining !== undefined) return page
  const rest = await list(resource, { ...query, continueToken, limit: 0, resourceVersion: '', match: '' })
  let remaining = 0
  try {
    for await (const { length } of slicesOf(rest)) remaining += length
  } finally {
    rest.close?.()
  }
  return { ...page, remaining }
}

type Place = Pick<Unreadable, 'namespace' | 'name'>

/** Deletes the given objects. Returns the first error. */
async function deleteSome(
  context: WriteContext,
  places: readonly Place[],
  { options, onDone }: { readonly options: DeleteOptions; readonly onDone: () => void },
): Promise<PromiseRejectedResult | undefined> {
  const deletions = places.map(async ({ namespace, name }) => {
    await deleteOne({ ...context, namespace }, name, options)
    onDone()
  })
  return (await Promise.allSettled(deletions)).find((outcome) => outcome.status === 'rejected')
}

/**
 * Returns the unreadable objects, which are deleted together with the other objects. With a selector or a limit,
 * returns no objects, because it is unknown whether an unreadable object matches.
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
