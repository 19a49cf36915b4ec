/** The most recent events of one kind, in revision order, for watches that resume at an earlier revision. */
import type { CacheEvent } from './event.ts'

const maxEvents = 4096
const maxBytes = 64 * 1024 * 1024

export class EventBuffer {
  /** The revision after which the buffer contains every event. */
  #floor = 0
  #events: CacheEvent[] = []
  #bytes = 0

  /** The start of the buffer. A watch that resumes at an older revision needs the store's log. */
  get floor(): number {
    return this.#floor
  }

  /** Drops all events. The buffer then starts at the given revision. */
  restart(revision: number): void {
    this.#events = []
    this.#bytes = 0
    this.#floor = revision
  }

  /** Adds an event that is newer than all others. If the buffer is full, the oldest events are dropped. */
  push(event: CacheEvent): void {
    this.#events.push(event)
    this.#bytes += weight(event)
    if (this.#events.length > maxEvents || this.#bytes > maxBytes) this.#dropOldest()
  }

  /**
   * Returns the next events after a revision, which must not be before `floor`. The result may exceed `limit` so that
   * it contains all events of a revision.
   */
  after(revision: number, limit: number): CacheEvent[] {
    const first = this.#indexAfter(revision)
    let end = Math.min(first + limit, this.#events.length)
    while (end < this.#events.length && this.#events[end]!.revision === this.#events[end - 1]!.revision) end++
    return this.#events.slice(first, end)
  }

  /**
   * Inserts older events before the first event in the buffer. Events up to `lost` may be missing. If the buffer does
   * not start at `until`, adds nothing and returns false.
   */
  prepend({ until, after, events, lost }: EarlierEvents): boolean {
    if (this.#floor !== until) return false
    const fitting = this.#fitting(events)
    this.#floor = events[events.length - fitting.length - 1]?.revision ?? lost ?? after
    this.#bytes += fitting.reduce((sum, event) => sum + weight(event), 0)
    this.#events = [...fitting, ...this.#events]
    return true
  }

  /** Drops the events up to the given revision. */
  dropUpTo(revision: number): void {
    this.#drop(this.#indexAfter(revision))
  }

  /** Returns the index of the first event after the revision. */
  #indexAfter(revision: number): number {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#events[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Returns the newest of the given events that still fit into the buffer. */
  #fitting(events: readonly CacheEvent[]): readonly CacheEvent[] {
    let room = maxBytes - this.#bytes
    let first = events.length
    while (first > 0 && events.length - first < maxEvents - this.#events.length) {
      room -= weight(events[first - 1]!)
      if (room < 0) break
      first--
    }
    return events.slice(first)
  }

  // Drops half of the events at once, because dropping them one by one would cost more per event.
  #dropOldest(): void {
    const { length } = this.#events
    let bytes = this.#bytes
    let dropped = 0
    while (dropped < length - 1 && (length - dropped > maxEvents / 2 || bytes > maxBytes / 2)) {
      bytes -= weight(this.#events[dropped]!)
      dropped++
    }
    this.#drop(dropped)
  }

  #drop(count: number): void {
    if (count === 0) return
    for (const event of this.#events.slice(0, count)) this.#bytes -= weight(event)
    this.#floor = this.#events[count - 1]!.revision
    this.#events = this.#events.slice(count)
  }
}

/** The events between two revisions, to add to the start of an event buffer. */
export interface EarlierEvents {
  readonly after: number
  readonly until: number
  readonly events: readonly CacheEvent[]
  /** Events up to this revision did not fit and are missing. */
  readonly lost: number | undefined
}

/**
 * Estimates the memory usage of an event: twice the size of its object, because the encoded event contains the object
 * again.
 */
export function weight({ object }: CacheEvent): number {
  return 2 * object.json.length
}
