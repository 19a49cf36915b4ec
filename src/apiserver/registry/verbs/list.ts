/**
 * list: the objects of a selection at one revision, whole or in pages.
 *
 * The newest state comes from the cache. A page at an older revision comes from the cache too when the kind has not
 * changed since, else from the store (`list-history.ts`). A list without a limit is not gathered before it is sent: it
 * is looked for as it is read, and shows one state all the same.
 */

import { ApiError, badRequest, noSuchPath, PageExpired } from '../../../api/model/api-error.ts'
import { formatVersion, parseVersion } from '../../../api/model/resource-version.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'
import { newestState } from '../reads/continue-token.ts'
import { findObjects } from '../reads/find.ts'
import { type HistoryPage, listAll, listPage } from '../reads/list-history.ts'
import { isSelective, type ParsedSelection } from '../reads/selection.ts'
import { waitForVersion } from '../reads/versions.ts'

/** What a list request asks for. */
export interface ListQuery {
  readonly selection: ParsedSelection
  /** 0: no limit. */
  readonly limit: number
  readonly continueToken: string
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
  /** Who asks: what one user may read of the past at a time is bounded. */
  readonly user: string
  /** What a continue token is bound to: who asks for which list. */
  readonly scope: string
}

/** One page of a list. */
export interface ListPage {
  readonly revision: number
  /** The first objects. */
  readonly objects: readonly CachedObject[]
  /** Those after them, looked for as they are read; undefined: there are none. */
  readonly rest?: AsyncIterable<readonly CachedObject[]>
  readonly continueToken: string
  /** How many objects come after this page; undefined when that is not known. */
  readonly remaining: number | undefined
  /** To be called when the page is done with, where it is there. */
  readonly close?: () => void
}

/** One state to list at: exactly that of a revision, else the newest. */
interface At {
  readonly exact?: number
  /** Only objects past this key. */
  readonly after?: string
}

/** Lists the objects of a type. */
export async function list(resource: Resource, query: ListQuery): Promise<ListPage> {
  const { exact, after } = await chooseState(resource, query)
  // Its kind has ceased to be served meanwhile: what is left of it is of the past.
  if (resource.cache.retired) throw noSuchPath()
  if (exact === undefined) return await fromCache(resource, query, resource.caches.revision, after)
  if (isUnchangedSince(resource, exact)) return await fromCache(resource, query, exact, after)
  return await fromStore(resource, query, exact, after)
}

/** All objects of a page, in slices. */
export async function* slicesOf({ objects, rest }: ListPage): AsyncGenerator<readonly CachedObject[]> {
  yield objects
  if (rest !== undefined) yield* rest
}

/**
 * The same for those who go through them twice, one time after the other. Objects of the cache are remembered from the
 * first time; those that come from the store's history would take memory without a bound, and are read again.
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

/** The same list once more, at the very revision. */
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
  const { revision, after } = resource.continueTokens.read(query.continueToken, query.scope)
  if (revision !== newestState) return { exact: revision, after }
  await waitForCaches(resource)
  return { after }
}

/** Whether what the cache holds now is also what there was at this revision. */
function isUnchangedSince(resource: Resource, revision: number): boolean {
  return resource.caches.revision >= revision && resource.cache.changedAt <= revision
}

/** The state is taken before anything is awaited. */
async function fromCache(resource: Resource, query: ListQuery, revision: number, after?: string): Promise<ListPage> {
  const { selection, limit } = query
  const { namespace, name, matches } = selection
  if (limit === 0) return { revision, ...(await begin(findObjects(resource, selection, after))), ...lastPage }
  if (matches !== undefined || name !== undefined) {
    const found = await firstOf(findObjects(resource, selection, after), limit + 1)
    return finishPage(resource, query, { revision, objects: found.slice(0, limit), remaining: found.length - limit })
  }
  const objects = resource.cache.page(namespace, after, limit)
  const remaining = objects.length < limit ? 0 : resource.cache.countAfter(namespace, objects.at(-1)!.key)
  return finishPage(resource, query, { revision, objects, remaining })
}

const lastPage = { continueToken: '', remaining: undefined }

/** As many objects as are looked for before the answer begins: short lists are found whole. */
const firstObjects = 500

/** What it costs to look for objects in a slice, whether or not there are any. */
const sliceCost = 500

type Found = Pick<ListPage, 'objects' | 'rest'>

async function begin(slices: Iterable<readonly CachedObject[]>): Promise<Found> {
  const iterator = slices[Symbol.iterator]()
  const pace = new TimeSlice()
  const objects: CachedObject[] = []
  while (objects.length < firstObjects) {
    const { done, value } = iterator.next()
    if (done) return { objects }
    objects.push(...value)
    if (pace.charge(sliceCost)) await pace.yieldIfDue()
  }
  return { objects, rest: paced(iterator) }
}

async function* paced(slices: Iterator<readonly CachedObject[]>): AsyncGenerator<readonly CachedObject[]> {
  const pace = new TimeSlice()
  for (let next = slices.next(); !next.done; next = slices.next()) {
    if (next.value.length > 0) yield next.value
    if (pace.charge(sliceCost)) await pace.yieldIfDue()
  }
}

async function firstOf(slices: Iterable<readonly CachedObject[]>, count: number): Promise<CachedObject[]> {
  const pace = new TimeSlice()
  const found: CachedObject[] = []
  for (const slice of slices) {
    found.push(...slice.slice(0, count - found.length))
    if (found.length >= count) break
    if (pace.charge(sliceCost)) await pace.yieldIfDue()
  }
  return found
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
    return { ...page, close: leave }
  } catch (error) {
    leave()
    throw after !== undefined && isExpired(error) ? pageExpired(resource, query, after) : error
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof ApiError && error.code === 410
}

/** What was read so far stands: who can take that goes on with the newest state, from the next object on. */
function pageExpired({ continueTokens }: Resource, { scope }: ListQuery, after: string): PageExpired {
  return new PageExpired(continueTokens.write({ revision: newestState, after }, scope))
}

/** `remaining` is a count only where nothing is selected; else it says whether there may be more. */
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
