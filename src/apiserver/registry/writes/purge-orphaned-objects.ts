/**
 * Removes the objects that depend on an unreadable object. The objects of a damaged definition, for example, would
 * otherwise reappear when a new definition with the same name is created. The objects are no longer served, so there
 * are no watch events, and finalizers are ignored.
 */
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { prefixOf } from '../../../storage/cache/caches.ts'
import type { Resource } from '../catalogue/resource.ts'

/** Number of objects that are deleted per page. */
const pageSize = 500

export async function purgeOrphanedObjects(
  { kind, store }: Resource,
  name: string,
  timeSlice: TimeSlice,
): Promise<void> {
  const type = kind.lifecycle.contents?.(name)
  if (type === undefined) return
  const prefix = prefixOf(type.group, type.plural)
  for (;;) {
    const { entries } = await store.list({ prefix, limit: pageSize, count: false })
    if (entries.length === 0) return
    // An entry that another writer has just changed remains until the next pass removes it.
    for (const { key, revision } of entries) {
      await store.commit({ key, expected: revision, value: undefined })
      await timeSlice.yieldIfDue()
    }
  }
}
