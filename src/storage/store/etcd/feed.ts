/**
 * How far the one watch of this process over the prefix has come: the tail that all watchers read, and who waits for it to
 * come to a revision. It is filled by the watch itself (`watched-feed.ts`), or with what the thread that has the watch
 * passes on (`relayed-feed.ts`).
 *
 * The tail never runs ahead of the watch: a reader that sees revision N has been given all changes up to N.
 */
import type { Batch, Revision, RevisionGone, StoreError } from '../store.ts'
import { Tail, type TailLimits } from '../tail.ts'

/** Where a feed stands. */
export interface FeedPosition {
  readonly revision: Revision
  /** The revision of the last change of a key; as long as there was none, that of the beginning. */
  readonly newest: Revision
  /** Whether `revision` is one that etcd's watch has reported, and not merely the start. */
  readonly anchored: boolean
}

export class Feed implements FeedPosition {
  tail: Tail
  newest: Revision
  anchored: boolean
  /** Why the feed stands still or has ended; undefined while it flows. */
  failure: StoreError | undefined
  #ended = false
  readonly #limits: TailLimits | undefined
  readonly #waiting = new Set<() => void>()

  /** Begins at a revision, or where another feed stands. */
  constructor(start: Revision | FeedPosition, limits?: TailLimits) {
    const { revision, newest, anchored } =
      typeof start === 'number' ? { revision: start, newest: start, anchored: false } : start
    this.#limits = limits
    this.tail = new Tail(revision, limits)
    this.newest = newest
    this.anchored = anchored
  }

  get revision(): Revision {
    return this.tail.revision
  }

  append({ changes, through }: Batch): void {
    const last = changes.at(-1)
    this.failure = undefined
    this.anchored = true
    if (last !== undefined) {
      this.newest = last.revision
      this.tail.append(changes)
    }
    this.tail.advance(through)
    this.#wake()
  }

  /** Goes on at `revision`, with a gap before it: the readers there are learn of the gap. */
  beginAnew(revision: Revision, gap: RevisionGone): void {
    this.tail.end(gap)
    this.tail = new Tail(revision, this.#limits)
    this.newest = revision
    this.anchored = false
    this.#wake()
  }

  /** Resolves to whether the feed has passed `revision`, at the latest after `ms`. */
  async reached(revision: Revision, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (this.tail.revision < revision && !this.#ended) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      await this.#more(left)
    }
    return this.tail.revision >= revision
  }

  /** Ends all readers. */
  end(reason: StoreError): void {
    this.failure = reason
    this.#ended = true
    this.tail.end(reason)
    this.#wake()
  }

  #more(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#waiting.add(done)
    })
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done()
  }
}
