/**
 * The etcd store, for any number of servers on one etcd cluster. generation.ts implements one generation, and this
 * class starts and ends generations.
 *
 * A generation ends when etcd goes back in time, for example when etcd is restored from a backup while servers are
 * running. All data that the servers have read from etcd and sent to clients is then invalid. The first server that
 * detects the restore raises the revision offset above all revisions that it has returned. The new offset ends the
 * generation of all other servers. Each server starts a new generation, and readers of the old generation get
 * RevisionGone. Until the new generation has started, all operations fail with StoreRestored.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import { Fullness, type OnCapacity } from '../fullness.ts'
import {
  type Batch,
  type Committed,
  type Conflict,
  type Entry,
  type Journal,
  type Key,
  type ListRange,
  type Retention,
  type Revision,
  type Snapshot,
  type Store,
  StoreError,
  type StoreRestored,
  type WatchOptions,
  type Write,
} from '../store.ts'
import { Connection } from './connection.ts'
import { readFailure } from './failure.ts'
import { EtcdGeneration } from './generation.ts'
import type { GenerationSource } from './generation-source.ts'
import { knownFaults } from './known-faults.ts'
import { localGenerations } from './local-generation.ts'
import { decodeStatus, encodeStatus, methods } from './messages.ts'
import type { Tls } from './session.ts'

/** Settings of an etcd store: the cluster, the key prefix and callbacks. */
export interface EtcdOptions {
  /**
   * URLs of the members of one cluster, such as `https://10.0.0.1:2379`. The store uses the first working member, and
   * switches to another member if that member fails.
   */
  readonly endpoints: readonly string[]
  /**
   * The prefix of all keys. Defaults to `/orch/`. The prefix must end in a slash, so that no store's prefix starts with
   * the prefix of another store.
   */
  readonly prefix?: string
  readonly tls?: Tls
  /** Minimum age of changes before they are compacted. */
  readonly historyMs: number
  /** Retention limits of the journal. If undefined, the store has no journal. */
  readonly retention?: Retention
  /** The clock for the times in the journal. */
  readonly clock?: Clock
  /** Maximum duration of any operation in milliseconds. */
  readonly deadlineMs?: number
  /**
   * Called with warnings for administrators, which report that an etcd version has known bugs or that etcd has gone
   * back in time.
   */
  readonly onWarning?: (text: string) => void
  readonly onCapacity?: OnCapacity
  /** Called once with the reason if the store takes longer than a second to open. */
  readonly onWaiting?: (why: string) => void
  /** Aborts the opening of the store. Has no effect on an open store, which its owner closes. */
  readonly giveUp?: AbortSignal | undefined
}

const defaultDeadlineMs = 10_000
/** `open` reports the reason for waiting after this time in milliseconds. */
const silenceMs = 1_000
const pauses = [0, 50, 100, 200, 500, 1_000] as const

export class EtcdStore implements Store {
  #generation!: EtcdGeneration
  #closed = false
  /** Resolves when a new generation has started. */
  #renewal: Promise<void> = Promise.resolve()
  readonly #connection: Connection
  readonly #prefix: string
  readonly #options: EtcdOptions
  readonly #generations: GenerationSource
  readonly #fullness: Fullness

