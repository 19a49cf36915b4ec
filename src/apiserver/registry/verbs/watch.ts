/**
 * Implements watch, which streams the events of a selection, from the current state or after a version. A streaming
 * list is a watch that sends a bookmark after its initial objects.
 *
 * A watch first sends the initial objects, in slices of one consistent state. Then it sends the events since that
 * state, from the event buffer of the cache, or from the store's log if the buffer starts later. These events are read
 * on demand and not buffered. After that, the watcher continues without a gap. The watch fails with 410 if its version
 * is older than the log, or if part of the log is compacted before a slow client has read it.
 */

import { UnreadableValue } from '../../../api/codec/stored.ts'
import { expired, noSuchPath } from '../../../api/model/api-error.ts'
import { parseVersion } from '../../../api/model/resource-version.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { type CacheEvent, type EventForm, type EventType, takesLong } from '../../../storage/cache/event.ts'
import type { Selection, Watcher } from '../../../storage/cache/watcher.ts'
import { concerns } from '../../../storage/cache/watchers.ts'
import { RevisionGone } from '../../../storage/store/store.ts'
import { type Resource, waitForCaches } from '../catalogue/resource.ts'
import { type ChunkMemory, EventChunks } from '../reads/event-chunks.ts'
import { findObjects } from '../reads/find.ts'
import type { ParsedSelection } from '../reads/selection.ts'
import { waitForVersion } from '../reads/versions.ts'

export interface WatchQuery {
  readonly selection: ParsedSelection
  readonly resourceVersion: string
  /** Whether to send the current objects first. By default, they are sent if the resourceVersion is unset or 0. */
  readonly initialEvents?: boolean | undefined
  /**
   * Encodes the bookmark that marks the end of the initial objects. Undefined if the client does not request this
   * bookmark.
   */
  readonly endOfState?: ((form: EventForm, revision: number) => Buffer) | undefined
  readonly form: EventForm
  /** The name of the user. The number of concurrent history reads is limited per user. */
  readonly user: string
  /** Called with the size of each event that is sent before the watcher takes over. */
  readonly onSent: (bytes: number) => void
}

/** An active watch: first the initial objects and older events, then the watcher's queue. */
export interface Watching {
  readonly watcher: Watcher
  /**
   * Yields the encoded initial objects and older events in chunks, on demand. The watcher takes over at the end. A
   * caller that stops earlier must close the watcher.
   */
  readonly before: (memory: ChunkMemory) => AsyncGenerator<Buffer>
}

/** The initial objects of a watch and their version. */
interface Start {
  readonly objects: Iterable<readonly CachedObject[]>
  /** The version of the initial objects, or the version that the client already has. */
  readonly revision: number
}

/** Starts a watch of a selection. */
export async function watch(resource: Resource, query: WatchQuery): Promise<Watching> {
  const { selection, form } = query
  await resource.cache.whenLoaded()
  const start = await startOf(resource, query)
  if (resource.cache.retired) throw noSuchPath()
  // Create the watcher before the first `await`, so that any later loss of the connection to the store closes the
  // watcher.
  const watcher = resource.cache.watch(selection, form)
  const { user, onSent, endOfState } = query
  const reader = { watcher, user, onSent, endOfState, prepare: form.prepare }
  return { watcher, before: (memory) => replay(resource, { start, memory, ...reader }) }
}

/**
 * Returns the revision for a bookmark. All matching events up to this revision have been sent or are in the watcher's
 * queue.
 */
export function deliveredRevision({ caches }: Resource, watcher: Watcher): number {
  return Math.max(watcher.revision, caches.revision)
}

async function startOf(resource: Resource, query: WatchQuery): Promise<Start> {
  const { cache, caches } = resource
  const { selection, resourceVersion: version, initialEvents } = query
  if (version === '') await waitForCaches(resource)
  const isCurrent = version === '' || version === '0'
  if (isCurrent && initialEvents === false) return { objects: [], revision: caches.revision }
  if (initialEvents === true && !isCurrent) await waitForVersion(resource, parseVersion(version))
  if (isCurrent || initialEvents === true)
    return { objects: findObjects(resource, selection), revision: caches.revision }
  const revision = parseVersion(version)
  caches.forgetOutdated()
  if (revision < cache.floor) await orTooOld(revision, () => caches.lookBack(cache, revision))
  return { objects: [], revision }
}

interface Replay {
  readonly start: Start
  readonly memory: ChunkMemory
  readonly watcher: Watcher
  readonly user: string
  readonly onSent: (bytes: number) => void
  readonly endOfState: WatchQuery['endOfState']
  /**
   * Prepares objects for encoding, for example by calling a conversion webhook. If set, the returned promise must be
   * awaited before events are encoded.
   */
  readonly prepare: EventForm['prepare']
}

