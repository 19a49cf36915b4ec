/**
 * watch: the events of a selection, from the state of now or after a version.
 *
 * Events newer than the cache's window come from the cache. An older start reads the store's log up to where the
 * window begins, and goes on from there without a gap; a start older than the log is 410.
 */
import type { CachedObject } from '../cache/cached-object.ts'
import type { CacheEvent, EventForm, EventType } from '../cache/event.ts'
import { concerns } from '../cache/kind-cache.ts'
import type { Selection, Watcher } from '../cache/watcher.ts'
import { UnreadableValue } from '../codec/stored.ts'
import { expired } from '../model/api-error.ts'
import { parseVersion } from '../model/resource-version.ts'
import { type Change, RevisionGone } from '../store/store.ts'
import { type Resource, readMostRecent } from './resource.ts'

export interface WatchQuery {
  readonly selection: Selection
  readonly resourceVersion: string
  readonly form: EventForm
  /** Aborts when the client is gone or the time is over. */
  readonly signal: AbortSignal
}

/** A watch under way: first what is old, then the watcher's queue. */
export interface Watching {
  readonly watcher: Watcher
  /** Encoded events that come before those of the watcher. */
  readonly before: Iterable<Buffer>
}

export async function watch(resource: Resource, query: WatchQuery): Promise<Watching> {
  if (query.resourceVersion === '' || query.resourceVersion === '0') return await watchFromNow(resource, query)
  return await watchAfter(resource, query, parseVersion(query.resourceVersion))
}

/** Everything up to this revision has been queued for the watcher, or is not for it: what a bookmark may say now. */
export function toldUpTo({ caches }: Resource, watcher: Watcher): number {
  return Math.max(watcher.revision, caches.revision)
}

async function watchFromNow(resource: Resource, { selection, form, resourceVersion }: WatchQuery): Promise<Watching> {
  if (resourceVersion === '') await readMostRecent(resource)
  const existing = [...existingObjects(resource, selection)]
  const rest = form.rest ?? form
  const watcher = resource.cache.watch(selection, existing.length > 0 ? rest : form, resource.caches.revision)
  return { watcher, before: existing.values().map((object, i) => (i === 0 ? form : rest).encode('ADDED', object)) }
}

function existingObjects(resource: Resource, { namespace, name, matches }: Selection): Iterable<CachedObject> {
  const wanted = (object: CachedObject) =>
    (name === undefined || object.name === name) && (matches === undefined || matches(object))
  return resource.cache.objects({ namespace, matches: wanted })
}

/** A version that is not there yet is waited for: nothing is sent until it has been reached. */
async function watchAfter(resource: Resource, query: WatchQuery, revision: number): Promise<Watching> {
  const { selection, form, signal } = query
  const older: Buffer[] = []
  let after = revision
  // While the log is read the window moves on; each round has less to read.
  while (after < resource.cache.floor && !signal.aborted) {
    const until = resource.cache.floor
    await readLog(resource, query, { after, until }, older)
    after = until
  }
  const recent = resource.cache.eventsAfter(after).filter((event) => typeFor(selection, event) !== undefined)
  const next = older.length + recent.length === 0 ? form : (form.rest ?? form)
  const watcher = resource.cache.watch(selection, next, Math.max(after, resource.cache.changedAt))
  return { watcher, before: replay(older, recent, query) }
}

/** Recent events are encoded as they are sent: a client may be further behind than a watcher may queue. */
function* replay(older: Iterable<Buffer>, recent: Iterable<CacheEvent>, { form, selection }: WatchQuery) {
  let next = form
  for (const bytes of older) {
    yield bytes
    next = form.rest ?? form
  }
  for (const event of recent) {
    yield event.bytes(next, typeFor(selection, event)!)
    next = form.rest ?? form
  }
}

function typeFor(selection: Selection, event: CacheEvent): EventType | undefined {
  return concerns(event, selection) ? event.typeFor(selection.matches) : undefined
}

async function readLog(
  resource: Resource,
  query: WatchQuery,
  range: { after: number; until: number },
  into: Buffer[],
): Promise<void> {
  const { selection, form, signal } = query
  let bytes = 0
  try {
    for await (const { changes } of resource.store.watch({ prefix: resource.cache.prefix, ...range, signal })) {
      for (const change of changes) {
        const event = eventOf(resource, change)
        const type = event && typeFor(selection, event)
        if (event === undefined || type === undefined) continue
        const encoded = event.bytes(into.length === 0 ? form : (form.rest ?? form), type)
        into.push(encoded)
        bytes += encoded.length
        if (into.length > maxReplayed || bytes > maxReplayedBytes) throw tooOld(range.after)
      }
    }
  } catch (error) {
    // What cannot be read cannot be told as an event either; a list says what is left out.
    throw error instanceof RevisionGone || error instanceof UnreadableValue ? tooOld(range.after) : error
  }
}

const maxReplayed = 100_000
const maxReplayedBytes = 128 * 1024 * 1024

function eventOf({ cache }: Resource, change: Change): CacheEvent | undefined {
  const { key, previous } = change
  return cache.event(change, previous && cache.readIfSound(key, previous.revision, previous.value))
}

function tooOld(revision: number) {
  return expired(`too old resource version: ${revision}. List again and watch from the version of that list.`)
}