  /**
   * Opens the store. If no member can be used, throws StoreError before the deadline. Workers must pass `generations`,
   * because their watch runs in another thread.
   */
  static async open(options: EtcdOptions, generations: GenerationSource = localGenerations): Promise<EtcdStore> {
    const store = new EtcdStore(options, generations)
    const waiting = setTimeout(() => options.onWaiting?.(store.#connection.refusal ?? 'it does not respond'), silenceMs)
    const giveUp = () => store.#connection.close()
    options.giveUp?.addEventListener('abort', giveUp)
    try {
      options.giveUp?.throwIfAborted()
      store.#generation = await store.#beginGeneration(0)
      return store
    } catch (error) {
      store.#connection.close()
      generations.close()
      throw readFailure(error)
    } finally {
      clearTimeout(waiting)
      options.giveUp?.removeEventListener('abort', giveUp)
    }
  }

  private constructor(options: EtcdOptions, generations: GenerationSource) {
    this.#generations = generations
    const { endpoints, tls, deadlineMs = defaultDeadlineMs } = options
    this.#options = options
    this.#fullness = new Fullness(options.onCapacity)
    this.#prefix = withSlash(options.prefix ?? '/orch/')
    this.#connection = new Connection({ endpoints, tls, deadlineMs, onVersion: warnOfFaults(this.#warn) })
  }

  async commit(write: Write): Promise<Committed | Conflict> {
    try {
      const outcome = await this.#present.commit(write)
      if (outcome.outcome === 'committed') this.#fullness.written(write)
      return outcome
    } catch (error) {
      this.#fullness.refused(error)
      throw error
    }
  }

  async revision(): Promise<Revision> {
    return await this.#present.revision()
  }

  async get(key: Key): Promise<Entry | undefined> {
    return await this.#present.get(key)
  }

  async list(range: ListRange): Promise<Snapshot> {
    return await this.#present.list(range)
  }

  async *watch(options: WatchOptions): AsyncIterable<Batch> {
    yield* this.#present.watch(options)
  }

  /** The journal of the store, which delegates to the journal of the current generation. */
  get journal(): Journal | undefined {
    if ((this.#options.retention?.time ?? 0) === 0) return undefined
    return this.#journal
  }

  readonly #journal: Journal = {
    changes: async (key, before, limit) => await this.#present.journal!.changes(key, before, limit),
    list: async (range) => await this.#present.journal!.list(range),
    revisionAt: async (time) => await this.#present.journal!.revisionAt(time),
    oldest: async () => await this.#present.journal!.oldest(),
    forget: async () => await this.#present.journal!.forget(),
  }

  async compact(revision: Revision): Promise<void> {
    await this.#present.compact(revision)
  }

  /** Returns the database size in bytes of the member that is currently used. */
  async size(): Promise<number> {
    const answer = await this.#connection.call(methods.status, encodeStatus(), { effect: 'read' })
    return decodeStatus(answer).databaseBytes
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const ended = this.#generation.end(new StoreError('the store is closed'))
    this.#connection.close()
    this.#generations.close()
    await Promise.all([ended, this.#renewal])
  }

  get #present(): EtcdGeneration {
    if (this.#closed) throw new StoreError('the store is closed')
    return this.#generation
  }

  /** Starts a generation whose revisions are all above `reportedRevision`. */
  async #beginGeneration(reportedRevision: Revision): Promise<EtcdGeneration> {
    const connection = this.#connection
    const generation = new EtcdGeneration({
      connection,
      generationParts: await this.#generations.begin({ connection, prefix: this.#prefix }, reportedRevision),
      historyMs: this.#generations.compacts ? this.#options.historyMs : undefined,
      retention: this.#options.retention,
      clock: this.#options.clock ?? systemClock,
      onWarning: this.#warn,
      onRestored: (error) => {
        this.#renewal = this.#renew(error)
      },
    })
    await generation.begin()
    return generation
  }

  async #renew(ended: StoreRestored): Promise<void> {
    this.#warn(ended.message)
    for (let attempt = 0; !this.#closed; attempt++) {
      const pause = pauses[Math.min(attempt, pauses.length - 1)]
      await delay(pause, undefined, { signal: this.#connection.signal }).catch(() => {})
      // Retries the start of a new generation after a failure. Until a retry succeeds, every call fails with the reason
      // for the failure.
      const generation = await this.#beginGeneration(ended.revision).catch(() => undefined)
      if (generation === undefined) continue
      this.#generation = generation
      if (this.#closed) await generation.end(new StoreError('the store is closed'))
      return
    }
  }

  readonly #warn = (text: string): void => this.#options.onWarning?.(text)
}

/** Warns once about each etcd version that has known bugs. */
function warnOfFaults(warn: (text: string) => void): (version: string) => void {
  const checkedVersions = new Set<string>()
  return (version) => {
    const faults = checkedVersions.has(version) ? undefined : knownFaults(version)
    checkedVersions.add(version)
    if (faults !== undefined) warn(faults)
  }
}

/** Adds a final slash to a prefix, so that no store's prefix starts with the prefix of another store. */
export function withSlash(prefix: string): string {
  return prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
}
