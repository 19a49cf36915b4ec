/**
 * The caches of all kinds, updated by one watch of the store.
 *
 * `start` loads a snapshot and then applies the changes in the log. Readers wait for `reached(revision)`, so that their
 * result is at least as new as the required revision. If the feed is interrupted, the caches are loaded again and all
 * watchers are closed. Their clients resume from a revision or list again. A watch that resumes from a revision before
 * the start of the event buffer reads the log. Such watches share reads where possible. An event buffer contains no
 * event older than the history retention time.
 *
 * Caches can be added and removed while the feed is running. After `add` and `fill`, a new cache is as current as all
 * others.
 *
 * A cache with many objects is loaded in the background. Until the cache is loaded, `fetch` reads single objects into
 * it, lists are read from the store, and watches wait for the cache.
 */
import { pause } from '../../base/concurrency/abort.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import {
  type Batch,
  type Change,
  RevisionGone,
  type Snapshot,
  type Store,
  StoreError,
  StoreRestored,
} from '../store/store.ts'
import type { CachedObject, OtherVersionReader } from './cached-object.ts'
import { EventBufferExtender } from './event-buffer-extender.ts'
import { KindCache, type Load } from './kind-cache.ts'
import { LateLoad } from './late-load.ts'
import { type LogChunk, LogChunks } from './log-chunks.ts'
import { Reservations, reservationsPrefix } from './reservations.ts'
import { type HistoryTime, RevisionTimes } from './revision-times.ts'
import { type SharedBytes, type Sharing, shareBlocks } from './shared-blocks.ts'
import type { Unreadable } from './unreadable.ts'

/** The prefix of all objects. Keys have the form `objects/<group>/<plural>/...`. */
const objectsPrefix = 'objects/'

export interface CacheListeners {
  /** Called when the feed is interrupted. The caches resume the feed themselves. */
  onError(error: unknown): void
  /** Called for each unreadable value that a load or a change contains. */
  onUnreadable(reserved: Unreadable): void
}

/** Settings of the caches. */
export interface CacheOptions {
  /** How long events are retained, in milliseconds. If undefined, only the memory limit removes events. */
  readonly eventRetention?: HistoryTime | undefined
  /** The workers that share memory with this worker. Undefined if no memory is shared. */
  readonly sharing?: Sharing | undefined
  /**
   * Whether a kind can be loaded in the background. The server itself must never read all objects of such a kind, and
   * must fetch a single object before reading it. Undefined disables background loading.
   */
  readonly mayLoadLater?: ((prefix: string) => boolean) | undefined
}

const loadPage = 1000
const retryMs = 500

/** The caches of all kinds and the watch that updates them. */
export class Caches {
  /** The caches contain all changes up to this revision. */
  revision = 0
  /** The addresses and ports that objects reserve from shared pools. */
  readonly reservations = new Reservations()
  readonly #store: Store
  readonly #byPrefix = new Map<string, KindCache>()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<{ revision: number; resolve: () => void }>()
  readonly #listeners: CacheListeners
  readonly #log: LogChunks
  /** Caches that were added while the feed was running and are not loaded yet. */
  readonly #late = new Map<KindCache, LateLoad>()
  #eventBuffers: EventBufferExtender
  #started = false
  /**
   * Incremented when a reload of all caches starts and again when the reload completes, so that a concurrent load can
   * detect it.
   */
  #epoch = 0
  #feed: Promise<void> = Promise.resolve()
  /** The reason why the caches must be reloaded before they apply more changes. Undefined if no reload is needed. */
  #fault: string | undefined = 'the store has not been read yet'
  /** Finds the events that are older than the retention time. Undefined if only the memory limit removes events. */
  readonly #times: RevisionTimes | undefined
  /** The memory that is shared with other workers. Undefined if no memory is shared. */
  readonly #sharedBytes: SharedBytes | undefined
  readonly #mayLoadLater: (prefix: string) => boolean
  /** Caches that are loaded in the background, one after another. */
  readonly #deferred: KindCache[] = []
  #background: Promise<void> | undefined
  #mayLoadRest = false

