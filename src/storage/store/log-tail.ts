/**
 * The log tail: the newest part of the log, in memory, and its readers.
 *
 * A backend appends each batch of changes when the batch is durable. A reader requests the changes after a revision and
 * gets them in order, without gaps or duplicates. The backend reads changes that are older than the tail (`readLog`).
 * The tail is limited by the number and the size of its changes, and drops the oldest changes first. A reader that
 * falls behind the tail reads the backend's log again. Writers never wait for readers.
 */
import type { Batch, Change, Revision, StoreError, WatchOptions } from './store.ts'

export interface LogTailLimits {
  readonly maxChanges: number
  readonly maxBytes: number
}

/**
 * Default limits of the tail, which are large enough for readers that are up to date, such as the caches. Readers that
 * start at an older revision read the backend's log.
 */
const defaultLimits: LogTailLimits = { maxChanges: 5_000, maxBytes: 16 * 1024 * 1024 }

/**
 * Reads changes after a revision from the backend's log. Returns at least one change, unless there are no changes after
 * the revision.
 */
export type ReadLog = (after: Revision, limit: number) => Promise<readonly Change[]>

const batchSize = 1000

export class LogTail {
  /** The revision of the last appended change. Readers receive changes up to this revision. */
  revision: Revision
  /** The tail contains exactly the changes after this revision. */
  #floor: Revision
  #changes: Change[] = []
  #bytes = 0
  #waiting = new Set<() => void>()
  #ended: StoreError | undefined
  readonly #limits: LogTailLimits

  constructor(revision: Revision, limits: LogTailLimits = defaultLimits) {
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

  /**
   * Raises the revision past revisions that changed no key of this store, for example because they belong to another
   * key space on the same etcd.
   */
  advance(revision: Revision): void {
    if (revision <= this.revision) return
    this.revision = revision
    this.#wake()
  }

  /**
   * Drops the changes up to a revision. The backend decides whether a reader that still needs them gets RevisionGone.
   */
  forget(revision: Revision): void {
    const drop = this.#indexAfter(revision)
    for (const change of this.#changes.slice(0, drop)) this.#bytes -= weight(change)
    this.#changes = this.#changes.slice(drop)
    this.#floor = Math.max(this.#floor, revision)
  }

  /** Ends all current and future readers with the given error. */
  end(error: StoreError): void {
    this.#ended ??= error
    this.#wake()
  }

  /**
   * Yields the changes after `options.after`. Changes that are older than the tail come from the backend's log, and all
   * other changes come from the tail.
   */
  async *follow(options: WatchOptions, readLog: ReadLog): AsyncGenerator<Batch> {
    let after = options.after
    const until = options.until ?? Number.POSITIVE_INFINITY
    const isSelected = (change: Change) => change.key.startsWith(options.prefix) && change.revision <= until
    const batch = (changes: readonly Change[], through: Revision) => ({
      changes: changes.filter(isSelected),
      through: Math.min(through, until),
    })
    while (!options.signal.aborted && after < until) {
      if (this.#ended) throw this.#ended
      if (after < this.#floor) {
        const floor = this.#floor
        const changes = await readLog(after, batchSize)
        if (options.signal.aborted) return
        const last = changes.at(-1)
        // The log had no changes between `after` and the start of the tail, so continue with the tail.
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

  // Drops half of the changes at once, because dropping them one by one would cost more per append.
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
