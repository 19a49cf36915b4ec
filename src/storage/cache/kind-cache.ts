/**
 * The cache of one kind: all its objects as of `revision`, its latest events, and its watchers.
 *
 * Fed by a load once (again when the feed was lost) and then by `apply` in revision order; knows keys and bytes, never
 * what a kind means. Reads are plain memory look-ups and so consistent with one another within a turn of the event
 * loop; those that take longer see one state, that of their beginning.
 */

import { HeaderReader, UnreadableValue } from '../../api/codec/stored.ts'
import { SortedMap } from '../../base/collections/sorted-map.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Change, Entry } from '../store/store.ts'
import { type CachedObject, type ObjectReader, readStored } from './cached-object.ts'
import { CacheEvent, type EventForm, type Matches } from './event.ts'
import { type LabelDemand, LabelIndex } from './label-index.ts'
import { Unreadable } from './unreadable.ts'
import { type Selection, Watcher } from './watcher.ts'

const maxEvents = 4096
const maxEventBytes = 64 * 1024 * 1024
/** How many labels of a kind are indexed at most; selectors on further ones look at every object. */
const maxIndexes = 16
/** An index gives its objects at once and unsorted; for more than this many, all objects are looked at in turn. */
const maxIndexed = 5000

/** All objects of one kind, its latest events, and its watchers. */
export class KindCache {
  /** All keys of the kind start with it. */
  readonly prefix: string
  /** Events after this revision are all in `#events`. */
  #floor = 0
  /** The revision of the last change of this kind, as far as it is known. */
  changedAt = 0
  /** It is not fed any more, so what it holds is of the past. */
  retired = false
  /** How often it was loaded. What was made of its objects before the last time counts no more. */
  loads = 0
  #events: CacheEvent[] = []
  #eventBytes = 0
  #ended = false
  #objects = new SortedMap<CachedObject>()
  /** What is stored and cannot be read, by key. */
  #unreadable = new Map<string, Unreadable>()
  /** What holds now began with the snapshot of this revision: changes up to it are in there. */
  #loadedAt = 0
  /** Indexes by the label that they index. */
  readonly #indexes = new Map<string, LabelIndex>()
  /** Watchers by the namespace they look at; '' for those that look at all. */
  readonly #watchers = new Map<string, Set<Watcher>>()
  readonly #listeners = new Set<ChangeListener>()

  /** For objects that come one by one, and for those that come in a row. */
  readonly #single: ObjectReader
  readonly #inRow: ObjectReader

  readonly #onUnreadable: (held: Unreadable) => void

  constructor(prefix: string, onUnreadable: (held: Unreadable) => void) {
    this.prefix = prefix
    this.#onUnreadable = onUnreadable
    const headers = new HeaderReader()
    this.#single = { prefix, headers, allocate: Buffer.allocUnsafeSlow }
    this.#inRow = { prefix, headers, allocate: Buffer.allocUnsafe }
  }

  get size(): number {
    return this.#objects.size
  }

  /** How many watchers there are. */
  get watchers(): number {
    return this.#watchers.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** The revision that events are complete from: a watch after an older one needs the store's log. */
  get floor(): number {
    return this.#floor
  }

  /** A snapshot begins. Nobody sees it before `loaded` is called with it. */
  beginLoad(): Load {
    return { objects: new SortedMap(), unreadable: new Map() }
  }

  /** Takes an object of the snapshot. Objects loaded in a row share blocks of memory, which takes much less. */
  load(load: Load, { key, revision, value }: Entry): void {
    try {
      load.objects.set(key, readStored(this.#inRow, key, revision, value))
    } catch (error) {
      this.#setAside(load.unreadable, { key, revision }, error)
    }
  }

  /** The snapshot is complete, as of this revision, and takes the place of all there was. Watches end: there is a gap. */
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
    this.#notify(undefined)
  }

  apply(change: Change): void {
    // A cache that was loaded later than the others is ahead of them for a moment.
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

  /** Calls `listener` after every change with the key of the object, or without where all may have changed. */
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
    this.#tell(event)
  }

  #setAside(among: Map<string, Unreadable>, entry: { key: string; revision: number }, error: unknown): void {
    if (!(error instanceof UnreadableValue)) throw error
    const held = new Unreadable(this.prefix, entry, error)
    among.set(entry.key, held)
    this.#onUnreadable(held)
  }

  /** An object was replaced by what cannot be read. No event can say so: watches end, and their clients list again. */
  #lose({ key, revision }: Change): void {
    this.#replace(key, this.#objects.get(key), undefined)
    this.#events = []
    this.#eventBytes = 0
    this.#floor = revision
    this.changedAt = revision
    this.closeWatchers()
  }

