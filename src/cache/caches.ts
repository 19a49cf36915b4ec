/**
 * The caches of all kinds, fed by one watch over the store.
 *
 * `start` loads a snapshot and follows the log from there. Readers ask `reached(revision)` before they answer, so
 * that what they read is at least as new as the revision they must not be older than. When the feed breaks the caches
 * are loaded anew and watchers are closed: their clients resume by revision or list again. For those who resume from
 * before a cache's window there is the log, read once for all of them where that can be.
 */
import { pause } from '../base/abort.ts'
import { type Change, RevisionGone, type Snapshot, type Store, StoreError, StoreRestored } from '../store/store.ts'
import { Backlog } from './backlog.ts'
import { Claims, claimsPrefix } from './claims.ts'
import { KindCache } from './kind-cache.ts'
import { type LogPiece, LogPieces } from './log-pieces.ts'
import type { Unreadable } from './unreadable.ts'

/** Every object's key is `objects/<group>/<plural>/...`. */
export const objectsPrefix = 'objects/'

export interface CacheListeners {
  /** The feed broke; it is taken up again. */
  onError(error: unknown): void
  /** Met while loading, or in a change. */
  onUnreadable(held: Unreadable): void
}

const loadPage = 1000
const retryMs = 500

export class Caches {
  /** Everything up to this revision is in the caches. */
  revision = 0
  /** What the objects hold of pools. */
  readonly claims = new Claims()
  readonly #store: Store
  readonly #byPrefix = new Map<string, KindCache>()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<{ revision: number; resolve: () => void }>()
  readonly #listeners: CacheListeners
  readonly #log: LogPieces
  #backlog: Backlog
  #feed: Promise<void> = Promise.resolve()
  /** Why the caches must be loaded anew before anything more is taken in; undefined: they need not. */
  #fault: string | undefined = 'the store has not been read yet'

  constructor(store: Store, listeners: CacheListeners) {
    this.#store = store
    this.#listeners = listeners
    this.#log = new LogPieces(store, objectsPrefix)
    this.#backlog = new Backlog([], this.#log, 0)
  }

  /** Why the caches are void; undefined: they are not. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** How many watchers there are, of all kinds. */
  get watchers(): number {
    return this.#byPrefix.values().reduce((sum, { watchers }) => sum + watchers, 0)
  }

  /** The cache of a kind; made before `start`. */
  add(group: string, plural: string): KindCache {
    const cache = new KindCache(`${objectsPrefix}${group}/${plural}/`, this.#listeners.onUnreadable)
    this.#byPrefix.set(cache.prefix, cache)
    return cache
  }

  /** What is stored and cannot be read, of all kinds. */
  unreadable(): Unreadable[] {
    return [...this.#byPrefix.values()].flatMap((cache) => cache.allUnreadable())
  }

  async start(): Promise<void> {
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
  async readLog(cache: KindCache, after: number): Promise<LogPiece> {
    return await this.#log.read(after, cache.floor)
  }

  /** Ends every watch, those to come as well; reads go on. */
  endWatches(): void {
    for (const cache of this.#byPrefix.values()) cache.endWatches()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#log.close()
    this.endWatches()
    await this.#feed
  }

  async #load(): Promise<void> {
    for (const cache of this.#byPrefix.values()) cache.beginLoad()
    const first = await this.#store.list({ prefix: objectsPrefix, limit: loadPage, count: false })
    const { revision } = first
    for (let page: Snapshot | undefined = first; page !== undefined; ) {
      // The store reads the next page while this one is taken in. Should that fail, it is told where it is awaited.
      const next = this.#pageAfter(page)
      next?.catch(() => {})
      this.#take(page)
      page = await next
    }
    const held = await this.#store.list({ prefix: claimsPrefix, revision, count: false })
    for (const cache of this.#byPrefix.values()) cache.loaded(revision)
    this.claims.load(held.entries)
    this.#backlog = new Backlog([...this.#byPrefix.values()], this.#log, revision)
    this.#fault = undefined
    this.#advance(revision)
  }

  /** Entries come in the order of their keys, so one belongs to the same kind as the one before it, most of the time. */
  #take({ entries }: Snapshot): void {
    let cache: KindCache | undefined
    for (const { key, revision, value } of entries) {
      if (cache === undefined || !key.startsWith(cache.prefix)) cache = this.#cacheOf(key)
      cache?.load(key, revision, value)
    }
  }

  #pageAfter({ entries, remaining, revision }: Snapshot): Promise<Snapshot> | undefined {
    const after = entries.at(-1)?.key
    if (remaining === 0 || after === undefined) return undefined
    return this.#store.list({ prefix: objectsPrefix, limit: loadPage, count: false, after, revision })
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
    for await (const { changes, through } of this.#store.watch({ prefix: '', after: this.revision, signal })) {
      for (const change of changes) this.#apply(change)
      this.#advance(through)
    }
  }

  #apply(change: Change): void {
    if (change.key.startsWith(claimsPrefix)) this.claims.apply(change)
    else this.#cacheOf(change.key)?.apply(change)
  }

  #advance(revision: number): void {
    this.revision = revision
    for (const waiter of [...this.#waiting]) if (waiter.revision <= revision) waiter.resolve()
  }

  /** `objects/core/configmaps/a/b` belongs to `objects/core/configmaps/`. Keys of kinds not served here belong to none. */
  #cacheOf(key: string): KindCache | undefined {
    if (!key.startsWith(objectsPrefix)) return undefined
    const group = key.indexOf('/', objectsPrefix.length)
    const plural = key.indexOf('/', group + 1)
    return this.#byPrefix.get(key.slice(0, plural + 1))
  }
}

function faultOf(error: unknown): string {
  return error instanceof StoreRestored ? error.message : 'the store cannot be followed'
}
