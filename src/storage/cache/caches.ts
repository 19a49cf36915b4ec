/**
 * The caches of all kinds, fed by one watch over the store.
 *
 * `start` loads a snapshot and follows the log from there. Readers ask `reached(revision)` before they answer, so
 * that what they read is at least as new as the revision they must not be older than. When the feed breaks the caches
 * are loaded again and watchers are closed: their clients resume by revision or list again. For those who resume from
 * before a cache's window there is the log, read once for all of them where that can be. A window holds no event that is
 * older than history is kept.
 *
 * Caches may be added and removed while the feed runs: `add`, then `fill`, and the new one is as far as all others.
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
import { Backlog } from './backlog.ts'
import { KindCache, type Load } from './kind-cache.ts'
import { LateLoad } from './late-load.ts'
import { type LogChunk, LogChunks } from './log-chunks.ts'
import { Reservations, reservationsPrefix } from './reservations.ts'
import { type HistoryTime, RevisionTimes } from './revision-times.ts'
import { type SharedBytes, type Sharing, shareBlocks } from './shared-blocks.ts'
import type { Unreadable } from './unreadable.ts'

/** Every object's key is `objects/<group>/<plural>/...`. */
const objectsPrefix = 'objects/'

export interface CacheListeners {
  /** The feed broke; it is taken up again. */
  onError(error: unknown): void
  /** Met while loading, or in a change. */
  onUnreadable(held: Unreadable): void
}

/** What may be left out. */
export interface CacheOptions {
  /** How long events are kept; absent: as long as there is room for them. */
  readonly kept?: HistoryTime | undefined
  /** Absent: no other worker has the same objects. */
  readonly sharing?: Sharing | undefined
}

const loadPage = 1000
const retryMs = 500

/** The caches of all kinds, and the watch that feeds them. */
export class Caches {
  /** Everything up to this revision is in the caches. */
  revision = 0
  /** What the objects hold of pools. */
  readonly reservations = new Reservations()
  readonly #store: Store
  readonly #byPrefix = new Map<string, KindCache>()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<{ revision: number; resolve: () => void }>()
  readonly #listeners: CacheListeners
  readonly #log: LogChunks
  /** Caches that were added while the feed runs and are not loaded yet. */
  readonly #late = new Map<KindCache, LateLoad>()
  #backlog: Backlog
  #started = false
  /** Moves on when all caches begin to be loaded, and when they are. */
  #epoch = 0
  #feed: Promise<void> = Promise.resolve()
  /** Why the caches must be loaded again before they take in more changes; undefined: they need not. */
  #fault: string | undefined = 'the store has not been read yet'
  /** Undefined: events are kept as long as there is room for them. */
  readonly #times: RevisionTimes | undefined
  /** Undefined: no other worker has the same objects. */
  readonly #sharedBytes: SharedBytes | undefined

  constructor(store: Store, listeners: CacheListeners, { kept, sharing }: CacheOptions = {}) {
    this.#store = store
    this.#listeners = listeners
    this.#times = kept && new RevisionTimes(kept)
    this.#sharedBytes = sharing && shareBlocks(sharing, { get: (key) => this.#cacheOf(key)?.get(key) })
    this.#log = new LogChunks(store, objectsPrefix)
    this.#backlog = this.#backlogAt(0)
  }

  /** Why the caches are void; undefined: they are not. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** Differs when all caches were loaded anew meanwhile, as after a restore of the store. */
  get epoch(): number {
    return this.#epoch
  }

  /** How many watchers there are, of all kinds. */
  get watchers(): number {
    return this.#byPrefix.values().reduce((sum, { watchers }) => sum + watchers, 0)
  }

