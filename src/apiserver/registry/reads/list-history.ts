/**
 * Lists objects at a revision that is older than the revision of the cache. The objects come from the store, which
 * provides exact snapshots within its history window. Each step reads about a megabyte. A list without a limit is
 * streamed to its client. A page is read until it is full.
 */

import { expired } from '../../../api/model/api-error.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { RevisionAhead, RevisionGone, type Snapshot } from '../../../storage/store/store.ts'
import type { Resource } from '../catalogue/resource.ts'
import { isSelective, type ParsedSelection } from './selection.ts'
import { tooLarge } from './versions.ts'

export interface PastState {
  readonly selection: ParsedSelection
  readonly revision: number
  /** Key after which the list starts. Undefined for the start of the list. */
  readonly after: string | undefined
}

export interface HistoryPage {
  readonly objects: readonly CachedObject[]
  /** Number of keys that follow the page, including keys of objects that the selection does not match. */
  readonly remaining: number
  /** The last key that was read. Set only if the read continued past the last returned object. */
  readonly position?: string | undefined
}

const stepBytes = 1024 * 1024
const firstPageSize = 2
const maxPageSize = 500
/** Maximum size of a page in bytes. The page ends at this size, and the client requests the next page as usual. */
const maxPageBytes = 8 * 1024 * 1024

export interface WholeList {
  readonly objects: readonly CachedObject[]
  /** The remaining objects of the list, which are read on demand. */
  readonly rest: AsyncGenerator<readonly CachedObject[]>
}

/** Lists all objects at a past revision. Reads only the first part before it returns. The rest is read on demand. */
export async function listAll(resource: Resource, state: PastState): Promise<WholeList> {
  const steps = readPages(resource, state, Number.POSITIVE_INFINITY)
  const { value: first } = await steps.next()
  return { objects: first?.objects ?? [], rest: objectsOf(steps) }
}

async function* objectsOf(steps: AsyncIterable<Page>): AsyncGenerator<readonly CachedObject[]> {
  for await (const { objects } of steps) if (objects.length > 0) yield objects
}

/**
 * Lists one page. With a selector, also searches for one matching object after the page, so that the client receives a
 * continue token only if the next page is not empty. This search is skipped if large objects end the page early.
 */
export async function listPage(resource: Resource, state: PastState, limit: number): Promise<HistoryPage> {
  const enough = isSelective(state.selection) ? limit + 1 : limit
  const timeSlice = new TimeSlice()
  const selectedObjects: CachedObject[] = []
  let bytes = 0
  for await (const { objects, last, remaining } of readPages(resource, state, limit)) {
    selectedObjects.push(...objects)
    bytes += sizeOf(objects)
    if (selectedObjects.length > limit) return cutPage(selectedObjects, limit, remaining)
    if (remaining === 0 || selectedObjects.length >= enough || bytes >= maxPageBytes)
      return { objects: selectedObjects, remaining, position: last }
    if (timeSlice.charge(500)) await timeSlice.yieldIfDue()
  }
  return { objects: selectedObjects, remaining: 0 }
}

function cutPage(selectedObjects: readonly CachedObject[], limit: number, remaining: number): HistoryPage {
  const objects = selectedObjects.slice(0, limit)
  return { objects, remaining: remaining + selectedObjects.length - limit, position: objects.at(-1)!.key }
}

interface Page {
  /** The objects that match the selection. */
  readonly objects: readonly CachedObject[]
  /** The last key that was read from the store, whether or not its object matches. */
  readonly last: string | undefined
  readonly remaining: number
}

/**
 * Yields the pages of a past state. `limit` is the maximum number of keys per read, and applies only without a
 * selector.
 */
async function* readPages(resource: Resource, state: PastState, limit: number): AsyncGenerator<Page> {
  const { selection, revision } = state
  const { namespace } = selection
  const { cache } = resource
  const prefix = namespace === undefined ? cache.prefix : `${cache.prefix}${namespace}/`
  const whole = !isSelective(selection)
  const count = whole && limit < Number.POSITIVE_INFINITY && !cache.isLoading
  let after = state.after
  let step = firstPageSize
  let remainingLimit = limit
  for (let remaining = 1; remaining > 0; ) {
    const size = whole ? Math.min(step, remainingLimit) : step
    const page = await read(resource, {
      prefix,
      revision,
      limit: size,
      count,
      ...(after === undefined ? {} : { after }),
    })
    const objects = page.entries.flatMap((entry) => cache.readIfSound(entry.key, entry.revision, entry.value) ?? [])
    after = page.entries.at(-1)?.key
    remaining = after === undefined ? 0 : page.remaining
    remainingLimit -= page.entries.length
    step = nextPageSize(objects, step)
    yield {
      objects: whole ? objects : objects.filter((object) => isSelected(selection, object)),
      last: after,
      remaining,
    }
  }
}

/**
 * Returns the number of keys to read in the next step to reach the target size. The number grows slowly, in case the
 * next objects are larger.
 */
function nextPageSize(objects: readonly CachedObject[], step: number): number {
  const fitting = Math.floor((stepBytes * objects.length) / Math.max(1, sizeOf(objects)))
  return Math.max(1, Math.min(fitting, step * 8, maxPageSize))
}

function sizeOf(objects: readonly CachedObject[]): number {
  return objects.reduce((sum, { json }) => sum + json.length, 0)
}

function isSelected({ name, matches }: ParsedSelection, object: CachedObject): boolean {
  return (name === undefined || object.name === name) && (matches === undefined || matches(object))
}

async function read(resource: Resource, range: Parameters<Resource['store']['list']>[0]): Promise<Snapshot> {
  try {
    return await resource.store.list(range)
  } catch (error) {
    if (error instanceof RevisionGone) {
      throw expired(
        'The provided resourceVersion is too old: the server keeps history for a few minutes only. Start a new list without it.',
      )
    }
    if (error instanceof RevisionAhead) throw tooLarge(error.revision, error.current)
    throw error
  }
}
