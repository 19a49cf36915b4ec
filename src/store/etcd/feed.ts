/**
 * The one watch of this process over the prefix, filling the tail that all watchers read.
 *
 * When a stream breaks it resumes after the last revision it has passed on, once it is sure that etcd still has the
 * same history (see history-intact.ts); else it ends for good. When etcd has forgotten that revision in the meantime, the
 * readers of the old tail get RevisionGone and a new tail begins at the present. The tail never runs ahead of the
 * watch: a reader that sees revision N has been given all changes up to N.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Revision, RevisionGone, type StoreError, StoreRestored } from '../store.ts'
import { Tail } from '../tail.ts'
import type { Connection } from './connection.ts'
import { readFailure } from './failure.ts'
import { assertHistoryIntact } from './history-intact.ts'
import type { KeySpace } from './key-space.ts'
import type { EtcdEvent } from './messages.ts'
import { restored, type ToldBatch, watchFrom } from './watch.ts'

export interface FeedOptions {
  readonly connection: Connection
  readonly space: KeySpace
  /** The revision to begin after: the present one. */
  readonly revision: Revision
  /** A linearizable look-up of etcd's revision, to start again from. */
  readonly present: () => Promise<Revision>
  /** Checks whether etcd's revision is below one that it has reported. */
  readonly isRolledBack: () => Promise<boolean>
  /** Called when the feed has ended because etcd went back in time. */
  readonly onRestored: (error: StoreRestored) => void
}

const pauses = [20, 50, 100, 200, 500, 1_000] as const

export class Feed {
  tail: Tail
  /** The revision of the last change of a key; as long as there was none, that of the beginning. */
  newest: Revision
  /** True once `tail.revision` is a revision that etcd's watch has reported, and not merely the start. */
  anchored = false
  #failure: StoreError | undefined
  #last: EtcdEvent | undefined
  #waiting = new Set<() => void>()
  readonly #options: FeedOptions
  readonly #stopping = new AbortController()
  readonly #done: Promise<void>

  constructor(options: FeedOptions) {
    this.#options = options
    this.tail = new Tail(options.revision)
    this.newest = options.revision
    this.#done = this.#run()
  }

  /** Why the feed stands still or has ended; undefined while it flows. */
  get failure(): StoreError | undefined {
    return this.#failure
  }

  /** Resolves to whether the feed has passed `revision`, at the latest after `ms`. */
  async reached(revision: Revision, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (this.tail.revision < revision && !this.#stopping.signal.aborted) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      await this.#more(left)
    }
    return this.tail.revision >= revision
  }

  /** Ends the feed and all readers of its tail. */
  async stop(reason: StoreError): Promise<void> {
    this.#failure = reason
    this.#stopping.abort()
    this.tail.end(reason)
    this.#wake()
    await this.#done
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await this.#follow(() => {
          failures = 0
        })
      } catch (error) {
        this.#failure = readFailure(error)
        if (error instanceof StoreRestored) this.#options.onRestored(error)
        else if (error instanceof RevisionGone) await this.#beginAnew(error)
      }
      const pause = pauses[Math.min(failures, pauses.length - 1)]
      await delay(pause, undefined, { signal }).catch(() => {})
    }
  }

  async #follow(onBatch: () => void): Promise<void> {
    const { connection, space, isRolledBack } = this.#options
    const after = this.tail.revision
    await assertHistoryIntact({
      connection,
      last: this.#last,
      etcdRevision: space.etcdRevision(after),
      anyKey: space.note('tick'),
      isRolledBack,
      restored: () => restored(this.tail.revision),
    })
    for await (const batch of watchFrom(connection, space, { after, signal: this.#stopping.signal })) {
      this.#failure = undefined
      onBatch()
      this.#take(batch)
    }
  }

  #take({ changes, through, last }: ToldBatch): void {
    const change = changes.at(-1)
    if (change) this.newest = change.revision
    this.#last = last
    this.anchored = true
    if (change) this.tail.append(changes)
    this.tail.advance(through)
    this.#wake()
  }

  async #beginAnew(gone: RevisionGone): Promise<void> {
    try {
      const revision = await this.#options.present()
      this.tail.end(gone)
      this.tail = new Tail(revision)
      this.newest = revision
      this.#last = undefined
      this.anchored = false
      this.#wake()
    } catch (error) {
      // Tried again from the same place: the watch will say once more that it is gone.
      this.#failure = readFailure(error)
    }
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
