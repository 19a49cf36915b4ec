/**
 * watch: the events of a selection, from the state of now or after a version.
 *
 * What comes before the present is read as the client takes it, and let go of: the objects that were there at the
 * start, in slices of one state; then the events since, from the cache's window, or from the store's log where the
 * window begins later. When nothing is left to read the watcher begins, without a gap. A start older than the log, and
 * a reader so slow that the log is forgotten before it comes there, is 410.
 */

import { UnreadableValue } from '../../../api/codec/stored.ts'
import { expired, noSuchPath } from '../../../api/model/api-error.ts'
import { parseVersion } from '../../../api/model/resource-version.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { CacheEvent, EventForm, EventType } from '../../../storage/cache/event.ts'
import { concerns } from '../../../storage/cache/kind-cache.ts'
import type { Selection, Watcher } from '../../../storage/cache/watcher.ts'
import { RevisionGone } from '../../../storage/store/store.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'
import { findObjects } from '../reads/find.ts'
import type { ParsedSelection } from '../reads/selection.ts'

export interface WatchQuery {
  readonly selection: ParsedSelection
  readonly resourceVersion: string
  readonly form: EventForm
  /** Who watches: what one user may read of the past at a time is bounded. */
  readonly user: string
  /** Called with the size of every event that comes before those of the watcher. */
  readonly sent: (bytes: number) => void
}

/** A watch under way: first what is old, then the watcher's queue. */
export interface Watching {
  readonly watcher: Watcher
  /**
   * Encoded events that come before those of the watcher, in chunks, each made when it is asked for. The watcher begins
   * when they have ended; it must be closed by whoever does not read that far.
   */
  readonly before: AsyncGenerator<Buffer>
}

/** Where a watch starts. */
interface Start {
  readonly objects: Iterable<readonly CachedObject[]>
  /** The version whose state the objects are, or the one that the client knows. */
  readonly revision: number
}

/** Starts a watch. */
export async function watch(resource: Resource, query: WatchQuery): Promise<Watching> {
  const { resourceVersion, selection, form } = query
  const start = await startOf(resource, selection, resourceVersion)
  if (resource.cache.retired) throw noSuchPath()
  // In the same turn, so that the loss of the feed closes it however early that is.
  const watcher = resource.cache.watch(selection, form)
  const reader = { watcher, user: query.user, sent: query.sent, prepare: form.prepare }
  return { watcher, before: replay(resource, { start, ...reader }) }
}

/** Everything up to this revision has been queued for the watcher, or is not for it: what a bookmark may say now. */
export function toldUpTo({ caches }: Resource, watcher: Watcher): number {
  return Math.max(watcher.revision, caches.revision)
}

async function startOf(resource: Resource, selection: ParsedSelection, version: string): Promise<Start> {
  const { cache, caches } = resource
  if (version === '') await waitForCaches(resource)
  if (version === '' || version === '0') return { objects: findObjects(resource, selection), revision: caches.revision }
  const revision = parseVersion(version)
  caches.forgetOutdated()
  if (revision < cache.floor) await orTooOld(revision, () => caches.lookBack(cache, revision))
  return { objects: [], revision }
}

interface Replay {
  readonly start: Start
  readonly watcher: Watcher
  readonly user: string
  readonly sent: (bytes: number) => void
  /** Must be waited for before events about objects are written, where it is there. */
  readonly prepare: EventForm['prepare']
}

async function* replay(resource: Resource, { start, ...reader }: Replay): AsyncGenerator<Buffer> {
  const { watcher, sent, prepare } = reader
  const pace = new TimeSlice()
  const deadline = performance.now() + maxStateMs
  for (const slice of start.objects) {
    await prepare?.(slice)
    yield* gather(added(watcher, slice), sent)
    if (performance.now() > deadline) watcher.close()
    if (watcher.closed) return
    if (pace.charge(stepCost)) await pace.yieldIfDue()
  }
  yield* catchUp(resource, { ...reader, after: start.revision })
}

/** What it costs to look through a slice of objects, or a piece of the log. */
const stepCost = 500

/** A snapshot that is read for longer keeps too many outdated objects in memory: its reader has to start again. */
const maxStateMs = 5 * 60_000

/**
 * A version that is not there yet is waited for: nothing is sent until it has been reached. The state of a reader that
 * comes to the present and the watcher's queue meet within one turn.
 */
async function* catchUp(
  resource: Resource,
  { after, watcher, user, sent, prepare }: Omit<Replay, 'start'> & { readonly after: number },
): AsyncGenerator<Buffer> {
  const { cache } = resource
  const pace = new TimeSlice()
  let position = after
  let leave: (() => void) | undefined
  try {
    while (!watcher.closed) {
      const behind = position < cache.floor
      if (behind) leave ??= resource.historyReaders.enter(user)
      const { events, through } = behind ? await readLog(resource, position) : inWindow(resource, position)
      if (through === undefined) break
      await prepare?.(toldObjects(watcher, events))
      yield* gather(told(watcher, events), sent)
      position = through
      if (pace.charge(stepCost)) await pace.yieldIfDue()
    }
    watcher.begin(Math.max(position, cache.changedAt))
  } finally {
    leave?.()
  }
}

/** Some events, and up to where there are no others; undefined: there are none any more. */
interface Step {
  readonly events: readonly CacheEvent[]
  readonly through: number | undefined
}

const windowStep = 100

function inWindow({ cache }: Resource, after: number): Step {
  const events = cache.eventsAfter(after, windowStep)
  return { events, through: events.at(-1)?.revision }
}

async function readLog({ cache, caches }: Resource, after: number): Promise<Step> {
  return await orTooOld(after, async () => {
    const piece = await caches.readLog(cache, after)
    return { events: piece.events(cache).filter(({ revision }) => revision > after), through: piece.through }
  })
}

/** What cannot be read cannot become an event either; a list says what is left out. */
async function orTooOld<T>(revision: number, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof RevisionGone || error instanceof UnreadableValue)) throw error
    throw expired(`too old resource version: ${revision}. List again and watch from the version of that list.`)
  }
}

function* added(watcher: Watcher, objects: readonly CachedObject[]): Generator<Buffer> {
  for (const object of objects) yield watcher.nextForm().encode('ADDED', object)
}

/** What the events are to the watcher. */
function* told(watcher: Watcher, events: readonly CacheEvent[]): Generator<Buffer> {
  for (const event of events) {
    const type = typeFor(watcher.selection, event)
    if (type !== undefined) yield event.bytes(watcher.nextForm(), type)
  }
}

function toldObjects({ selection }: Watcher, events: readonly CacheEvent[]): CachedObject[] {
  return events.flatMap((event) => {
    const type = typeFor(selection, event)
    return type === undefined ? [] : [event.shown(type)]
  })
}

function typeFor(selection: Selection, event: CacheEvent): EventType | undefined {
  return concerns(event, selection) ? event.typeFor(selection.matches) : undefined
}

const chunkBytes = 64 * 1024

/** Small buffers as fewer, larger ones. */
function* gather(buffers: Iterable<Buffer>, sent: (bytes: number) => void): Generator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for (const buffer of buffers) {
    parts.push(buffer)
    size += buffer.length
    sent(buffer.length)
    if (size < chunkBytes) continue
    yield Buffer.concat(parts)
    parts = []
    size = 0
  }
  if (parts.length > 0) yield Buffer.concat(parts)
}
