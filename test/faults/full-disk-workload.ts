/**
 * Workload for an embedded store on a full disk: fills the store, continues to delete and write, and compares all
 * readable data with the acknowledged writes. Every delete must succeed. The same seed repeats the same operations, but
 * not the same timing.
 */
import assert from 'node:assert/strict'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { type Change, type Revision, RevisionGone, StoreFull } from '../../src/storage/store/store.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'

export interface Counts {
  objects: number
  deletes: number
  refused: number
  exactLists: number
  goneLists: number
}

interface Held {
  readonly revision: Revision
  readonly bytes: number
}

export class FullDiskWorkload {
  readonly counts: Counts = { objects: 0, deletes: 0, refused: 0, exactLists: 0, goneLists: 0 }
  /** Reason why the store stopped writing. Undefined if the store has not stopped. */
  failed: string | undefined
  readonly #directory: string
  readonly #random: RandomSource
  readonly #size: (random: RandomSource) => number
  readonly #held = new Map<string, Held>()
  /** All changes, as reported by a watch that started at the beginning. */
  readonly #changes: Change[] = []
  #through: Revision = 1
  readonly #waiting: ((value: unknown) => void)[] = []
  #watch = new AbortController()
  #store!: LmdbStore
  #watching: Promise<void> = Promise.resolve()
  #createdCount = 0

  constructor(directory: string, seed: number, size: (random: RandomSource) => number) {
    this.#directory = directory
    this.#random = seeded(seed)
    this.#size = size
  }

  async open(): Promise<void> {
    this.#store = await LmdbStore.open({
      directory: this.#directory,
      retention: { time: 3_600_000, bytes: 2 ** 30, withoutValues: [] },
      onFailed: ({ message }) => {
        this.failed = message
      },
    })
    this.#watch = new AbortController()
    this.#watching = this.#collect(this.#watch)
  }

  /** Writes until several writes in a row are rejected. */
  async fill(): Promise<void> {
    for (let refused = 0; refused < 5; ) {
      const writes = [this.create(), this.create()]
      if (this.#random.chance(0.2)) writes.push(this.#update())
      refused = (await Promise.all(writes)).every(Boolean) ? 0 : refused + 1
    }
    this.counts.objects = this.#held.size
  }

  /** Deletes some objects during concurrent writes, updates and a list. */
  async round(): Promise<void> {
    const many = 1 + this.#random.below(1 + this.counts.objects / 20)
    const jobs: Promise<unknown>[] = Array.from({ length: many }, () => this.delete())
    if (this.#random.chance(0.7)) for (let i = 0; i < many; i++) jobs.push(this.create())
    if (this.#random.chance(0.3)) jobs.push(this.#update())
    if (this.#random.chance(0.5)) jobs.push(this.#list())
    await Promise.all(jobs)
  }

  async deleteShare(share: number): Promise<void> {
    const many = Math.ceil(this.#held.size * share)
    for (let i = 0; i < many; i++) await this.delete()
  }

  /** Returns whether the write succeeded. */
  async create(bytes = this.#size(this.#random)): Promise<boolean> {
    return await this.#write(`k/${String(this.#createdCount++).padStart(6, '0')}`, undefined, bytes)
  }

  async #update(): Promise<boolean> {
    const key = this.#pick()
    return key === undefined || (await this.#write(key, this.#take(key), this.#size(this.#random)))
  }

  async #write(key: string, before: Held | undefined, bytes: number): Promise<boolean> {
    try {
      const result = await this.#store.commit({ key, expected: before?.revision ?? 0, value: contentOf(key, bytes) })
      assert.ok(result.outcome === 'committed')
      this.#held.set(key, { revision: result.revision, bytes })
      return true
    } catch (error) {
      if (!(error instanceof StoreFull)) throw error
      if (before) this.#held.set(key, before)
      this.counts.refused++
      return false
    }
  }

  async delete(): Promise<void> {
    const key = this.#pick()
    if (key === undefined) return
    const { revision } = this.#take(key)
    const { outcome } = await this.#store.commit({ key, expected: revision, value: undefined })
    assert.equal(outcome, 'committed')
    this.counts.deletes++
  }

  /**
   * Asserts that the store contains the acknowledged writes, both before and after reopening, and that the watch has
   * received all of them.
   */
  async compare(): Promise<void> {
    await this.#compareHeld()
    await this.#compareWithWatch(await this.#store.list({ prefix: '' }))
    await this.close()
    await this.open()
    await this.#compareHeld()
  }

  async close(): Promise<void> {
    this.#watch.abort()
    await this.#watching
    await this.#store.close()
  }

  get size(): number {
    return this.#held.size
  }

  async #compareHeld(): Promise<void> {
    const { entries } = await this.#store.list({ prefix: '' })
    assert.equal(entries.length, this.#held.size)
    for (const { key, revision, value } of entries) {
      const held = this.#held.get(key)
      assert.equal(revision, held?.revision, key)
      assert.ok(contentOf(key, held!.bytes).equals(value), key)
    }
  }

  /**
   * Lists the current state, an earlier state, and a state from the journal. Each list must be exact or report that the
   * old revision is not available.
   */
  async #list(): Promise<void> {
    const now = await this.#store.list({ prefix: '' })
    await this.#compareWithWatch(now)
    await this.#listPast(
      (revision) => this.#store.list({ prefix: '', revision }),
      now.revision - this.#random.below(20),
    )
    const { journal } = this.#store
    await this.#listPast((revision) => journal!.list({ prefix: '', revision }), this.#random.below(now.revision))
  }

  async #listPast(list: (revision: Revision) => ReturnType<LmdbStore['list']>, revision: Revision): Promise<void> {
    try {
      await this.#compareWithWatch(await list(Math.max(1, revision)))
      this.counts.exactLists++
    } catch (error) {
      if (!(error instanceof RevisionGone)) throw error
      this.counts.goneLists++
    }
  }

  async #compareWithWatch({ revision, entries }: Awaited<ReturnType<LmdbStore['list']>>): Promise<void> {
    while (this.#through < revision) await new Promise((resolve) => this.#waiting.push(resolve))
    const listed = new Map(entries.map((entry) => [entry.key, entry.revision]))
    assert.deepEqual(listed, this.#stateAt(revision), `at revision ${revision}`)
  }

  #stateAt(revision: Revision): Map<string, Revision> {
    const state = new Map<string, Revision>()
    for (const change of this.#changes) {
      if (change.revision > revision) break
      if (change.value === undefined) state.delete(change.key)
      else state.set(change.key, change.revision)
    }
    return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  async #collect({ signal }: AbortController): Promise<void> {
    for await (const { changes, through } of this.#store.watch({ prefix: '', after: this.#through, signal })) {
      for (const { key, revision, value } of changes)
        this.#changes.push({ key, revision, value: value && nothing, previous: undefined })
      this.#through = through
      for (const wake of this.#waiting.splice(0)) wake(undefined)
    }
  }

  #pick(): string | undefined {
    return this.#held.size === 0 ? undefined : this.#random.pick([...this.#held.keys()])
  }

  /** Prevents concurrent writes to the same key. */
  #take(key: string): Held {
    const held = this.#held.get(key)!
    this.#held.delete(key)
    return held
  }
}

const nothing = new Uint8Array(0)

function contentOf(key: string, bytes: number): Buffer {
  return Buffer.alloc(bytes, key)
}
