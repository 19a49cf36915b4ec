/**
 * Removes what only has a meaning with an object that cannot be read: the objects of a damaged definition, which would
 * come back to life with a new one of its name. They are not served any more, so nobody hears of it, and no finalizer is
 * waited for: nobody could take it away.
 */
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { prefixOf } from '../../../storage/cache/caches.ts'
import type { Resource } from '../catalogue/resource.ts'

/** How many are looked for at a time. */
const pageSize = 500

export async function removeContents({ kind, store }: Resource, name: string, pace: TimeSlice): Promise<void> {
  const type = kind.life.contents?.(name)
  if (type === undefined) return
  const prefix = prefixOf(type.group, type.plural)
  for (;;) {
    const { entries } = await store.list({ prefix, limit: pageSize, count: false })
    if (entries.length === 0) return
    // What was changed meanwhile is found again by the next look.
    for (const { key, revision } of entries) {
      await store.commit({ key, expected: revision, value: undefined })
      await pace.yieldIfDue()
    }
  }
}
