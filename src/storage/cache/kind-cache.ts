/**
 * The cache of one kind: all its objects as of `revision`, its event buffer, and its watchers.
 *
 * The cache is filled by a load, again after the feed was interrupted, and then updated by `apply` in revision order.
 * The cache works with keys and bytes and does not interpret the kind. Reads are plain memory lookups, so all reads in
 * one turn of the event loop are consistent. Longer reads return the state at their start.
 *
 * A large cache is loaded after the server is ready. Until it is loaded, it contains only the objects that requests
 * have fetched or that have changed (`partial-objects.ts`). A read of any other object throws 503 instead of reporting
 * the object as missing.
 */

import { HeaderReader, UnreadableValue } from '../../api/codec/stored.ts'
import { SortedMap } from '../../base/collections/sorted-map.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Change, Entry } from '../store/store.ts'
import { type CachedObject, type ObjectReader, type OtherVersionReader, readStored } from './cached-object.ts'
import { CacheEvent, type EventForm, type Matches } from './event.ts'
import { PartialObjects } from './partial-objects.ts'
import { type IndexDemand, SelectorIndex } from './selector-index.ts'
import { Unreadable } from './unreadable.ts'
import { type Selection, Watcher } from './watcher.ts'

const maxEvents = 4096
const maxEventBytes = 64 * 1024 * 1024
/** Maximum number of indexed labels and fields per kind. Selectors on other labels and fields scan all objects. */
const maxIndexes = 16
/**
 * Maximum number of objects that an index returns, because an index returns all of them at once. Queries with more
 * matches scan the objects in slices instead.
 */
const maxIndexed = 5000

/** The objects of one kind, its event buffer, and its watchers. */
export class KindCache {
  /** The prefix of all store keys of the kind. */
  readonly prefix: string
  /** The revision after which `#events` contains all events. */
  #floor = 0
  /** The revision of the last known change of this kind. */
  changedAt = 0
  /** Whether the feed no longer updates this cache, so its content is out of date. */
  retired = false
  /** Number of loads. Data that was derived from the objects of an earlier load is invalid. */
  loads = 0
  #events: CacheEvent[] = []
  #eventBytes = 0
  #ended = false
  #objects = new SortedMap<CachedObject>()
  /** Stored values that cannot be decoded, by key. */
  #unreadable = new Map<string, Unreadable>()
  /** The revision of the loaded snapshot, which contains all changes up to that revision. */
  #loadedAt = 0
  /** The selector indexes, by label or field. */
  readonly #indexes = new Map<string, SelectorIndex>()
  /** Watchers by namespace. The key '' is for watchers of all namespaces. */
  readonly #watchers = new Map<string, Set<Watcher>>()
  readonly #listeners = new Set<ChangeListener>()

  /** One reader for single objects and one for objects that are loaded in sequence. */
  readonly #single: ObjectReader
  readonly #inRow: ObjectReader

  readonly #onUnreadable: (entry: Unreadable) => void
  /** The known objects while the cache is loaded in the background. Undefined at other times. */
  #partial: PartialObjects | undefined

  constructor(prefix: string, onUnreadable: (entry: Unreadable) => void, otherVersions?: OtherVersionReader) {
    this.prefix = prefix
    this.#onUnreadable = onUnreadable
    const headers = new HeaderReader()
    this.#single = { prefix, headers, allocate: Buffer.allocUnsafeSlow, otherVersions }
    this.#inRow = { prefix, headers, allocate: Buffer.allocUnsafe, otherVersions }
  }

  get size(): number {
    return this.#objects.size
  }

