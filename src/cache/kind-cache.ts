/**
 * The cache of one kind: all its objects as of `revision`, its latest events, and its watchers.
 *
 * Fed by `load` once and then by `apply` in revision order; knows keys and bytes, never what a kind means. Reads are
 * plain memory look-ups and so consistent with one another within a turn of the event loop.
 */
import { SortedMap } from '../base/sorted-map.ts'
import type { Change } from '../store/store.ts'
import { type CachedObject, readStored, withRevision } from './cached-object.ts'
import { CacheEvent, type EventForm, type Matches } from './event.ts'
import { type Selection, Watcher } from './watcher.ts'

const maxEvents = 4096

export class KindCache {
  /** All keys of the kind start with it. */
  readonly prefix: string
  /** Events after this revision are all in `#events`. */
  #floor = 0
  /** The revision of the last change of this kind, as far as it is known. */
  changedAt = 0
  #events: CacheEvent[] = []
  #ended = false
  readonly #objects = new SortedMap<CachedObject>()
  /** Watchers by the namespace they look at; '' for those that look at all. */
  readonly #watchers = new Map<string, Set<Watcher>>()

  constructor(prefix: string) {
    this.prefix = prefix
  }

  get size(): number {
    return this.#objects.size
  }

  /** The revision that events are complete from: a watch after an older one needs the store's log. */
  get floor(): number {
    return this.#floor
  }

  /** Takes an object of the initial snapshot. */
  load(key: string, revision: number, value: Uint8Array): void {
    this.#objects.set(key, readStored(key, this.prefix, revision, value))
  }

  /** The snapshot is complete, as of this revision. */
  loaded(revision: number): void {
    this.#floor = revision
    this.changedAt = revision
  }

  apply(change: Change): void {
    const previous = this.#objects.get(change.key)
    const event = this.event(change, previous)
    if (event === undefined) return
    if (event.deleted) this.#objects.delete(change.key)
    else this.#objects.set(change.key, event.object)
    this.changedAt = change.revision
    this.#remember(event)
    this.#tell(event)
  }

  /** The event of a change, from the objects before and after it. */
  event(change: Change, previous: CachedObject | undefined): CacheEvent | undefined {
    if (change.value !== undefined)
      return new CacheEvent(readStored(change.key, this.prefix, change.revision, change.value), previous, false)
    return previous && new CacheEvent(withRevision(previous, change.revision), previous, true)
  }

  get(key: string): CachedObject | undefined {
    return this.#objects.get(key)
  }

  /** Objects in key order. With `after`, only those past that key. */
  *objects(namespace: string | undefined, matches?: Matches, after?: string): Generator<CachedObject> {
    const prefix = namespace === undefined ? this.prefix : `${this.prefix}${namespace}/`
    for (const object of this.#objects.withPrefix(prefix, after))
      if (matches === undefined || matches(object)) yield object
  }

  /** Watches from the state of now (which the caller reads in the same turn), or after a revision at or past `floor`. */
  watch(selection: Selection, form: EventForm, after: number): Watcher {
    const scope = selection.namespace ?? ''
    const watcher = new Watcher(selection, form, after, () => this.#forget(scope, watcher))
    const watchers = this.#watchers.get(scope) ?? new Set()
    this.#watchers.set(scope, watchers.add(watcher))
    if (this.#ended) watcher.close()
    for (const event of this.#eventsAfter(after)) if (concerns(event, selection)) watcher.push(event)
    return watcher
  }

  /** Ends every watch for good: the server is stopping. */
  endWatches(): void {
    this.#ended = true
    this.closeWatchers()
  }

  /** Ends every watch: the feed was lost. */
  closeWatchers(): void {
    for (const watchers of [...this.#watchers.values()]) for (const watcher of [...watchers]) watcher.close()
  }

  /** Starts anew after the feed was lost: the objects are loaded again. */
  clear(): void {
    this.closeWatchers()
    for (const object of [...this.#objects.withPrefix('')]) this.#objects.delete(object.key)
    this.#events = []
  }

  #forget(scope: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(scope)
    watchers?.delete(watcher)
    if (watchers?.size === 0) this.#watchers.delete(scope)
  }

  #remember(event: CacheEvent): void {
    this.#events.push(event)
    if (this.#events.length <= maxEvents) return
    const dropped = this.#events.length >>> 1
    this.#floor = this.#events[dropped - 1]!.revision
    this.#events = this.#events.slice(dropped)
  }

  #tell(event: CacheEvent): void {
    for (const scope of event.object.namespace === '' ? [''] : ['', event.object.namespace]) {
      for (const watcher of this.#watchers.get(scope) ?? []) if (concerns(event, watcher.selection)) watcher.push(event)
    }
  }

  #eventsAfter(revision: number): CacheEvent[] {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#events[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#events.slice(low)
  }
}

function concerns(event: CacheEvent, { namespace, name }: Selection): boolean {
  return (
    (namespace === undefined || event.object.namespace === namespace) &&
    (name === undefined || event.object.name === name)
  )
}
