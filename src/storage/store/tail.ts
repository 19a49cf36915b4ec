/**
 * The newest part of the log of revisions, in memory, and the readers that follow it.
 *
 * A backend appends each batch of changes once it is durable; a reader asks for what comes after a revision and gets
 * it in order, without gap or repeat. Older changes than the tail holds are the backend's to read (`readLog`).
 * Bounded by count and by bytes: the oldest changes are dropped first, and a reader that falls behind them goes back
 * to the backend's log. Nobody waits for a reader.
 */
import type { Batch, Change, Revision, StoreError, WatchOptions } from './store.ts'

export interface TailLimits {
  readonly maxChanges: number
  readonly maxBytes: number
}

/** Enough for readers that keep up, as caches do; who comes from further back reads the backend's log. */
const defaultLimits: TailLimits = { maxChanges: 5_000, maxBytes: 16 * 1024 * 1024 }

/** Reads changes after a revision from the backend's own log: at least one, unless the log ends there. */
export type ReadLog = (after: Revision, limit: number) => Promise<readonly Change[]>

const batchSize = 1000

export class Tail {
  /** The revision of the last change appended: what readers may see. */
  revision: Revision
  /** Changes after this revision are all held; those up to it are not. */
  #floor: Revision
  #changes: Change[] = []
  #bytes = 0
  #waiting = new Set<() => void>()
  #ended: StoreError | undefined
  readonly #limits: TailLimits

  constructor(revision: Revision, limits: TailLimits = defaultLimits) {
    this.revision = revision
    this.#floor = revision
    this.#limits = limits
  }

  /** Appends changes in revision order and wakes the readers. */
  append(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change)
      this.#bytes += weight(change)
      this.revision = change.revision
    }
    this.#trim()
    this.#wake()
  }

  /** Raises the revision where the log has a number without a change (another key space on the same counter). */
  advance(revision: Revision): void {
    if (revision <= this.revision) return
    this.revision = revision
    this.#wake()
  }

  /**
   * Drops the changes up to a revision: a reader that still wants them learns from the backend whether they are gone.
   */
  forget(revision: Revision): void {
    const drop = this.#indexAfter(revision)
    for (const change of this.#changes.slice(0, drop)) this.#bytes -= weight(change)
    this.#changes = this.#changes.slice(drop)
    this.#floor = Math.max(this.#floor, revision)
  }

  /** Ends every reader, now and later, with this error. */
  end(error: StoreError): void {
    this.#ended ??= error
    this.#wake()
  }

  /**
   * Follows the log after `options.after`: first from the backend where the tail does not reach, then from the tail.
   */
  async *follow(options: WatchOptions, readLog: ReadLog): AsyncGenerator<Batch> {
    let after = options.after
    const until = options.until ?? Number.POSITIVE_INFINITY
    const wanted = (change: Change) => change.key.startsWith(options.prefix) && change.revision <= until
    const batch = (changes: readonly Change[], through: Revision) => ({
      changes: changes.filter(wanted),
      through: Math.min(through, until),
    })
    while (!options.signal.aborted && after < until) {
      if (this.#ended) throw this.#ended
      if (after < this.#floor) {
        const floor = this.#floor
        const changes = await readLog(after, batchSize)
        if (options.signal.aborted) return
        const last = changes.at(-1)
        // Nothing in the log up to the floor as it was when asked: those revisions hold no change.
        after = last === undefined ? floor : last.revision
        yield batch(changes, after)
      } else if (after < this.revision) {
        const changes = this.#changes.slice(this.#indexAfter(after))
        after = this.revision
        yield batch(changes, after)
      } else {
        await this.#more(options.signal)
      }
    }
  }

  #indexAfter(revision: Revision): number {
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#changes[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  // Drops in halves, so that a trim costs little per append.
  #trim(): void {
    const { maxChanges, maxBytes } = this.#limits
    if (this.#changes.length <= maxChanges && this.#bytes <= maxBytes) return
    let drop = 0
    while (
      drop < this.#changes.length - 1 &&
      (this.#changes.length - drop > maxChanges / 2 || this.#bytes > maxBytes / 2)
    ) {
      this.#bytes -= weight(this.#changes[drop]!)
      drop++
    }
    this.#floor = this.#changes[drop - 1]?.revision ?? this.#floor
    this.#changes = this.#changes.slice(drop)
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', done)
      if (signal.aborted) done()
    })
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done()
  }
}

function weight(change: Change): number {
  return 200 + change.key.length + (change.value?.length ?? 0) + (change.previous?.value.length ?? 0)
}
