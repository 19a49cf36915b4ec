/**
 * Compacts the store's history. In each period, only one of the servers compacts the history. Every `historyMs`, each
 * server tries to update the same note. The server that succeeds compacts the history up to the revision that was
 * current one period before. All changes younger than `historyMs` therefore remain available, regardless of the number
 * of servers and without leader election.
 */
import type { Revision, StoreError } from '../store.ts'
import type { Connection } from './connection.ts'
import { isFull, readFailure } from './failure.ts'
import type { KeySpace } from './key-space.ts'
import { decodeSwap, encodeSwap, methods } from './messages.ts'

export interface CompactorOptions {
  readonly connection: Connection
  readonly space: KeySpace
  readonly historyMs: number
  readonly revision: () => Promise<Revision>
  readonly compact: (revision: Revision) => Promise<void>
}

/**
 * The maximum delay of a timer in milliseconds. A longer delay would overflow, and the timer would fire immediately.
 */
const maxTimerMs = 2 ** 31 - 1

export class Compactor {
  /** The error of the last attempt to compact the history. Undefined if the attempt succeeded. */
  failure: StoreError | undefined
  /** The version of the note when this server last read it. Servers take turns by updating the note. */
  #version = 0
  #lastSeenRevision: Revision | undefined
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  readonly #options: CompactorOptions

  constructor(options: CompactorOptions) {
    this.#options = options
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#stopped) return
    const ms = Math.min(this.#options.historyMs, maxTimerMs)
    this.#timer = setTimeout(() => void this.#period().then(() => this.#schedule()), ms)
    this.#timer.unref()
  }

  // Tries to update the note, and compacts the history if no other server was faster. After a failure, this or another
  // server compacts the history one period later.
  async #period(): Promise<void> {
    try {
      const target = this.#lastSeenRevision
      this.#lastSeenRevision = await this.#options.revision()
      if ((await this.#win(this.#lastSeenRevision)) && target !== undefined) await this.#options.compact(target)
      this.failure = undefined
    } catch (error) {
      this.failure = readFailure(error)
    }
  }

  async #win(revision: Revision): Promise<boolean> {
    const { connection, space } = this.#options
    const request = encodeSwap({
      key: space.note('compact'),
      compare: { target: 'version', equals: this.#version },
      value: Buffer.from(String(revision)),
    })
    try {
      const { succeeded, current } = decodeSwap(await connection.call(methods.txn, request, { effect: 'write' }))
      this.#version = succeeded ? this.#version + 1 : (current?.version ?? 0)
      return succeeded
    } catch (error) {
      // If etcd is full, the note cannot be updated, but compaction is urgent. It does no harm if several servers
      // compact at the same time.
      if (isFull(error)) return true
      throw error
    }
  }
}
