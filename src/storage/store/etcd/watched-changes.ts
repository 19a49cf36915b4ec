/**
 * The only watch of the prefix in this process. It fills the change stream.
 *
 * After a stream breaks, the watch resumes after the last delivered revision if etcd still has the same log (see
 * assert-log-intact.ts). Otherwise the watch ends permanently. If etcd has compacted that revision in the meantime,
 * readers of the old tail get RevisionGone, and a new tail starts at the current revision.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { LogTailLimits } from '../log-tail.ts'
import { type Batch, type Revision, RevisionGone, type StoreError, StoreRestored } from '../store.ts'
import { assertLogIntact } from './assert-log-intact.ts'
import { ChangeStream } from './change-stream.ts'
import type { Connection } from './connection.ts'
import { readFailure } from './failure.ts'
import type { ChangeSource, ChangeSourceCallbacks } from './generation-source.ts'
import type { KeySpace } from './key-space.ts'
import type { EtcdEvent } from './messages.ts'
import { restored, watchFrom } from './watch.ts'

export interface WatchedChangesOptions extends ChangeSourceCallbacks {
  readonly connection: Connection
  readonly space: KeySpace
  /** The current revision. The change stream starts after it. */
  readonly revision: Revision
  readonly listener?: ChangeListener | undefined
  readonly limits?: LogTailLimits | undefined
}

/** Receives the same events as the readers, in the same order. */
export interface ChangeListener {
  /** Adds a batch of changes. `after` is the position of the change stream before the batch. */
  onBatch(batch: Batch, after: Revision): void
  onGap(revision: Revision, gap: RevisionGone): void
}

const pauses = [20, 50, 100, 200, 500, 1_000] as const

export class WatchedChanges implements ChangeSource {
  readonly changeStream: ChangeStream
  #last: EtcdEvent | undefined
  readonly #options: WatchedChangesOptions
  readonly #stopping = new AbortController()
  readonly #done: Promise<void>

  constructor(options: WatchedChangesOptions) {
    this.#options = options
    this.changeStream = new ChangeStream(options.revision, options.limits)
    this.#done = this.#run()
  }

  get last(): EtcdEvent | undefined {
    return this.#last
  }

  /** Ends the watch and all readers of its tail. */
  async stop(reason: StoreError): Promise<void> {
    this.#stopping.abort()
    this.changeStream.end(reason)
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
        if (!signal.aborted) this.changeStream.failure = readFailure(error)
        if (error instanceof StoreRestored) this.#options.onRestored()
        else if (error instanceof RevisionGone) await this.#beginAnew(error)
      }
      const pause = pauses[Math.min(failures, pauses.length - 1)]
      await delay(pause, undefined, { signal }).catch(() => {})
    }
  }

  async #follow(onBatch: () => void): Promise<void> {
    const { connection, space, isRolledBack, listener } = this.#options
    const after = this.changeStream.revision
    await assertLogIntact({
      connection,
      last: this.#last,
      etcdRevision: space.etcdRevision(after),
      anyKey: space.note('tick'),
      isRolledBack,
      restored: () => restored(this.changeStream.revision),
    })
    for await (const batch of watchFrom(connection, space, { after, signal: this.#stopping.signal })) {
      onBatch()
      const before = this.changeStream.revision
      this.#last = batch.last
      this.changeStream.append(batch)
      listener?.onBatch(batch, before)
    }
  }

  async #beginAnew(gap: RevisionGone): Promise<void> {
    try {
      const revision = await this.#options.present()
      this.#last = undefined
      this.changeStream.beginAnew(revision, gap)
      this.#options.listener?.onGap(revision, gap)
    } catch (error) {
      // Records the reason for the failure. The watch then restarts at the same position and throws RevisionGone again.
      this.changeStream.failure = readFailure(error)
    }
  }
}