async function* replay(resource: Resource, { start, memory, onSent, ...reader }: Replay): AsyncGenerator<Buffer> {
  const { watcher, endOfState, prepare } = reader
  const chunks = new EventChunks(memory, onSent)
  const timeSlice = new TimeSlice()
  const deadline = performance.now() + maxStateMs
  for (const slice of start.objects) {
    await prepare?.(slice)
    yield* addObjects(chunks, watcher, slice)
    if (performance.now() > deadline) watcher.close()
    if (watcher.closed) return
    if (timeSlice.charge(stepCost)) await timeSlice.yieldIfDue()
  }
  if (endOfState !== undefined) yield* chunks.add([[endOfState(watcher.nextForm(), start.revision)]])
  yield* catchUp(resource, { ...reader, chunks, after: start.revision })
}

/** Estimated cost of searching one slice of objects or one chunk of the log, charged to the time slice. */
const stepCost = 500

/**
 * Maximum time in milliseconds to read a snapshot. A slower client would keep too many outdated objects in memory, so
 * its watch is closed.
 */
const maxStateMs = 5 * 60_000

interface CatchUp extends Pick<Replay, 'watcher' | 'user' | 'prepare'> {
  readonly after: number
  readonly chunks: EventChunks
}

/**
 * Yields the events up to the point where the watcher takes over. Waits without sending anything if the start version
 * has not been reached yet. The switch from the history to the watcher's queue happens within one tick.
 */
async function* catchUp(
  resource: Resource,
  { after, chunks, watcher, user, prepare }: CatchUp,
): AsyncGenerator<Buffer> {
  const { cache } = resource
  const timeSlice = new TimeSlice()
  let position = after
  let leave: (() => void) | undefined
  try {
    while (!watcher.closed) {
      const behind = position < cache.floor
      if (behind) leave ??= resource.historyReaders.enter(user)
      const { events, through } = behind ? await readLog(resource, position) : inWindow(resource, position)
      if (through === undefined) break
      await prepare?.(toldObjects(watcher, events))
      yield* addEvents(chunks, watcher, events)
      position = through
      if (timeSlice.charge(stepCost)) await timeSlice.yieldIfDue()
    }
    watcher.begin(Math.max(position, cache.changedAt))
    yield* chunks.flush()
  } finally {
    leave?.()
  }
}

/**
 * A batch of events, and the revision `through` up to which the batch is complete. After the last batch, `through` is
 * undefined.
 */
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

/**
 * If reading the history fails, replaces the error with a 410. The log may no longer contain the events, or a value may
 * be unreadable and therefore have no event.
 */
async function orTooOld<T>(revision: number, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof RevisionGone || error instanceof UnreadableValue)) throw error
    throw expired(
      `too old resource version: ${revision}. List again and watch from the resourceVersion of the new list.`,
    )
  }
}

/** Adds the initial objects of a slice. Encodes large objects in time slices. */
async function* addObjects(
  chunks: EventChunks,
  watcher: Watcher,
  objects: readonly CachedObject[],
): AsyncGenerator<Buffer> {
  const timeSlice = new TimeSlice()
  let begin = 0
  for (const [i, object] of watcher.form.encodeSliced === undefined ? [] : objects.entries()) {
    if (!takesLong(watcher.form, object)) continue
    yield* chunks.add(added(watcher, objects.slice(begin, i)))
    yield* chunks.add([[await timeSlice.run(watcher.nextForm().encodeSliced!('ADDED', object))]])
    begin = i + 1
  }
  yield* chunks.add(added(watcher, begin === 0 ? objects : objects.slice(begin)))
}

/** Adds the events that the watcher's selection matches. Encodes events about large objects in time slices. */
async function* addEvents(
  chunks: EventChunks,
  watcher: Watcher,
  events: readonly CacheEvent[],
): AsyncGenerator<Buffer> {
  let begin = 0
  for (const [i, event] of watcher.form.encodeSliced === undefined ? [] : events.entries()) {
    const type = typeFor(watcher.selection, event)
    if (type === undefined || !takesLong(watcher.form, event.objectFor(type))) continue
    yield* chunks.add(encodeMatching(watcher, events.slice(begin, i)))
    await event.encodeAhead(watcher.form, type)
    begin = i
  }
  yield* chunks.add(encodeMatching(watcher, begin === 0 ? events : events.slice(begin)))
}

function* added(watcher: Watcher, objects: readonly CachedObject[]): Generator<readonly Buffer[]> {
  for (const object of objects) {
    const form = watcher.nextForm()
    yield form.parts?.('ADDED', object) ?? [form.encode('ADDED', object)]
  }
}

/** Encodes the events that the watcher's selection matches. */
function* encodeMatching(watcher: Watcher, events: readonly CacheEvent[]): Generator<readonly Buffer[]> {
  for (const event of events) {
    const type = typeFor(watcher.selection, event)
    if (type !== undefined) yield [event.bytes(watcher.nextForm(), type)]
  }
}

function toldObjects({ selection }: Watcher, events: readonly CacheEvent[]): CachedObject[] {
  return events.flatMap((event) => {
    const type = typeFor(selection, event)
    return type === undefined ? [] : [event.objectFor(type)]
  })
}

function typeFor(selection: Selection, event: CacheEvent): EventType | undefined {
  return concerns(event, selection) ? event.typeFor(selection.matches) : undefined
}
