/**
 * list: the objects of a selection at one revision, whole or in pages.
 *
 * The newest state comes from the cache. A page at an older revision comes from the cache too when the kind has not
 * changed since, else from the store, which keeps exact snapshots for as long as it keeps history.
 */
import type { CachedObject } from '../cache/cached-object.ts'
import { badRequest, expired } from '../model/api-error.ts'
import { parseVersion } from '../model/resource-version.ts'
import { RevisionAhead, RevisionGone } from '../store/store.ts'
import { keyOf, type Resource, readMostRecent } from './resource.ts'
import type { ParsedSelection } from './selection.ts'
import { tooLarge, waitForVersion } from './versions.ts'

export interface ListQuery {
  readonly selection: ParsedSelection
  /** 0: no limit. */
  readonly limit: number
  readonly continueToken: string
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
  /** What a continue token is bound to: who asks for which list. */
  readonly scope: string
}

export interface ListPage {
  readonly revision: number
  readonly objects: readonly CachedObject[]
  readonly continueToken: string
  /** How many objects come after this page; undefined when that is not known. */
  readonly remaining: number | undefined
}

/** One state to list at: the newest, or exactly that of a revision. */
type At = { readonly exact: number; readonly after?: string } | 'now'

export async function list(resource: Resource, query: ListQuery): Promise<ListPage> {
  const at = await chooseState(resource, query)
  if (at === 'now') return pageOfCache(resource, query, resource.caches.revision)
  if (isUnchangedSince(resource, at.exact)) return pageOfCache(resource, query, at.exact, at.after)
  return await pageOfStore(resource, query, at.exact, at.after)
}

async function chooseState(resource: Resource, query: ListQuery): Promise<At> {
  if (query.continueToken !== '') return continued(resource, query)
  if (query.resourceVersion === '') {
    await readMostRecent(resource)
    return 'now'
  }
  const revision = parseVersion(query.resourceVersion)
  const exact = query.match === 'Exact' || (query.match === '' && query.limit > 0 && revision !== 0)
  await waitForVersion(resource, revision)
  return exact ? { exact: revision } : 'now'
}

function continued(resource: Resource, query: ListQuery): At {
  if (query.resourceVersion !== '' && query.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  const { revision, after } = resource.continueTokens.read(query.continueToken, query.scope)
  return { exact: revision, after }
}

/** Whether what the cache holds now is also what there was at this revision. */
function isUnchangedSince(resource: Resource, revision: number): boolean {
  return resource.caches.revision >= revision && resource.cache.changedAt <= revision
}

function pageOfCache(resource: Resource, query: ListQuery, revision: number, after?: string): ListPage {
  const { selection, limit } = query
  const found = fromCache(resource, selection, after, limit === 0 ? Number.POSITIVE_INFINITY : limit + 1)
  if (limit === 0) return { revision, objects: found, continueToken: '', remaining: undefined }
  const objects = found.slice(0, limit)
  const remaining = found.length > limit ? countRest(resource, selection, objects) : 0
  return finishPage(resource, query, { revision, objects, remaining })
}

/** How many come after a page. With a selector the rest is not counted; that there is more is enough to know. */
function countRest(
  { cache }: Resource,
  { namespace, matches }: ParsedSelection,
  page: readonly CachedObject[],
): number {
  return matches === undefined ? cache.countAfter(namespace, page.at(-1)!.key) : 1
}

function fromCache(
  resource: Resource,
  selection: ParsedSelection,
  after: string | undefined,
  limit: number,
): readonly CachedObject[] {
  const { namespace, name, matches } = selection
  if (name === undefined || (namespace === undefined && resource.kind.scope === 'Namespaced')) {
    return resource.cache.objects({ ...selection, after, limit })
  }
  const key = keyOf(resource, namespace ?? '', name)
  const object = after === undefined || after < key ? resource.cache.get(key) : undefined
  return object && (matches === undefined || matches(object)) ? [object] : []
}

async function pageOfStore(resource: Resource, query: ListQuery, revision: number, after?: string): Promise<ListPage> {
  const { selection, limit } = query
  const prefix =
    selection.namespace === undefined ? resource.cache.prefix : `${resource.cache.prefix}${selection.namespace}/`
  const objects: CachedObject[] = []
  let position = after
  let remaining = 0
  do {
    const wanted = limit === 0 ? storePage : limit - objects.length
    const page = await readExact(resource, {
      prefix,
      revision,
      limit: wanted,
      count: selection.matches === undefined,
      ...(position === undefined ? {} : { after: position }),
    })
    objects.push(
      ...page.entries
        .flatMap(({ key, revision, value }) => resource.cache.readIfSound(key, revision, value) ?? [])
        .filter((object) => isWanted(selection, object)),
    )
    position = page.entries.at(-1)?.key
    remaining = page.remaining
  } while (remaining > 0 && (limit === 0 || objects.length < limit))
  return finishPage(resource, query, { revision, objects, remaining, position })
}

const storePage = 500

function isWanted({ name, matches }: ParsedSelection, object: CachedObject): boolean {
  return (name === undefined || object.name === name) && (matches === undefined || matches(object))
}

async function readExact(resource: Resource, range: Parameters<Resource['store']['list']>[0]) {
  try {
    return await resource.store.list(range)
  } catch (error) {
    if (error instanceof RevisionGone) {
      throw expired(
        'The provided continue parameter or resourceVersion is too old: the server keeps history for a few minutes only. Start a new list without it.',
      )
    }
    if (error instanceof RevisionAhead) throw tooLarge(error.revision, error.current)
    throw error
  }
}

interface Page {
  readonly revision: number
  readonly objects: readonly CachedObject[]
  readonly remaining: number
  /** The last key that was looked at, where that is past the last object found. */
  readonly position?: string | undefined
}

function finishPage(resource: Resource, query: ListQuery, { revision, objects, remaining, position }: Page): ListPage {
  if (remaining === 0) return { revision, objects, continueToken: '', remaining: undefined }
  const after = position ?? objects.at(-1)!.key
  return {
    revision,
    objects,
    continueToken: resource.continueTokens.write({ revision, after }, query.scope),
    remaining: query.selection.matches === undefined && query.selection.name === undefined ? remaining : undefined,
  }
}