  /** The cache of a kind, made on first use. One that is made after `start` holds nothing before `fill` has resolved. */
  add(group: string, plural: string): KindCache {
    const prefix = prefixOf(group, plural)
    const known = this.#byPrefix.get(prefix)
    if (known !== undefined) return known
    const cache = new KindCache(prefix, this.#listeners.onUnreadable)
    this.#byPrefix.set(prefix, cache)
    if (this.#started) this.#late.set(cache, new LateLoad(cache))
    return cache
  }

  find(group: string, plural: string): KindCache | undefined {
    return this.#byPrefix.get(prefixOf(group, plural))
  }

  /** Resolves when a cache that was added late is as far as all others; at once for any other. Throws StoreError. */
  async fill(cache: KindCache): Promise<void> {
    while (this.#late.has(cache)) await this.#loadLate(cache)
    // The list may be of a later revision than the feed has come to.
    while (this.revision < cache.floor && !this.#stop.signal.aborted) await this.reached(cache.floor, retryMs)
  }

  /** Lets go of a cache: its watches end, and nobody may read from it any more. */
  remove(cache: KindCache): void {
    if (this.#byPrefix.get(cache.prefix) === cache) this.#byPrefix.delete(cache.prefix)
    this.#late.delete(cache)
    cache.retire()
  }

  /** What is stored and cannot be read, of all kinds. */
  unreadable(): Unreadable[] {
    return [...this.#byPrefix.values()].flatMap((cache) => cache.allUnreadable())
  }

  async start(): Promise<void> {
    this.#started = true
    await this.#load()
    this.#feed = this.#run()
  }

  /** Resolves true once the caches hold everything up to `revision`, false after `timeoutMs`. */
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
   * Lets the window of a cache begin at this revision, if that can be done for all caches at once. Throws RevisionGone
   * when the log begins later.
   */
  async lookBack(cache: KindCache, revision: number): Promise<void> {
    await this.#backlog.reach(cache, revision)
  }

  /** The log after a revision before a cache's window, as far as one piece goes. */
  async readLog(cache: KindCache, after: number): Promise<LogChunk> {
    return await this.#log.read(after, cache.floor)
  }

  /** Drops the events that are older than history is kept: watches from before them are too old. */
  forgetOutdated(): void {
    const outdated = this.#times?.outdated() ?? 0
    if (outdated > 0) for (const cache of this.#byPrefix.values()) cache.forgetUpTo(outdated)
  }

  /** Ends every watch, those to come as well; reads go on. */
  endWatches(): void {
    for (const cache of this.#byPrefix.values()) cache.endWatches()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#sharedBytes?.close()
    this.#log.close()
    this.endWatches()
    await this.#feed
  }

  /** Of the caches there are now; one that is added meanwhile has a load of its own. */
  async #load(): Promise<void> {
    this.#epoch++
    const loads = new Map([...this.#byPrefix.values()].map((cache) => [cache, cache.beginLoad()]))
    let revision = 0
    for await (const page of this.#pages(objectsPrefix)) {
      this.#take(page, loads)
      revision = page.revision
    }
    const held = await this.#store.list({ prefix: reservationsPrefix, revision, count: false })
    this.#epoch++
    for (const [cache, load] of loads) {
      this.#late.delete(cache)
      cache.loaded(load, revision)
      this.#sharedBytes?.loaded(cache.all())
    }
    this.reservations.load(held.entries)
    this.#backlog = this.#backlogAt(revision)
    this.#fault = undefined
    this.#advance(revision)
  }

  /** When all caches are loaded anew meanwhile there is a gap in what was noted: then it is for another try. */
  async #loadLate(cache: KindCache): Promise<void> {
    const late = new LateLoad(cache)
    this.#late.set(cache, late)
    const epoch = this.#epoch
    let revision = 0
    for await (const page of this.#pages(cache.prefix)) {
      await late.take(page.entries)
      revision = page.revision
    }
    if (this.#late.get(cache) !== late || this.#epoch !== epoch) return
    this.#late.delete(cache)
    late.finish(revision)
    this.#sharedBytes?.loaded(cache.all())
  }

  #backlogAt(revision: number): Backlog {
    return new Backlog(() => this.#byPrefix.values(), this.#log, revision)
  }

  /** Entries come in the order of their keys, so one belongs to the same kind as the one before it, most of the time. */
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

  /** All that is stored under a prefix, as of one revision. The store reads the next page while one is taken in. */
  async *#pages(prefix: string): AsyncGenerator<Snapshot> {
    let page: Snapshot | undefined = await this.#store.list({ prefix, limit: loadPage, count: false })
    while (page !== undefined) {
      const next = this.#pageAfter(prefix, page)
      // Should that fail, it is told where it is awaited.
      next?.catch(() => {})
      yield page
      page = await next
    }
  }

  #pageAfter(prefix: string, { entries, remaining, revision }: Snapshot): Promise<Snapshot> | undefined {
    const after = entries.at(-1)?.key
    if (remaining === 0 || after === undefined) return undefined
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
        // A gap in the log cannot be bridged; anything else resumes where it stopped.
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
   * Each change is encoded for all who watch its kind, so that many take their time. Those of one revision belong together.
   * Nobody else runs between a change and its revision: a list made there would be told to be older than what it holds.
   */
  async #handAll({ changes, through }: Batch): Promise<void> {
    const pace = new TimeSlice()
    let last: number | undefined
    for (const change of changes) {
      const rest = last !== undefined && change.revision > last ? pace.yieldIfDue() : undefined
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
    if (late !== undefined) late.note(change)
    else if (cache !== undefined) this.#apply(cache, change)
    else if (change.key.startsWith(reservationsPrefix)) this.reservations.apply(change)
  }

  #apply(cache: KindCache, change: Change): void {
    cache.apply(change)
    const object = this.#sharedBytes && cache.get(change.key)
    if (object !== undefined) this.#sharedBytes!.changed(object)
  }

  #advance(revision: number): void {
    this.revision = revision
    if (this.#times?.note(revision)) this.forgetOutdated()
    for (const waiter of [...this.#waiting]) if (waiter.revision <= revision) waiter.resolve()
  }

  /**
   * `objects/core/configmaps/a/b` belongs to `objects/core/configmaps/`. Keys of kinds not served here belong to none.
   */
  #cacheOf(key: string): KindCache | undefined {
    if (!key.startsWith(objectsPrefix)) return undefined
    const group = key.indexOf('/', objectsPrefix.length)
    const plural = key.indexOf('/', group + 1)
    return this.#byPrefix.get(key.slice(0, plural + 1))
  }
}

/** The prefix of the keys under which a kind is stored. */
export function prefixOf(group: string, plural: string): string {
  return `${objectsPrefix}${group}/${plural}/`
}

function faultOf(error: unknown): string {
  return error instanceof StoreRestored ? error.message : 'the store cannot be followed'
}
