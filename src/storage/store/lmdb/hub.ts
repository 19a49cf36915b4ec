/**
 * The owner of a data directory whose store is used only by other threads. The hub locks the directory, starts the
 * thread that owns the file, and creates a port to that thread for each of the other threads (`worker-store.ts`).
 * Compaction and expiry run in the hub, once for all threads.
 */
import { MessageChannel } from 'node:worker_threads'
import { SharedRevisions } from '../shared-revisions.ts'
import { StoreError } from '../store.ts'
import type { Connection } from './connection.ts'
import { Expiry, expiryTickMs } from './expiry.ts'
import { HistoryWindow } from './history-window.ts'
import {
  keepHistory,
  type OwnedDirectory,
  type OwnedDirectoryOptions,
  openOwnedDirectory,
  storeClock,
} from './owned-directory.ts'
import type { StorePort } from './worker-store.ts'

/** Owns a data directory for the stores of other threads. */
export class StoreHub {
  readonly #connection: Connection
  readonly #release: () => void
  readonly #shared = new SharedRevisions()
  readonly #history: HistoryWindow
  readonly #expiry: Expiry
  readonly #options: OwnedDirectoryOptions
  #stopTimers: (() => void)[] = []
  #closing = false
  #failed = false

  static async open(options: OwnedDirectoryOptions): Promise<StoreHub> {
    let hub: StoreHub | undefined
    const opened = await openOwnedDirectory(options, {
      onEnd: () => {
        if (hub) hub.#stop()
      },
      onFailed: (error) => {
        if (hub) hub.#fail(error)
      },
      onCut: (revision) => {
        if (hub) hub.#history.cutOff(revision)
      },
    })
    hub = new StoreHub(opened, options)
    hub.#startTimers()
    return hub
  }

  private constructor({ connection, state, release }: OwnedDirectory, options: OwnedDirectoryOptions) {
    this.#connection = connection
    this.#release = release
    this.#options = options
    const shared = this.#shared
    const { clock = storeClock, retention, onWarning } = options
    const { oldest, floor } = state
    const onError = (error: Error) => this.#report(error)
    this.#shared.raise('revision', state.revision)
    this.#shared.raise('oldest', oldest)
    this.#shared.raise('floor', floor)
    this.#history = new HistoryWindow({
      connection,
      oldest,
      floor,
      retention,
      clock,
      onWarning,
      onError,
      tail: {
        get revision() {
          return shared.revision
        },
        // The hub has no log tail to trim. The stores of the worker threads have their own log tails.
        forget: () => {},
      },
    })
    this.#expiry = new Expiry({ connection, now: () => clock.now(), onDeleted: () => {}, onError })
  }

  /**
   * Creates a message port for another thread. The port is transferred to that thread and closes when the thread ends.
   */
  async connect(): Promise<StorePort> {
    if (this.#closing) throw new StoreError('the store is closed')
    const { port1, port2 } = new MessageChannel()
    const { memory } = this.#shared
    await new Promise((resolve, reject) =>
      this.#connection.send({ type: 'attach', port: port1, memory }, [port1], { resolve, reject }),
    )
    return { port: port2, memory }
  }

  /** Closes the file. Open stores of other threads end as well. */
  async close(): Promise<void> {
    this.#closing = true
    this.#stop()
    try {
      await this.#history.stop()
      await this.#connection.close()
    } finally {
      this.#release()
    }
  }

  #startTimers(): void {
    const { clock = storeClock } = this.#options
    this.#stopTimers = [
      keepHistory(this.#history, clock, this.#options),
      clock.every(expiryTickMs, () => this.#expiry.run()),
    ]
  }

  #stop(): void {
    this.#expiry.stop()
    for (const stop of this.#stopTimers.splice(0)) stop()
  }

  #fail(error: StoreError): void {
    if (this.#failed) return
    this.#failed = true
    this.#stop()
    this.#options.onFailed?.(error)
  }

  #report(error: Error): void {
    if (!this.#closing && !this.#failed) this.#options.onUpkeepError?.(error)
  }
}
