/**
 * The cache of one kind: all objects of the kind as of `revision`, an event buffer, and the watchers.
 *
 * A load fills the cache, and after each interruption of the feed, another load refills it. After a load, `apply`
 * updates the cache in revision order. The cache works with keys and bytes and does not interpret the kind. Reads are
 * plain memory lookups, so all reads in one turn of the event loop are consistent. Longer reads return the state at the
 * time when they started.
 *
 * A large cache is loaded after the server is ready. Until it is loaded, it contains only the objects that requests
 * have fetched or that have changed (`partial-objects.ts`). A read of any other object throws 503 instead of reporting
 * the object as missing.
 */

import { HeaderReader, UnreadableValue } from '../../api/codec/stored.ts'
import { SortedMap } from '../../base/collections/sorted-map.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { Change, Entry } from '../store/store.ts'
import { type CachedObject, type ObjectReader, type OtherVersionReader, readStored } from './cached-object.ts'
import { CacheEvent, type EventForm, type Matches } from './event.ts'
import { type EarlierEvents, EventBuffer } from './event-buffer.ts'
import { PartialObjects } from './partial-objects.ts'
import type { IndexDemand } from './selector-index.ts'
import { SelectorIndexes } from './selector-indexes.ts'
import { Unreadable } from './unreadable.ts'
import { type Selection, Watcher } from './watcher.ts'
import { Watchers } from './watchers.ts'

/** The objects of one kind, with their event buffer and watchers. */
export class KindCache {
  /** The prefix of the kind's store keys. */
  readonly prefix: string
  /** The revision of the kind's last known change. */
  changedAt = 0
  /** Whether the kind is no longer served. The feed does not update a retired cache, so its content is out of date. */
  retired = false
  /** Incremented by each load, which invalidates everything that was derived from the earlier objects. */
  loads = 0
  readonly #events = new EventBuffer()
  readonly #watchers = new Watchers()
  #ended = false
  #objects = new SortedMap<CachedObject>()
  /** Stored values that cannot be decoded, by key. */
  #unreadable = new Map<string, Unreadable>()
  /** The revision of the loaded snapshot. The feed skips changes up to this revision. */
  #loadedAt = 0
  readonly #indexes = new SelectorIndexes({
    get: (key) => this.#objects.get(key),
    slices: () => this.#objects.slices(this.prefix),
  })
  readonly #listeners = new Set<ChangeListener>()

  /** Separate readers for single objects and for objects that are loaded in sequence. */
  readonly #single: ObjectReader
  readonly #inRow: ObjectReader

  readonly #onUnreadable: (entry: Unreadable) => void
  /** The objects that are known while the cache is being loaded in the background. Undefined at all other times. */
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
    return this.#watchers.size
  }

  /** Returns the number of watchers of a namespace, including watchers of all namespaces. */
  watchersOf(namespace: string): number {
    return this.#watchers.sizeOf(namespace)
  }

  /** The start of the event buffer. A watch that resumes at an older revision needs the store's log. */
  get floor(): number {
    return this.#events.floor
  }

  /** Whether the cache contains only some of the kind's objects because it is being loaded in the background. */
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
   * Applies a change while the cache is being loaded in the background. There are no watchers yet, so no event is
   * created.
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
    this.#events.restart(revision)
    this.#loadedAt = revision
    this.changedAt = revision
    this.#partial?.end()
    this.#partial = undefined
    this.#notify(undefined)
  }

  apply(change: Change): void {
    // Skips a change that the snapshot already contains. A cache that was added late can briefly be ahead of the feed.
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

  /** Resolves when the cache contains an object, or when the signal aborts. */
  async whenUsed(signal: AbortSignal): Promise<void> {
    if (this.size > 0 || this.isLoading || signal.aborted) return
    const used = Promise.withResolvers<void>()
    const disconnect = this.onChange(() => used.resolve())
    signal.addEventListener('abort', () => used.resolve(), { once: true })
    await used.promise
    disconnect()
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
    this.#events.push(event)
    this.#watchers.notify(event)
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
    this.#events.restart(revision)
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

  /** Returns the unreadable value stored under the key, or undefined if there is none. */
  unreadable(key: string): Unreadable | undefined {
    return this.#unreadable.get(key)
  }

  /** Returns all unreadable values in the namespace, or in all namespaces. */
  allUnreadable(namespace?: string): Unreadable[] {
    if (this.#unreadable.size === 0) return []
    return [...this.#unreadable.values()].filter((entry) => namespace === undefined || entry.namespace === namespace)
  }

  /** Yields all objects as of the time of the call, regardless of how long the iteration takes. */
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
   * Yields objects in key order, in slices. All slices reflect the state at the time of the call, regardless of how
   * long the iteration takes.
   */
  slices({ namespace, matches, after, demand }: ObjectQuery): Iterable<CachedObject[]> {
    this.#partial?.assertWhole()
    const prefix = this.#prefixOf(namespace)
    const indexed = demand && this.#indexes.find(demand)
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
   * Returns the next events after a revision, which must not be before `floor`. The result may exceed `limit` so that
   * it contains all events of a revision.
   */
  eventsAfter(revision: number, limit: number): CacheEvent[] {
    return this.#events.after(revision, limit)
  }

  /**
   * Inserts older events before the first event in the event buffer. Does nothing if the older events do not end where
   * the buffer starts.
   */
  prepend(earlier: EarlierEvents): void {
    if (!this.#events.prepend(earlier)) return
    // If the kind has not changed since the snapshot, the last of these events is the kind's last change. If there are
    // no events, the last change is no later than the start of the buffer.
    if (this.changedAt === earlier.until) this.changedAt = earlier.events.at(-1)?.revision ?? this.#events.floor
  }

  /** Drops the events up to the given revision from the event buffer. */
  forgetUpTo(revision: number): void {
    this.#events.dropUpTo(revision)
  }

  /** Creates a watcher, which receives no events until its `begin` is called. */
  watch(selection: Selection, form: EventForm): Watcher {
    this.#partial?.assertWhole()
    const watcher = new Watcher(selection, form, () => this.#watchers.delete(watcher))
    this.#watchers.add(watcher)
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
    this.#watchers.finish()
  }

  /** Ends every watch immediately because the feed was interrupted. */
  closeWatchers(): void {
    this.#watchers.close()
  }

  #replace(key: string, previous: CachedObject | undefined, next: CachedObject | undefined): void {
    if (next === undefined) this.#objects.delete(key)
    else this.#objects.set(key, next)
    previous?.leaveBlock()
    this.#indexes.replace(previous, next)
  }

  #prefixOf(namespace: string | undefined): string {
    return namespace === undefined ? this.prefix : `${this.prefix}${namespace}/`
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
  /** Selects only objects whose keys come after this key. */
  readonly after?: string | undefined
  /**
   * The label or field values that the selector requires, with which an index can narrow the search. Undefined if no
   * index can do so.
   */
  readonly demand?: IndexDemand | undefined
}

function* filtered(slices: Iterable<CachedObject[]>, matches: Matches): Generator<CachedObject[]> {
  for (const slice of slices) yield slice.filter(matches)
}

function within(objects: readonly CachedObject[], prefix: string, after: string | undefined): CachedObject[] {
  return objects.filter(({ key }) => key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0))
}
