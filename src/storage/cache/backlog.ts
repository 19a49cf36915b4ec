/**
 * What happened before the caches were loaded, for watches that resume from there, as all do after a restart.
 *
 * A cache begins with a snapshot and no events. When the first watch resumes from before it, the log between the two is
 * read once, for all kinds: it fills their windows, as if they had been following then already, and shows which kinds
 * have not changed at all. Those who come later find it done. Bounded: where there is too much, the newest events stay,
 * and who needs older ones reads the log by themselves.
 */

import { UnreadableValue } from '../../api/codec/stored.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Revision } from '../store/store.ts'
import type { CacheEvent } from './event.ts'
import { type KindCache, weight } from './kind-cache.ts'
import type { LogChunk, LogChunks } from './log-chunks.ts'

/** Who resumes from further back is alone in that, and reads at its own pace. */
const maxRevisions = 100_000
const maxBytes = 64 * 1024 * 1024
/** What it costs to make events of a piece of the log. */
const pieceCost = 500

export class Backlog {
  /** Everything after this revision has been read. */
  #from: Revision
  #extending: Promise<void> | undefined
  readonly #caches: () => Iterable<KindCache>
  readonly #log: LogChunks

  /** The caches have just been loaded, at this revision. */
  constructor(caches: () => Iterable<KindCache>, log: LogChunks, revision: Revision) {
    this.#caches = caches
    this.#log = log
    this.#from = revision
  }

  /** Lets the window of a cache begin at this revision, if that can be. Throws RevisionGone when the log does not. */
  async reach(cache: KindCache, revision: Revision): Promise<void> {
    while (this.#from > revision && cache.floor === this.#from && this.#from - revision <= maxRevisions) {
      if (this.#extending !== undefined) {
        // Whoever began it gets the error; others try themselves.
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
    // A cache that was loaded later has a window of its own, which begins elsewhere.
    const caches = [...this.#caches()].filter(({ floor }) => floor === until)
    const found = new Found()
    const pace = new TimeSlice()
    for (let after = revision; after < until; ) {
      const piece = await this.#log.read(after, until)
      for (const cache of caches) found.addFrom(piece, cache, { after, until })
      after = piece.through
      if (pace.charge(pieceCost)) await pace.yieldIfDue()
    }
    this.#from = revision
    for (const cache of caches) cache.prepend({ until, after: revision, ...found.of(cache) })
  }
}

/** Events as they are found, in the order of the log; of too many the oldest are dropped. */
class Found {
  #parts: { readonly cache: KindCache; readonly events: readonly CacheEvent[] }[] = []
  /** The revision of the last event that was dropped. */
  readonly #lost = new Map<KindCache, Revision>()
  #bytes = 0

  /** A piece that cannot be read, and all before it, is lost to its kind alone. */
  addFrom(piece: LogChunk, cache: KindCache, { after, until }: { after: Revision; until: Revision }): void {
    try {
      this.#add(
        cache,
        piece.events(cache).filter(({ revision }) => revision > after && revision <= until),
      )
    } catch (error) {
      if (!(error instanceof UnreadableValue)) throw error
      this.#lose(cache, Math.min(piece.through, until))
    }
  }

  #lose(cache: KindCache, through: Revision): void {
    for (const part of this.#parts.filter((part) => part.cache === cache)) this.#bytes -= sum(part.events)
    this.#parts = this.#parts.filter((part) => part.cache !== cache)
    this.#lost.set(cache, through)
  }

  #add(cache: KindCache, events: readonly CacheEvent[]): void {
    if (events.length === 0) return
    this.#parts.push({ cache, events })
    this.#bytes += sum(events)
    while (this.#bytes > maxBytes && this.#parts.length > 1) {
      const oldest = this.#parts.shift()!
      this.#bytes -= sum(oldest.events)
      this.#lost.set(oldest.cache, oldest.events.at(-1)!.revision)
    }
  }

  of(cache: KindCache): { events: readonly CacheEvent[]; lost: Revision | undefined } {
    const events = this.#parts.filter((part) => part.cache === cache).flatMap((part) => part.events)
    return { events, lost: this.#lost.get(cache) }
  }
}

function sum(events: readonly CacheEvent[]): number {
  return events.reduce((bytes, event) => bytes + weight(event), 0)
}
