/**
 * A store with faults in a deterministic world. A seed determines which pending call continues next, which calls fail,
 * when compaction happens, and how far the clock advances. The same seed produces the same run, step by step.
 *
 * Every change is also recorded outside the store with its previous value. This record is never compacted.
 */
import { mock } from 'node:test'
import { MemoryStore } from '../../src/storage/store/memory.ts'
import {
  type Batch,
  type Change,
  type Committed,
  type Conflict,
  type Entry,
  type Key,
  type ListRange,
  type Revision,
  type Snapshot,
  type Store,
  StoreError,
  type WatchOptions,
  type Write,
} from '../../src/storage/store/store.ts'
import type { RandomSource } from '../storage/store/random-source.ts'

/**
 * Resumes waiting calls one at a time, in an order that the seed determines. Advances the clock whenever no call is
 * waiting, and also at random.
 */
export class Scheduler {
  /** The events of the run, for comparing two runs. */
  readonly trace: string[] = []
  readonly #waiting: (() => void)[] = []
  readonly #random: RandomSource

  constructor(random: RandomSource) {
    this.#random = random
  }

  /** Resolves when the scheduler resumes this call. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Runs until `done` settles. Fails if `done` does not settle within a maximum number of steps. */
  async run(done: Promise<unknown>, maxSteps = 50_000): Promise<void> {
    let over = false
    const end = () => {
      over = true
    }
    done.then(end, end)
    for (let step = 0; !over; step++) {
      if (step > maxSteps)
        throw new Error(`not at its end after ${maxSteps} steps:\n${this.trace.slice(-20).join('\n')}`)
      await settled()
      this.#step()
    }
    await done
  }

  #step(): void {
    const { length } = this.#waiting
    if (length === 0 || this.#random.chance(0.02)) mock.timers.tick(1 + this.#random.below(400))
    if (length > 0) this.#waiting.splice(this.#random.below(length), 1)[0]!()
  }
}

/** Waits until all work that does not depend on the scheduler is done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export class FaultyStore implements Store {
  /** All changes, in order. */
  readonly log: Change[] = []
  /** The highest revision that a writer has received. */
  acknowledged: Revision = 1
  /** Probability of faults. 0 means that no faults occur. */
  faults = 0.03
  readonly #store = new MemoryStore()
  readonly #scheduler: Scheduler
  readonly #random: RandomSource

  constructor(scheduler: Scheduler, random: RandomSource) {
    this.#scheduler = scheduler
    this.#random = random
  }

  async commit(write: Write): Promise<Committed | Conflict> {
    await this.#before()
    const previous = await this.#store.get(write.key)
    const result = await this.#store.commit(write)
    if (result.outcome === 'committed') {
      this.#scheduler.trace.push(`${result.revision} ${write.key} ${write.value?.length ?? 'deleted'}`)
      this.log.push({ key: write.key, revision: result.revision, value: write.value, previous })
    }
    await this.#scheduler.turn()
    if (this.#random.chance(this.faults)) throw new StoreError('the answer is lost', { ambiguous: true })
    if (result.outcome === 'committed') this.acknowledged = Math.max(this.acknowledged, result.revision)
    return result
  }

  async revision(): Promise<Revision> {
    return await this.#asked(() => this.#store.revision())
  }

  async get(key: Key): Promise<Entry | undefined> {
    return await this.#asked(() => this.#store.get(key))
  }

  async list(range: ListRange): Promise<Snapshot> {
    return await this.#asked(() => this.#store.list(range))
  }

  /** Delivers batches of changes late and in pieces, and occasionally breaks the watch. */
  async *watch(options: WatchOptions): AsyncIterable<Batch> {
    for await (const batch of this.#store.watch(options)) {
      for (const piece of this.#cut(batch)) {
        await this.#before()
        if (options.signal.aborted) return
        yield piece
      }
    }
  }

  async compact(revision: Revision): Promise<void> {
    this.#scheduler.trace.push(`compacted to ${revision}`)
    await this.#store.compact(revision)
  }

  async close(): Promise<void> {
    await this.#store.close()
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    await this.#before()
    const answer = await ask()
    await this.#scheduler.turn()
    return answer
  }

  async #before(): Promise<void> {
    await this.#scheduler.turn()
    if (!this.#random.chance(this.faults)) return
    this.#scheduler.trace.push('failed')
    throw new StoreError('the store is not there')
  }

  *#cut({ changes, through }: Batch): Generator<Batch> {
    let from = 0
    while (changes.length - from > 1 && this.#random.chance(0.5)) {
      const to = from + 1 + this.#random.below(changes.length - from - 1)
      yield { changes: changes.slice(from, to), through: changes[to - 1]!.revision }
      from = to
    }
    yield { changes: changes.slice(from), through }
  }
}