  /** The event of a change, from the objects before and after it. Throws UnreadableValue. */
  event(change: Change, previous: CachedObject | undefined): CacheEvent | undefined {
    if (change.value !== undefined)
      return new CacheEvent(this.read(change.key, change.revision, change.value), previous, false)
    return previous && new CacheEvent(previous.withRevision(change.revision), previous, true)
  }

  /** An object of the kind from what is stored, whether or not that is the present state. Throws UnreadableValue. */
  read(key: string, revision: number, value: Uint8Array): CachedObject {
    return readStored(this.#single, key, revision, value)
  }

  /** The same; undefined where it cannot be read. */
  readIfSound(key: string, revision: number, value: Uint8Array): CachedObject | undefined {
    try {
      return this.read(key, revision, value)
    } catch (error) {
      if (error instanceof UnreadableValue) return undefined
      throw error
    }
  }

  /** What the store holds under the key, where that cannot be read. */
  unreadable(key: string): Unreadable | undefined {
    return this.#unreadable.get(key)
  }

  /** All of the namespace, or of all namespaces, that cannot be read. */
  allUnreadable(namespace?: string): Unreadable[] {
    if (this.#unreadable.size === 0) return []
    return [...this.#unreadable.values()].filter((held) => namespace === undefined || held.namespace === namespace)
  }

  /** All objects as they are now, however long it takes to look at them. */
  *all(): Generator<CachedObject> {
    for (const slice of this.#objects.slices(this.prefix)) yield* slice
  }

  get(key: string): CachedObject | undefined {
    return this.#objects.get(key)
  }

  /** The first objects in key order, whatever they are; all where no limit is given. */
  page(namespace: string | undefined, after?: string, limit?: number): CachedObject[] {
    return this.#objects.withPrefix(this.#prefixOf(namespace), after, limit)
  }

  /** Objects in key order, in slices: all as they are now, however long it takes to read them. */
  slices({ namespace, matches, after, demand }: ObjectQuery): Iterable<CachedObject[]> {
    const prefix = this.#prefixOf(namespace)
    const indexed = demand && this.#indexOf(demand.key)?.find(demand.values, maxIndexed)
    const slices = indexed ? [within(indexed, prefix, after)] : this.#objects.slices(prefix, after)
    return matches === undefined ? slices : filtered(slices, matches)
  }

  /** How many objects of the namespace, or of all, come after this key. */
  countAfter(namespace: string | undefined, after: string): number {
    const prefix = this.#prefixOf(namespace)
    // The prefix ends in a slash; what follows all its keys begins with the next character, a zero.
    return this.#objects.countBetween(after, `${prefix.slice(0, -1)}0`)
  }

  /** The next events after a revision at or past `floor`; a few more than `limit` where they are of one revision. */
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

  /** Takes in the events between `after` and `until`, if the window begins there; the oldest may be `lost`. */
  prepend({ until, after, events, lost }: Earlier): void {
    if (this.#floor !== until) return
    const fitting = this.#fitting(events)
    this.#floor = events[events.length - fitting.length - 1]?.revision ?? lost ?? after
    // Nothing has happened since the snapshot, so now it is known what happened last before it.
    if (this.changedAt === until) this.changedAt = events.at(-1)?.revision ?? this.#floor
    this.#eventBytes += fitting.reduce((sum, event) => sum + weight(event), 0)
    this.#events = [...fitting, ...this.#events]
  }

  /** The newest of these events for which there is room. */
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

  /** A watcher that gets no events until it begins. */
  watch(selection: Selection, form: EventForm): Watcher {
    const scope = selection.namespace ?? ''
    const watcher = new Watcher(selection, form, () => this.#forget(scope, watcher))
    const watchers = this.#watchers.get(scope) ?? new Set()
    this.#watchers.set(scope, watchers.add(watcher))
    if (this.#ended) watcher.close()
    return watcher
  }

  /** Ends every watch for good: the server is stopping. */
  endWatches(): void {
    this.#ended = true
    this.closeWatchers()
  }

  /** The kind is served no longer: nothing is fed to it from now on. */
  retire(): void {
    this.retired = true
    this.#ended = true
    this.finishWatches()
  }

  /** Ends every watch when it has told what has happened until now. */
  finishWatches(): void {
    for (const watchers of [...this.#watchers.values()]) for (const watcher of [...watchers]) watcher.finish()
  }

  /** Ends every watch: the feed was lost. */
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

  /** An index that can be asked; undefined while it is being made, or if there are too many. */
  #indexOf(label: string): LabelIndex | undefined {
    if (!this.#indexes.has(label) && this.#indexes.size < maxIndexes) void this.#makeIndex(label)
    const index = this.#indexes.get(label)
    return index?.complete ? index : undefined
  }

  /** At once where there are few objects; else bit by bit, and what changes meanwhile is added or removed as always. */
  async #makeIndex(label: string): Promise<void> {
    const index = new LabelIndex(label)
    this.#indexes.set(label, index)
    const pace = new TimeSlice()
    for (const slice of this.#objects.slices(this.prefix)) {
      for (const object of slice) if (this.#objects.get(object.key) === object) index.add(object)
      if (pace.charge(slice.length)) await pace.yieldIfDue()
      if (this.#indexes.get(label) !== index) return
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

  // Down to half, so that it costs little per event.
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

  /** Drops the events up to this revision. */
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

  #tell(event: CacheEvent): void {
    for (const scope of event.object.namespace === '' ? [''] : ['', event.object.namespace]) {
      for (const watcher of this.#watchers.get(scope) ?? []) if (concerns(event, watcher.selection)) watcher.push(event)
    }
  }
}

/** A snapshot on its way in. */
export interface Load {
  readonly objects: SortedMap<CachedObject>
  readonly unreadable: Map<string, Unreadable>
}

export type ChangeListener = (key: string | undefined) => void

export interface ObjectQuery {
  /** Undefined: of all namespaces. */
  readonly namespace: string | undefined
  readonly matches?: Matches | undefined
  /** Only objects past this key. */
  readonly after?: string | undefined
  /** Part of `matches` that may be looked up in an index. */
  readonly demand?: LabelDemand | undefined
}

/** What happened after one revision, up to another. */
export interface Earlier {
  readonly after: number
  readonly until: number
  readonly events: readonly CacheEvent[]
  /** Events up to this revision were too many and are not among them. */
  readonly lost: number | undefined
}

function* filtered(slices: Iterable<CachedObject[]>, matches: Matches): Generator<CachedObject[]> {
  for (const slice of slices) yield slice.filter(matches)
}

function within(objects: readonly CachedObject[], prefix: string, after: string | undefined): CachedObject[] {
  return objects.filter(({ key }) => key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0))
}

/** The object, and its form as an event. */
export function weight({ object }: CacheEvent): number {
  return 2 * object.json.length
}

/** Whether the object of an event lies where the selection looks: its namespace and name, not its labels. */
export function concerns(event: CacheEvent, { namespace, name }: Selection): boolean {
  return (
    (namespace === undefined || event.object.namespace === namespace) &&
    (name === undefined || event.object.name === name)
  )
}
