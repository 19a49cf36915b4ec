/**
 * Implements list, which returns the objects of a selection at one revision, in one response or in pages.
 *
 * The latest state comes from the cache. A page at an older revision also comes from the cache if no object of the type
 * has changed since that revision, and otherwise from the store (`list-history.ts`). While the cache is loading, every
 * list comes from the store. A list without a limit finds its objects while the response is being sent, instead of
 * collecting them in memory. All objects belong to one consistent state.
 */

import { ApiError, badRequest, noSuchPath, PageExpired } from '../../../api/model/api-error.ts'
import { formatVersion, parseVersion } from '../../../api/model/resource-version.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'
import { newestState, type SortValue } from '../reads/continue-token.ts'
import { findObjects } from '../reads/find.ts'
import { type HistoryPage, listAll, listPage } from '../reads/list-history.ts'
import type { ListOrder } from '../reads/list-order.ts'
import { isSelective, type ParsedSelection } from '../reads/selection.ts'
import { type SortPosition, sortObjects } from '../reads/sort-objects.ts'
import { waitForVersion } from '../reads/versions.ts'

/** A request for a list. */
export interface ListQuery {
  readonly selection: ParsedSelection
  /** Maximum number of objects on a page. 0 means no limit. */
  readonly limit: number
  readonly continueToken: string
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
  /** The name of the user. The number of concurrent history reads is limited per user. */
  readonly user: string
  /** Identifies the list and the user for which a continue token is valid. */
  readonly scope: string
  /** The sort order of the list. Undefined for key order. */
  readonly order?: ListOrder | undefined
  /**
   * Whether to return the exact number of remaining objects, even with a selector. Without a limit, the page then
   * contains this number and no objects.
   */
  readonly counts?: boolean
}

/** A page of a list, with the token for the next page. */
export interface ListPage {
  readonly revision: number
  /** The objects that were found before the response starts. */
  readonly objects: readonly CachedObject[]
  /** The remaining objects on the page, which are found on demand. Undefined if there are none. */
  readonly rest?: AsyncIterable<readonly CachedObject[]>
  readonly continueToken: string
  /** Number of objects that follow this page. Undefined if unknown. */
  readonly remaining: number | undefined
  /**
   * Releases the resources of the page. If set, the caller must call this function when the page is no longer needed.
   */
  readonly close?: () => void
}

/** The state to list and the start position, which is the last object on the previous page. */
export interface At {
  readonly exact?: number | undefined
  /** Key after which the list starts. Undefined for the start of the list. */
  readonly after?: string
  /** The sort values of the object with the key `after`. Undefined unless the list is sorted. */
  readonly values?: readonly (SortValue | null)[]
}

/** Lists the objects of a type. */
export async function list(resource: Resource, query: ListQuery): Promise<ListPage> {
  const at = await chooseState(resource, query)
  if (query.counts && query.limit === 0) return await countOnly(resource, query, at)
  if (query.order !== undefined) return await sortedPage(resource, { ...query, order: query.order }, at)
  const page = await listAt(resource, query, at)
  return query.counts && page.remaining === undefined ? await withCount(resource, query, page) : page
}

/** Lists the objects of one state in key order. */
async function listAt(resource: Resource, query: ListQuery, { exact, after }: At): Promise<ListPage> {
  // The type is no longer served, so its cache is out of date.
  if (resource.cache.retired) throw noSuchPath()
  // While the cache is loading, only the store has all objects.
  if (resource.cache.isLoading) return await fromStore(resource, query, exact ?? resource.caches.revision, after)
  if (exact === undefined) return await fromCache(resource, query, resource.caches.revision, after)
  if (isUnchangedSince(resource, exact)) return await fromCache(resource, query, exact, after)
  return await fromStore(resource, query, exact, after)
}

/** Yields all objects of a page in slices. */
export async function* slicesOf({ objects, rest }: ListPage): AsyncGenerator<readonly CachedObject[]> {
  yield objects
  if (rest !== undefined) yield* rest
}

/**
 * Returns the slices of `slicesOf` in a form that the caller can iterate over twice. The first pass keeps cached
 * objects in memory. Objects from the store's history are read again, because they could take too much memory.
 */
export function slicesTwice(
  resource: Resource,
  query: ListQuery,
  page: ListPage,
): () => AsyncIterable<readonly CachedObject[]> {
  if (page.rest === undefined) return () => slicesOf(page)
  const seen: (readonly CachedObject[])[] = []
  let times = 0
  return () => {
    if (times++ === 0) return page.close === undefined ? remembering(slicesOf(page), seen) : slicesOf(page)
    return page.close === undefined ? eachOf(seen) : listAgain(resource, query, page.revision)
  }
}

