/**
 * Extends the event buffers of the caches to revisions before the caches were loaded, for watches that resume at such
 * revisions. After a restart, every resumed watch starts at such a revision.
 *
 * A cache starts with a snapshot and no events. When the first watch resumes at a revision before the snapshot, the
 * extender reads the missing part of the log once for all kinds. It fills the event buffers as if the caches had
 * applied these changes themselves, including the buffers of kinds without changes. Later watches use the filled
 * buffers. If the events do not fit, the buffers contain the newest events, and watches that need older events read the
 * log separately.
 */

import { UnreadableValue } from '../../api/codec/stored.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Revision } from '../store/store.ts'
import type { CacheEvent } from './event.ts'
import { weight } from './event-buffer.ts'
import type { KindCache } from './kind-cache.ts'
import type { LogChunk, LogChunks } from './log-chunks.ts'

/**
 * Maximum number of revisions to read for the event buffers. A watch that resumes at an older revision reads the log
 * separately, at its own speed.
 */
const maxRevisions = 100_000
const maxBytes = 64 * 1024 * 1024
/** Estimated cost of decoding one chunk of the log, charged to the time slice. */
const chunkCost = 500

export class EventBufferExtender {
  /** The revision up to which the log has been read. */
  #from: Revision
  #extending: Promise<void> | undefined
  readonly #caches: () => Iterable<KindCache>
  readonly #log: LogChunks

  /** Creates the extender for caches that have just been loaded at `revision`. */
  constructor(caches: () => Iterable<KindCache>, log: LogChunks, revision: Revision) {
    this.#caches = caches
    this.#log = log
    this.#from = revision
  }

  /**
   * Extends the event buffer of a cache back to the given revision if possible. Throws RevisionGone if the revision is
   * before the history window.
   */
  async reach(cache: KindCache, revision: Revision): Promise<void> {
    while (this.#from > revision && cache.floor === this.#from && this.#from - revision <= maxRevisions) {
      if (this.#extending !== undefined) {
        // Ignores the error, which is reported to the caller that started the extension.
        await this.#extending.catch(() => {})
      } else {
        this.#extending = this.#extend(revision).finally(() => {
          this.#extending = undefined
        })
        await this.#extending
      }
    }
  }

  async #extend(revision: Revision): Promise<void> {
    const until = this.#from
    // Skips caches that were loaded later, because their event buffers start at another revision.
    const caches = [...this.#caches()].filter(({ floor }) => floor === until)
    const collected = new CollectedEvents()
    const timeSlice = new TimeSlice()
    for (let after = revision; after < until; ) {
      const chunk = await this.#log.read(after, until)
      for (const cache of caches) collected.addFrom(chunk, cache, { after, until })
      after = chunk.through
      if (timeSlice.charge(chunkCost)) await timeSlice.yieldIfDue()
    }
    this.#from = revision
    for (const cache of caches) cache.prepend({ until, after: revision, ...collected.of(cache) })
  }
}

/** Collects events in log order. If there are too many events, the oldest are dropped. */
class CollectedEvents {
  #parts: { readonly cache: KindCache; readonly events: readonly CacheEvent[] }[] = []
  /** The revision of the last dropped event of each kind. */
  readonly #droppedThrough = new Map<KindCache, Revision>()
  #bytes = 0

  /**
   * Adds a kind's events from one chunk of the log. If the chunk cannot be decoded, these events and all earlier events
   * of the kind are dropped. Other kinds are not affected.
   */
  addFrom(chunk: LogChunk, cache: KindCache, { after, until }: { after: Revision; until: Revision }): void {
    try {
      this.#add(
        cache,
        chunk.events(cache).filter(({ revision }) => revision > after && revision <= until),
      )
    } catch (error) {
      if (!(error instanceof UnreadableValue)) throw error
      this.#lose(cache, Math.min(chunk.through, until))
    }
  }

  #lose(cache: KindCache, through: Revision): void {
    for (const part of this.#parts.filter((part) => part.cache === cache)) this.#bytes -= sum(part.events)
    this.#parts = this.#parts.filter((part) => part.cache !== cache)
    this.#droppedThrough.set(cache, through)
  }

  #add(cache: KindCache, events: readonly CacheEvent[]): void {
    if (events.length === 0) return
    this.#parts.push({ cache, events })
    this.#bytes += sum(events)
    while (this.#bytes > maxBytes && this.#parts.length > 1) {
      const oldest = this.#parts.shift()!
      this.#bytes -= sum(oldest.events)
      this.#droppedThrough.set(oldest.cache, oldest.events.at(-1)!.revision)
    }
  }

  of(cache: KindCache): { events: readonly CacheEvent[]; lost: Revision | undefined } {
    const events = this.#parts.filter((part) => part.cache === cache).flatMap((part) => part.events)
    return { events, lost: this.#droppedThrough.get(cache) }
  }
}

function sum(events: readonly CacheEvent[]): number {
  return events.reduce((bytes, event) => bytes + weight(event), 0)
}