  constructor(store: Store, listeners: CacheListeners, { eventRetention, sharing, mayLoadLater }: CacheOptions = {}) {
    this.#mayLoadLater = mayLoadLater ?? (() => false)
    this.#store = store
    this.#listeners = listeners
    this.#times = eventRetention && new RevisionTimes(eventRetention)
    this.#sharedBytes =
      sharing && shareBlocks(sharing, { get: (key) => this.#cacheOf(key)?.get(key), all: () => this.#objects() })
    this.#log = new LogChunks(store, objectsPrefix)
    this.#eventBuffers = this.#backlogAt(0)
  }

  /** The reason why the caches are invalid. Undefined if they are valid. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** A number that changes whenever all caches are reloaded, for example after the store was restored. */
  get epoch(): number {
    return this.#epoch
  }

  /** Number of watchers of all kinds. */
  get watchers(): number {
    return this.#byPrefix.values().reduce((sum, { watchers }) => sum + watchers, 0)
  }

  /**
   * Returns the cache of a kind and creates it on first use. A cache created after `start` is empty until `fill` has
   * resolved. `otherVersions` reads objects that servers of other Kubernetes versions wrote.
   */
  add(group: string, plural: string, otherVersions?: OtherVersionReader): KindCache {
    const prefix = prefixOf(group, plural)
    const existingCache = this.#byPrefix.get(prefix)
    if (existingCache !== undefined) return existingCache
    const cache = new KindCache(prefix, this.#listeners.onUnreadable, otherVersions)
    this.#byPrefix.set(prefix, cache)
    if (this.#started) this.#late.set(cache, new LateLoad(cache))
    return cache
  }

  find(group: string, plural: string): KindCache | undefined {
    return this.#byPrefix.get(prefixOf(group, plural))
  }

  /**
   * Resolves when a cache that was added late has caught up with the other caches. Resolves immediately if the cache is
   * already loaded. Throws StoreError.
   */
  async fill(cache: KindCache): Promise<void> {
    await cache.whenLoaded()
    while (this.#late.has(cache)) await this.#loadLate(cache)
    // The cache may have been loaded at a revision that the feed has not reached yet, so wait for the feed.
    while (this.revision < cache.floor && !this.#stop.signal.aborted) await this.reached(cache.floor, retryMs)
  }

  /** Like `fill`, but loads a cache in the background if it has many objects. */
  async open(cache: KindCache): Promise<void> {
    if (this.#late.has(cache) && this.#mayLoadLater(cache.prefix)) {
      const { remaining } = await this.#store.list({ prefix: cache.prefix, limit: loadPage, count: false })
      if (remaining > 0 && this.#late.has(cache)) {
        this.#defer(cache)
        return
      }
    }
    await this.fill(cache)
  }

  /**
   * Reads the given object into a cache that is still being loaded in the background. Returns undefined if the cache
   * already contains the object. Throws StoreError.
   */
  fetch(cache: KindCache, key: string): Promise<void> | undefined {
    return cache.knows(key) ? undefined : this.#store.get(key).then((entry) => cache.admit(key, entry))
  }

  /** Removes a cache and ends its watches. The cache must not be read afterwards. */
  remove(cache: KindCache): void {
    if (this.#byPrefix.get(cache.prefix) === cache) this.#byPrefix.delete(cache.prefix)
    this.#late.delete(cache)
    cache.retire()
  }

  /** Returns the unreadable values of all kinds. */
  unreadable(): Unreadable[] {
    return [...this.#byPrefix.values()].flatMap((cache) => cache.allUnreadable())
  }

  async start(): Promise<void> {
    this.#started = true
    await this.#load({ isFirst: true })
    this.#feed = this.#run()
  }

  /**
   * Starts loading the caches with many objects in the background. The server calls this method when it is ready for
   * requests.
   */
  loadRest(): void {
    this.#mayLoadRest = true
    this.#background ??= this.#loadDeferred().finally(() => {
      this.#background = undefined
    })
  }

  /** Resolves to true when the caches contain all changes up to `revision`, and to false after `timeoutMs`. */
  async reached(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.revision >= revision) return true
    return await new Promise((resolve) => {
      const waiter = { revision, resolve: () => done(true) }
      const timer = setTimeout(() => done(false), timeoutMs)
      const done = (outcome: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        resolve(outcome)
      }
      this.#waiting.add(waiter)
    })
  }

  /**
   * Fills a cache's event buffer with older events, back to the given revision if possible. The event buffers of all
   * caches are filled together. Throws RevisionGone if the revision is before the history window.
   */
  async lookBack(cache: KindCache, revision: number): Promise<void> {
    await this.#eventBuffers.reach(cache, revision)
  }

  /**
   * Returns the chunk of the log that follows a revision, which must be before the start of the cache's event buffer.
   */
  async readLog(cache: KindCache, after: number): Promise<LogChunk> {
    return await this.#log.read(after, cache.floor)
  }

  /**
   * Drops events that are older than the history retention time. Watches can then no longer resume before these events.
   */
  forgetOutdated(): void {
    const outdated = this.#times?.outdated() ?? 0
    if (outdated > 0) for (const cache of this.#byPrefix.values()) cache.forgetUpTo(outdated)
  }

  /** Ends all current and future watches. Reads still work. */
  endWatches(): void {
    for (const cache of this.#byPrefix.values()) cache.endWatches()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#sharedBytes?.close()
    this.#log.close()
    this.endWatches()
    await this.#feed
    await this.#background
  }

  /** Loads all current caches. Caches that are added in the meantime are loaded separately. */
  async #load({ isFirst = false } = {}): Promise<void> {
    this.#epoch++
    const loads = new Map([...this.#byPrefix.values()].map((cache) => [cache, cache.beginLoad()]))
    let revision = 0
    const large = new Set<string>()
    for await (const page of this.#pages(objectsPrefix, isFirst ? large : undefined)) {
      this.#take(page, loads)
      revision = page.revision
    }
    const reserved = await this.#store.list({ prefix: reservationsPrefix, revision, count: false })
    this.#epoch++
    for (const [cache, load] of loads) {
      this.#late.delete(cache)
      if (large.has(cache.prefix)) {
        this.#late.set(cache, new LateLoad(cache))
        this.#defer(cache)
        continue
      }
      cache.loaded(load, revision)
      this.#sharedBytes?.loaded(cache.all())
    }
    this.reservations.load(reserved.entries)
    this.#eventBuffers = this.#backlogAt(revision)
    this.#fault = undefined
    this.#advance(revision)
  }

  /** Loads a cache that was added late, in the background. */
  #defer(cache: KindCache): void {
    cache.beginPartial()
    this.#deferred.push(cache)
    if (this.#mayLoadRest) this.loadRest()
  }

  async #loadDeferred(): Promise<void> {
    const { signal } = this.#stop
    for (let cache = this.#deferred[0]; cache !== undefined && !signal.aborted; cache = this.#deferred[0]) {
      try {
        while (this.#late.has(cache) && !signal.aborted) await this.#loadLate(cache)
        this.#deferred.shift()
      } catch (error) {
        if (signal.aborted) return
        this.#listeners.onError(error)
        await pause(retryMs, signal)
      }
    }
  }

  /**
   * Loads a cache that was added late. If all caches are reloaded in the meantime, changes may be missing. In that
   * case, returns without a result, and the caller tries again.
   */
  async #loadLate(cache: KindCache): Promise<void> {
    const late = new LateLoad(cache)
    this.#late.set(cache, late)
    const epoch = this.#epoch
    let revision = 0
    for await (const page of this.#pages(cache.prefix)) {
      await late.take(page.entries)
      revision = page.revision
    }
    // The list may be newer than the feed. If the server returned its objects before the feed caught up, it would
    // report them with an older resourceVersion.
    while (cache.isLoading && this.revision < revision && !this.#stop.signal.aborted)
      await this.reached(revision, retryMs)
    if (this.#late.get(cache) !== late || this.#epoch !== epoch) return
    this.#late.delete(cache)
    late.finish(revision)
    this.#sharedBytes?.loaded(cache.all())
  }

  #backlogAt(revision: number): EventBufferExtender {
    return new EventBufferExtender(() => this.#byPrefix.values(), this.#log, revision)
  }

  /**
   * Adds entries to the caches to which they belong. Entries are sorted by key, so consecutive entries usually belong
   * to the same kind.
   */
  #take({ entries }: Snapshot, loads: ReadonlyMap<KindCache, Load>): void {
    let cache: KindCache | undefined
    let load: Load | undefined
    for (const entry of entries) {
      if (cache === undefined || !entry.key.startsWith(cache.prefix)) {
        cache = this.#cacheOf(entry.key)
        load = cache && loads.get(cache)
      }
      if (load !== undefined) cache!.load(load, entry)
    }
  }

  /**
   * Yields all entries under a prefix in pages, as of one revision. Reads the next page while the caller processes the
   * current page. If `large` is given, skips kinds that fill a whole page and may be loaded in the background, and adds
   * these kinds to the set `large`.
   */
  async *#pages(prefix: string, large?: Set<string>): AsyncGenerator<Snapshot> {
    let page: Snapshot | undefined = await this.#store.list({ prefix, limit: loadPage, count: false })
    while (page !== undefined) {
      const next = this.#pageAfter(prefix, page, large)
      // Prevents an unhandled rejection while the caller processes the page. The `await` below throws the error.
      next?.catch(() => {})
      yield page
      page = await next
    }
  }

  #pageAfter(
    prefix: string,
    { entries, remaining, revision }: Snapshot,
    large: Set<string> | undefined,
  ): Promise<Snapshot> | undefined {
    const last = entries.at(-1)?.key
    if (remaining === 0 || last === undefined) return undefined
    const kind = kindPrefixOf(last)
    const isLarge = large !== undefined && entries[0]!.key.startsWith(kind) && this.#mayLoadLater(kind)
    if (isLarge) large.add(kind)
    // The keys of the kind start with a prefix that ends with a slash. Replacing the slash with `0`, the next
    // character, yields the first string after all these keys.
    const after = isLarge ? `${kind.slice(0, -1)}0` : last
    return this.#store.list({ prefix, limit: loadPage, count: false, after, revision })
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#fault !== undefined) await this.#load()
        await this.#follow()
      } catch (error) {
        if (this.#stop.signal.aborted) return
        this.#listeners.onError(error)
        // A gap in the log forces a reload. After any other error, the feed resumes where it stopped.
        if (error instanceof RevisionGone || !(error instanceof StoreError)) this.#fault ??= faultOf(error)
        await pause(retryMs, this.#stop.signal)
      }
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    const batches = this.#store.watch({ prefix: '', after: this.revision, signal })
    for await (const batch of batches) await this.#handAll(batch)
  }

  /**
   * Applies a batch of changes. Each change is encoded for all watchers of its kind, so long batches yield to other
   * tasks. Changes of one revision are applied together. No other task runs between a change and the update of
   * `revision`. Otherwise, a list at that moment would report a resourceVersion that is older than its content.
   */
  async #handAll({ changes, through }: Batch): Promise<void> {
    const timeSlice = new TimeSlice()
    let last: number | undefined
    for (const change of changes) {
      const rest = last !== undefined && change.revision > last ? timeSlice.yieldIfDue() : undefined
      if (rest !== undefined) {
        this.#advance(last!)
        await rest
      }
      this.#hand(change)
      last = change.revision
    }
    this.#advance(through)
  }

  #hand(change: Change): void {
    const cache = this.#cacheOf(change.key)
    const late = cache && this.#late.size > 0 ? this.#late.get(cache) : undefined
    if (late !== undefined) {
      late.note(change)
      cache!.applyPartial(change)
    } else if (cache !== undefined) this.#apply(cache, change)
    else if (change.key.startsWith(reservationsPrefix)) this.reservations.apply(change)
  }

  #apply(cache: KindCache, change: Change): void {
    cache.apply(change)
    const object = this.#sharedBytes && cache.get(change.key)
    if (object !== undefined) this.#sharedBytes!.changed(object)
  }

  *#objects(): Generator<CachedObject> {
    for (const cache of this.#byPrefix.values()) yield* cache.all()
  }

  #advance(revision: number): void {
    this.revision = revision
    if (this.#times?.note(revision)) this.forgetOutdated()
    for (const waiter of [...this.#waiting]) if (waiter.revision <= revision) waiter.resolve()
  }

  /**
   * Returns the cache that a key belongs to: for `objects/core/configmaps/a/b`, the cache of
   * `objects/core/configmaps/`. Returns undefined for kinds that are not served.
   */
  #cacheOf(key: string): KindCache | undefined {
    return key.startsWith(objectsPrefix) ? this.#byPrefix.get(kindPrefixOf(key)) : undefined
  }
}

/** Returns the prefix of the kind that an object's key belongs to. */
function kindPrefixOf(key: string): string {
  const group = key.indexOf('/', objectsPrefix.length)
  const plural = key.indexOf('/', group + 1)
  return key.slice(0, plural + 1)
}

/** Returns the prefix of a kind's keys. */
export function prefixOf(group: string, plural: string): string {
  return `${objectsPrefix}${group}/${plural}/`
}

function faultOf(error: unknown): string {
  return error instanceof StoreRestored ? error.message : 'cannot watch the store'
}