async function* remembering<T>(slices: AsyncIterable<T>, seen: T[]): AsyncGenerator<T> {
  for await (const slice of slices) {
    seen.push(slice)
    yield slice
  }
}

async function* eachOf<T>(slices: readonly T[]): AsyncGenerator<T> {
  yield* slices
}

/** Lists the objects at the same revision a second time. */
async function* listAgain(
  resource: Resource,
  query: ListQuery,
  revision: number,
): AsyncGenerator<readonly CachedObject[]> {
  const version =
    query.continueToken === '' ? { resourceVersion: formatVersion(revision), match: 'Exact' as const } : {}
  const page = await list(resource, { ...query, ...version })
  try {
    yield* slicesOf(page)
  } finally {
    page.close?.()
  }
}

async function chooseState(resource: Resource, query: ListQuery): Promise<At> {
  if (query.continueToken !== '') return await continued(resource, query)
  if (query.resourceVersion === '') {
    await waitForCaches(resource)
    return {}
  }
  const revision = parseVersion(query.resourceVersion)
  const exact = query.match === 'Exact' || (query.match === '' && query.limit > 0 && revision !== 0)
  await waitForVersion(resource, revision)
  return exact ? { exact: revision } : {}
}

async function continued(resource: Resource, query: ListQuery): Promise<At> {
  if (query.resourceVersion !== '' && query.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  const { revision, after, sorted } = resource.continueTokens.read(query.continueToken, query.scope)
  const order = query.order?.text
  if (sorted?.order !== order) throw badRequest(otherOrder(sorted?.order, order))
  const position = { after, ...(sorted && { values: sorted.values }) }
  if (revision !== newestState) return { exact: revision, ...position }
  await waitForCaches(resource)
  return position
}

function otherOrder(started: string | undefined, sent: string | undefined): string {
  const text = (order: string | undefined) => (order === undefined ? 'without sort' : `with sort=${order}`)
  return `the list of this continue token was started ${text(started)} and cannot be continued ${text(sent)}`
}

/** Returns whether the cached objects of the type are unchanged since the given revision. */
function isUnchangedSince(resource: Resource, revision: number): boolean {
  return resource.caches.revision >= revision && resource.cache.changedAt <= revision
}

/** Reads a page from the cache. Captures the state of the cache before the first `await`. */
async function fromCache(resource: Resource, query: ListQuery, revision: number, after?: string): Promise<ListPage> {
  const { selection, limit } = query
  const { namespace, name, matches } = selection
  if (limit === 0) return { revision, ...(await begin(findObjects(resource, selection, after))), ...lastPage }
  if (matches !== undefined || name !== undefined) {
    const selected = await firstOf(findObjects(resource, selection, after), limit + 1)
    return finishPage(resource, query, {
      revision,
      objects: selected.slice(0, limit),
      remaining: selected.length - limit,
    })
  }
  const objects = resource.cache.page(namespace, after, limit)
  const remaining = objects.length < limit ? 0 : resource.cache.countAfter(namespace, objects.at(-1)!.key)
  return finishPage(resource, query, { revision, objects, remaining })
}

const lastPage = { continueToken: '', remaining: undefined }

/** Number of objects to find before the response starts. Shorter lists are complete at that point. */
const firstObjects = 500

/**
 * Estimated cost of searching one slice of objects, charged to the time slice. The cost does not depend on how many
 * objects match.
 */
const sliceCost = 500

type FirstObjects = Pick<ListPage, 'objects' | 'rest'>

async function begin(slices: Iterable<readonly CachedObject[]>): Promise<FirstObjects> {
  const iterator = slices[Symbol.iterator]()
  const timeSlice = new TimeSlice()
  const objects: CachedObject[] = []
  while (objects.length < firstObjects) {
    const { done, value } = iterator.next()
    if (done) return { objects }
    objects.push(...value)
    if (timeSlice.charge(sliceCost)) await timeSlice.yieldIfDue()
  }
  return { objects, rest: paced(iterator) }
}

async function* paced(slices: Iterator<readonly CachedObject[]>): AsyncGenerator<readonly CachedObject[]> {
  const timeSlice = new TimeSlice()
  for (let next = slices.next(); !next.done; next = slices.next()) {
    if (next.value.length > 0) yield next.value
    if (timeSlice.charge(sliceCost)) await timeSlice.yieldIfDue()
  }
}

async function firstOf(slices: Iterable<readonly CachedObject[]>, count: number): Promise<CachedObject[]> {
  const timeSlice = new TimeSlice()
  const selected: CachedObject[] = []
  for (const slice of slices) {
    selected.push(...slice.slice(0, count - selected.length))
    if (selected.length >= count) break
    if (timeSlice.charge(sliceCost)) await timeSlice.yieldIfDue()
  }
  return selected
}

async function fromStore(resource: Resource, query: ListQuery, revision: number, after?: string): Promise<ListPage> {
  const { selection, limit, user } = query
  const leave = resource.historyReaders.enter(user)
  const state = { selection, revision, after }
  try {
    const page =
      limit === 0
        ? { revision, ...(await listAll(resource, state)), ...lastPage }
        : finishPage(resource, query, { revision, ...(await listPage(resource, state, limit)) })
    // Do not count the remaining objects while the cache is loading, because the store would take too long.
    return { ...page, ...(resource.cache.isLoading ? { remaining: undefined } : {}), close: leave }
  } catch (error) {
    leave()
    throw after !== undefined && isExpired(error) ? pageExpired(resource, query, after) : error
  }
}

/** Returns a page of a sorted list, starting after the position in the query. */
async function sortedPage(
  resource: Resource,
  query: ListQuery & { readonly order: ListOrder },
  { exact, after, values }: At,
): Promise<ListPage> {
  const { order, limit, scope } = query
  const from = after === undefined ? undefined : { key: after, values: values! }
  const tokenAt = (revision: number, { key, values }: SortPosition) =>
    resource.continueTokens.write({ revision, after: key, sorted: { order: order.text, values } }, scope)
  try {
    const source = await listAt(resource, { ...query, limit: 0 }, { exact })
    const sorting = { resource, order, limit, after: from, isCached: source.close === undefined }
    const { objects, rest, last, remaining } = await sortObjects(slicesOf(source), sorting).finally(source.close)
    const { revision } = source
    if (last === undefined) return { revision, objects, ...(rest && { rest }), ...lastPage, ...(query.counts && none) }
    return { revision, objects, continueToken: tokenAt(revision, last), remaining }
  } catch (error) {
    throw from !== undefined && isExpired(error) ? new PageExpired(tokenAt(newestState, from)) : error
  }
}

const none = { remaining: 0 }

/** Counts the objects that a list would return, without returning them. */
async function countOnly(resource: Resource, query: ListQuery, at: At): Promise<ListPage> {
  if (query.order !== undefined && at.after !== undefined)
    throw badRequest('the query parameter count requires the parameter limit if sort and continue are set')
  const { selection } = query
  const { cache, caches } = resource
  const isCurrent = at.exact === undefined || isUnchangedSince(resource, at.exact)
  if (!isSelective(selection) && isCurrent && !cache.isLoading && !cache.retired) {
    const remaining = cache.countAfter(selection.namespace, at.after)
    return { revision: at.exact ?? caches.revision, objects: [], continueToken: '', remaining }
  }
  const page = await listAt(resource, { ...query, limit: 0 }, at)
  return { revision: page.revision, objects: [], continueToken: '', remaining: await countIn(page) }
}

/** Replaces the estimated number of remaining objects with the exact number. */
async function withCount(resource: Resource, query: ListQuery, page: ListPage): Promise<ListPage> {
  // Close the page first, because it is complete and the count needs its history reader.
  page.close?.()
  const { close: _, ...counted } = page
  if (page.continueToken === '') return { ...counted, remaining: 0 }
  const { revision, after } = resource.continueTokens.read(page.continueToken, query.scope)
  const others = await listAt(resource, { ...query, limit: 0 }, { exact: revision, after })
  return { ...counted, remaining: await countIn(others) }
}

async function countIn(page: ListPage): Promise<number> {
  try {
    let count = 0
    for await (const slice of slicesOf(page)) count += slice.length
    return count
  } finally {
    page.close?.()
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof ApiError && error.code === 410
}

/**
 * Returns the error for an expired page, with a continue token. A client that accepts an inconsistent list can use the
 * token to continue with the latest state after the last object on the page.
 */
function pageExpired({ continueTokens }: Resource, { scope }: ListQuery, after: string): PageExpired {
  return new PageExpired(continueTokens.write({ revision: newestState, after }, scope))
}

/**
 * Adds the continue token and the number of remaining objects to a page. With a selector, that number indicates only
 * whether there may be more objects.
 */
function finishPage(resource: Resource, query: ListQuery, page: HistoryPage & { revision: number }): ListPage {
  const { revision, objects, remaining } = page
  if (remaining <= 0) return { revision, objects, ...lastPage }
  const after = page.position ?? objects.at(-1)!.key
  return {
    revision,
    objects,
    continueToken: resource.continueTokens.write({ revision, after }, query.scope),
    remaining: isSelective(query.selection) ? undefined : remaining,
  }
}
