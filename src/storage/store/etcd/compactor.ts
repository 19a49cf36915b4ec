/**
 * Forgets old history, by one of all the servers on a store: every `historyMs` each of them tries to swap the same
 * note, and the one that wins compacts to the revision that it saw one period before. So whatever is younger than
 * `historyMs` is kept, however many servers there are, and none of them must be elected.
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

/** A longer timer would go off at once. */
const longestTimerMs = 2 ** 31 - 1

export class Compactor {
  /** Why the last period came to nothing; undefined: it did not. */
  failure: StoreError | undefined
  /** How often the note had been written when we last saw it. */
  #version = 0
  #seen: Revision | undefined
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
    const ms = Math.min(this.#options.historyMs, longestTimerMs)
    this.#timer = setTimeout(() => void this.#period().then(() => this.#schedule()), ms)
    this.#timer.unref()
  }

  // A period that fails is made up for by the next, of this server or another.
  async #period(): Promise<void> {
    try {
      const target = this.#seen
      this.#seen = await this.#options.revision()
      if ((await this.#win(this.#seen)) && target !== undefined) await this.#options.compact(target)
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
      // A full store can take no note; it needs compaction all the more, and twice does no harm.
      if (isFull(error)) return true
      throw error
    }
  }
}