  /** Number of watchers of the kind. */
  get watchers(): number {
    return this.#watchers.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** Returns the number of watchers of a namespace, including watchers of all namespaces. */
  watchersOf(namespace: string): number {
    const ofAll = this.#watchers.get('')?.size ?? 0
    return namespace === '' ? ofAll : ofAll + (this.#watchers.get(namespace)?.size ?? 0)
  }

  /** The revision at which the event buffer starts. A watch from an older revision needs the store's log. */
  get floor(): number {
    return this.#floor
  }

  /** Whether the cache contains only some of its objects because it is loaded in the background. */
  get isLoading(): boolean {
    return this.#partial !== undefined
  }

  /** Resolves when the cache is loaded. Returns undefined if the cache is already loaded. */
  whenLoaded(): Promise<void> | undefined {
    return this.#partial?.loaded
  }

  /** Starts to serve the cache before it is loaded. */
  beginPartial(): void {
    this.#partial ??= new PartialObjects()
  }

  /** Whether the cache contains the object or knows that the object does not exist. */
  knows(key: string): boolean {
    return this.#partial === undefined || this.#partial.knows(key)
  }

  /** Adds an object that was read from the store, or records that the object does not exist. */
  admit(key: string, entry: Entry | undefined): void {
    if (entry === undefined) this.#partial?.miss(key)
    else if (this.#partial?.advance(key, entry.revision))
      this.#loadInto({ objects: this.#objects, unreadable: this.#unreadable }, entry)
  }

  /**
   * Applies a change while the cache is loaded in the background. The change produces no event, because there are no
   * watchers.
   */
  applyPartial({ key, revision, value }: Change): void {
    if (!this.#partial?.advance(key, revision)) return
    this.#objects.delete(key)
    this.#unreadable.delete(key)
    if (value !== undefined)
      this.#loadInto({ objects: this.#objects, unreadable: this.#unreadable }, { key, revision, value })
  }

  /** Starts loading a snapshot. The snapshot stays invisible until it is passed to `loaded`. */
  beginLoad(): Load {
    return { objects: new SortedMap(), unreadable: new Map() }
  }

  /** Adds an object to the snapshot. Objects loaded in sequence share blocks of memory to save space. */
  load(load: Load, entry: Entry): void {
    this.#loadInto(load, entry)
  }

  #loadInto(load: Load, { key, revision, value }: Entry): void {
    try {
      load.objects.set(key, readStored(this.#inRow, key, revision, value))
    } catch (error) {
      this.#setAside(load.unreadable, { key, revision }, error)
    }
  }

  /**
   * Replaces the content with the complete snapshot of the given revision. Ends all watches, because the events in
   * between are missing.
   */
  loaded({ objects, unreadable }: Load, revision: number): void {
    this.closeWatchers()
    this.loads++
    this.#objects = objects
    this.#unreadable = unreadable
    this.#indexes.clear()
    this.#events = []
    this.#eventBytes = 0
    this.#floor = revision
    this.#loadedAt = revision
    this.changedAt = revision
    this.#partial?.end()
    this.#partial = undefined
    this.#notify(undefined)
  }

  apply(change: Change): void {
    // A cache that was loaded later can briefly be ahead of the others, so it may already contain the change.
    if (change.revision <= this.#loadedAt) return
    this.#unreadable.delete(change.key)
    try {
      this.#applySound(change)
    } catch (error) {
      this.#setAside(this.#unreadable, change, error)
      this.#lose(change)
    }
    this.#notify(change.key)
  }

  /**
   * Calls `listener` after every change with the key of the object, or without a key if any object may have changed.
   */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #notify(key: string | undefined): void {
    if (this.#listeners.size > 0) for (const listener of [...this.#listeners]) listener(key)
  }

  #applySound(change: Change): void {
    const previous = this.#objects.get(change.key)
    const event = this.event(change, previous)
    if (event === undefined) return
    this.#replace(change.key, previous, event.deleted ? undefined : event.object)
    this.changedAt = change.revision
    this.#remember(event)
    this.#notifyWatchers(event)
  }

  #setAside(among: Map<string, Unreadable>, entry: { key: string; revision: number }, error: unknown): void {
    if (!(error instanceof UnreadableValue)) throw error
    const unreadable = new Unreadable(this.prefix, entry, error)
    among.set(entry.key, unreadable)
    this.#onUnreadable(unreadable)
  }

  /**
   * Handles an object that was replaced by an unreadable value. No event can express this change, so watches end and
   * their clients list again.
   */
  #lose({ key, revision }: Change): void {
    this.#replace(key, this.#objects.get(key), undefined)
    this.#events = []
    this.#eventBytes = 0
    this.#floor = revision
    this.changedAt = revision
    this.closeWatchers()
  }

  /** Creates the event of a change from the objects before and after it. Throws UnreadableValue. */
  event(change: Change, previous: CachedObject | undefined): CacheEvent | undefined {
    if (change.value !== undefined)
      return new CacheEvent(this.read(change.key, change.revision, change.value), previous, false)
    return previous && new CacheEvent(previous.withRevision(change.revision), previous, true)
  }

  /** Decodes a stored object of the kind, in its current or an earlier state. Throws UnreadableValue. */
  read(key: string, revision: number, value: Uint8Array): CachedObject {
    return readStored(this.#single, key, revision, value)
  }

  /** Decodes an object like `read`, but returns undefined if the object cannot be decoded. */
  readIfSound(key: string, revision: number, value: Uint8Array): CachedObject | undefined {
    try {
      return this.read(key, revision, value)
    } catch (error) {
      if (error instanceof UnreadableValue) return undefined
      throw error
    }
  }

  /** Returns the unreadable value stored under the key, or undefined if there is no such value. */
  unreadable(key: string): Unreadable | undefined {
    return this.#unreadable.get(key)
  }

  /** Returns all unreadable values in the namespace, or in all namespaces. */
  allUnreadable(namespace?: string): Unreadable[] {
    if (this.#unreadable.size === 0) return []
    return [...this.#unreadable.values()].filter((entry) => namespace === undefined || entry.namespace === namespace)
  }

  /** Yields all objects of the state at the time of the call, regardless of the duration of the iteration. */
  *all(): Generator<CachedObject> {
    this.#partial?.assertWhole()
    for (const slice of this.#objects.slices(this.prefix)) yield* slice
  }

  get(key: string): CachedObject | undefined {
    this.#partial?.assertKnown(key)
    return this.#objects.get(key)
  }

  /** Returns the first objects in key order without filtering. Without a limit, returns all objects. */
  page(namespace: string | undefined, after?: string, limit?: number): CachedObject[] {
    this.#partial?.assertWhole()
    return this.#objects.withPrefix(this.#prefixOf(namespace), after, limit)
  }

  /**
   * Yields objects in key order, in slices. All slices belong to the state at the time of the call, regardless of the
   * duration of the iteration.
   */
  slices({ namespace, matches, after, demand }: ObjectQuery): Iterable<CachedObject[]> {
    this.#partial?.assertWhole()
    const prefix = this.#prefixOf(namespace)
    const indexed = demand && this.#indexOf(demand)?.find(demand.values, maxIndexed)
    const slices = indexed ? [within(indexed, prefix, after)] : this.#objects.slices(prefix, after)
    return matches === undefined ? slices : filtered(slices, matches)
  }

  /**
   * Returns the number of objects in the namespace, or in all namespaces. With a key, counts only the objects after the
   * key.
   */
  countAfter(namespace: string | undefined, after?: string): number {
    this.#partial?.assertWhole()
    const prefix = this.#prefixOf(namespace)
    // The prefix ends in a slash. Replacing the slash with `0`, the next character, yields the first string after all
    // keys with the given prefix.
    return this.#objects.countBetween(after ?? prefix, `${prefix.slice(0, -1)}0`)
  }

  /**
   * Returns the next events after a revision that is not before `floor`. The result may exceed `limit` to complete a
   * revision.
   */
  eventsAfter(revision: number, limit: number): CacheEvent[] {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#events[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    let end = Math.min(low + limit, this.#events.length)
    while (end < this.#events.length && this.#events[end]!.revision === this.#events[end - 1]!.revision) end++
    return this.#events.slice(low, end)
  }

  /**
   * Adds the events between `after` and `until` to the start of the event buffer, if the buffer starts at `until`.
   * Events up to `lost` may be missing.
   */
  prepend({ until, after, events, lost }: Earlier): void {
    if (this.#floor !== until) return
    const fitting = this.#fitting(events)
    this.#floor = events[events.length - fitting.length - 1]?.revision ?? lost ?? after
    // If the kind has not changed since the snapshot, its last change is among the added events or at the floor.
    if (this.changedAt === until) this.changedAt = events.at(-1)?.revision ?? this.#floor
    this.#eventBytes += fitting.reduce((sum, event) => sum + weight(event), 0)
    this.#events = [...fitting, ...this.#events]
  }

  /** Returns the newest of the events, as many as fit. */
  #fitting(events: readonly CacheEvent[]): readonly CacheEvent[] {
    let room = maxEventBytes - this.#eventBytes
    let first = events.length
    while (first > 0 && events.length - first < maxEvents - this.#events.length) {
      room -= weight(events[first - 1]!)
      if (room < 0) break
      first--
    }
    return events.slice(first)
  }

  /** Creates a watcher, which receives no events until its `begin` is called. */
  watch(selection: Selection, form: EventForm): Watcher {
    this.#partial?.assertWhole()
    const scope = selection.namespace ?? ''
    const watcher = new Watcher(selection, form, () => this.#forget(scope, watcher))
    const watchers = this.#watchers.get(scope) ?? new Set()
    this.#watchers.set(scope, watchers.add(watcher))
    if (this.#ended) watcher.close()
    return watcher
  }

  /** Ends all current and future watches because the server is stopping. */
  endWatches(): void {
    this.#ended = true
    this.closeWatchers()
  }

  /** Retires the cache because the kind is no longer served. The feed no longer updates the cache. */
  retire(): void {
    this.retired = true
    this.#ended = true
    this.finishWatches()
  }

  /** Ends every watch after it has sent all current events. */
  finishWatches(): void {
    for (const watchers of [...this.#watchers.values()]) for (const watcher of [...watchers]) watcher.finish()
  }

  /** Ends every watch immediately because the feed was interrupted. */
  closeWatchers(): void {
    for (const watchers of [...this.#watchers.values()]) for (const watcher of [...watchers]) watcher.close()
  }

  #replace(key: string, previous: CachedObject | undefined, next: CachedObject | undefined): void {
    if (next === undefined) this.#objects.delete(key)
    else this.#objects.set(key, next)
    previous?.leaveBlock()
    for (const index of this.#indexes.values()) {
      if (previous) index.remove(previous)
      if (next) index.add(next)
    }
  }

  /**
   * Returns the index for a label or field. Returns undefined while the index is being built, or if there are too many
   * indexes.
   */
  #indexOf(demand: IndexDemand): SelectorIndex | undefined {
    const name = `${demand.source} ${demand.key}`
    if (!this.#indexes.has(name) && this.#indexes.size < maxIndexes) void this.#makeIndex(name, demand)
    const index = this.#indexes.get(name)
    return index?.complete ? index : undefined
  }

  /**
   * Builds an index at once if there are few objects, and in slices otherwise. Changes in the meantime update the index
   * as usual.
   */
  async #makeIndex(name: string, demand: IndexDemand): Promise<void> {
    const index = new SelectorIndex(demand)
    this.#indexes.set(name, index)
    const timeSlice = new TimeSlice()
    for (const slice of this.#objects.slices(this.prefix)) {
      for (const object of slice) if (this.#objects.get(object.key) === object) index.add(object)
      if (timeSlice.charge(slice.length)) await timeSlice.yieldIfDue()
      if (this.#indexes.get(name) !== index) return
    }
    index.complete = true
  }

  #prefixOf(namespace: string | undefined): string {
    return namespace === undefined ? this.prefix : `${this.prefix}${namespace}/`
  }

  #forget(scope: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(scope)
    watchers?.delete(watcher)
    if (watchers?.size === 0) this.#watchers.delete(scope)
  }

  #remember(event: CacheEvent): void {
    this.#events.push(event)
    this.#eventBytes += weight(event)
    if (this.#events.length > maxEvents || this.#eventBytes > maxEventBytes) this.#forgetOldest()
  }

  // Drops half of the events at once, because dropping many events together reduces the cost per event.
  #forgetOldest(): void {
    const { length } = this.#events
    let bytes = this.#eventBytes
    let dropped = 0
    while (dropped < length - 1 && (length - dropped > maxEvents / 2 || bytes > maxEventBytes / 2)) {
      bytes -= weight(this.#events[dropped]!)
      dropped++
    }
    this.#dropEvents(dropped)
  }

  /** Drops the events up to the given revision. */
  forgetUpTo(revision: number): void {
    if (this.#events.length === 0 || this.#events[0]!.revision > revision) return
    const first = this.#events.findIndex((event) => event.revision > revision)
    this.#dropEvents(first === -1 ? this.#events.length : first)
  }

  #dropEvents(count: number): void {
    for (const event of this.#events.slice(0, count)) this.#eventBytes -= weight(event)
    this.#floor = this.#events[count - 1]?.revision ?? this.#floor
    this.#events = this.#events.slice(count)
  }

  #notifyWatchers(event: CacheEvent): void {
    for (const scope of event.object.namespace === '' ? [''] : ['', event.object.namespace]) {
      for (const watcher of this.#watchers.get(scope) ?? []) if (concerns(event, watcher.selection)) watcher.push(event)
    }
  }
}

/** A snapshot that is being loaded. */
export interface Load {
  readonly objects: SortedMap<CachedObject>
  readonly unreadable: Map<string, Unreadable>
}

export type ChangeListener = (key: string | undefined) => void

export interface ObjectQuery {
  /** The namespace to select from. Undefined selects from all namespaces. */
  readonly namespace: string | undefined
  readonly matches?: Matches | undefined
  /** The key after which the selected objects start. */
  readonly after?: string | undefined
  /** The part of `matches` that an index can evaluate. */
  readonly demand?: IndexDemand | undefined
}

/** The events between two revisions, to add to the start of an event buffer. */
export interface Earlier {
  readonly after: number
  readonly until: number
  readonly events: readonly CacheEvent[]
  /** The revision up to which events did not fit and are missing. */
  readonly lost: number | undefined
}

function* filtered(slices: Iterable<CachedObject[]>, matches: Matches): Generator<CachedObject[]> {
  for (const slice of slices) yield slice.filter(matches)
}

function within(objects: readonly CachedObject[], prefix: string, after: string | undefined): CachedObject[] {
  return objects.filter(({ key }) => key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0))
}

/** The size of the event's object plus the size of its encoding as an event. */
export function weight({ object }: CacheEvent): number {
  return 2 * object.json.length
}

/** Whether the selection covers the namespace and the name of the event's object. Labels are not compared. */
export function concerns(event: CacheEvent, { namespace, name }: Selection): boolean {
  return (
    (namespace === undefined || event.object.namespace === namespace) &&
    (name === undefined || event.object.name === name)
  )
}
