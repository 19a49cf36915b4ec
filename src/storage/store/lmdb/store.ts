/**
 * The embedded store: one LMDB file in a data directory that belongs to this process alone.
 *
 * A separate thread owns the file, and the code in this module never opens it. This module maintains the log tail,
 * which contains the newest changes for watches. No other process writes to the file, so the tail's revision is the
 * store's revision. Lifetimes are measured with the wall clock, which also advances while the server is down. Every
 * second, the thread deletes expired keys.
 */
import type { OnCapacity } from '../fullness.ts'
import type { Change, Revision } from '../store.ts'
import { EmbeddedStore } from './embedded-store.ts'
import { Expiry, expiryTickMs } from './expiry.ts'
import { keepHistory, type OwnedDirectory, type OwnedDirectoryOptions, openOwnedDirectory } from './owned-directory.ts'

export interface LmdbOptions extends OwnedDirectoryOptions {
  readonly onCapacity?: OnCapacity
}

export class LmdbStore extends EmbeddedStore {
  readonly #release: () => void
  readonly #expiry: Expiry
  #stopTimers: (() => void)[] = []

  static async open(options: LmdbOptions): Promise<LmdbStore> {
    let store: LmdbStore | undefined
    const opened = await openOwnedDirectory(options, {
      onEnd: (error) => {
        if (store) store.end(error)
      },
      onFailed: (error) => {
        if (store) store.fail(error)
      },
      onCut: (revision) => {
        if (store) store.history.cutOff(revision)
      },
    })
    store = new LmdbStore(opened, options)
    store.#startTimers(options)
    return store
  }

  private constructor({ connection, state, release }: OwnedDirectory, options: LmdbOptions) {
    super({ connection, state }, options)
    this.#release = release
    this.#expiry = new Expiry({
      connection,
      now: () => this.clock.now(),
      onDeleted: (changes) => this.tail.append(changes),
      onError: (error) => this.report(error),
    })
  }

  protected newest(): Revision {
    return this.tail.revision
  }

  protected onCommitted(changes: readonly Change[]): void {
    this.tail.append(changes)
  }

  protected stopUpkeep(): void {
    this.#expiry.stop()
    for (const stop of this.#stopTimers.splice(0)) stop()
  }

  protected async disconnect(): Promise<void> {
    try {
      await this.connection.close()
    } finally {
      this.#release()
    }
  }

  #startTimers(options: LmdbOptions): void {
    this.#stopTimers = [
      keepHistory(this.history, this.clock, options),
      this.clock.every(expiryTickMs, () => this.#expiry.run()),
    ]
  }
}
