/**
 * Runs the same seeded random operations on a store and on the model, and compares every result. Revision numbers
 * differ, so each revision of the store is translated to a revision of the model before it is compared.
 */
import assert from 'node:assert/strict'
import { MemoryStore } from '../../../src/storage/store/memory.ts'
import {
  type Change,
  type Committed,
  type Conflict,
  type Entry,
  type Key,
  type Revision,
  RevisionGone,
  type Snapshot,
  type Store,
} from '../../../src/storage/store/store.ts'
import { type RandomSource, seeded } from './random-source.ts'

const keys: Key[] = ['a', 'a/', 'a/b', 'a/b/c', 'ab', 'a\u{1f600}', 'a\uffff', 'b/1', 'b/2', 'b/3', 'c', 'é']
const prefixes = ['', 'a', 'a/', 'a/b', 'b/', 'é', 'none']

/** A revision, with its number in the store and its number in the model. */
interface Pair {
  readonly real: Revision
  readonly model: Revision
}

class Comparison {
  #store: Store
  readonly #model = new MemoryStore()
  readonly #random: RandomSource
  /** All revisions so far, in order. The first element contains the initial revisions of the store and the model. */
  readonly #pairs: Pair[] = []
  /** Index in `#pairs` of the oldest available revision. */
  #oldest = 0

  constructor(store: Store, random: RandomSource) {
    this.#store = store
    this.#random = random
  }

  async begin(): Promise<void> {
    this.#pairs.push({ real: await this.#store.revision(), model: await this.#model.revision() })
  }

  /** Continues with another store on the same data. */
  continueOn(store: Store): void {
    this.#store = store
  }

  async step(): Promise<void> {
    const random = this.#random
    const choice = random.below(100)
    if (choice < 60) await this.#commit()
    else if (choice < 70) await this.#get()
    else if (choice < 88) await this.#list()
    else if (choice < 98) await this.#watch()
    else await this.#compact()
  }

  async #commit(): Promise<void> {
    const key = this.#random.pick(keys)
    const current = await this.#model.get(key)
    const expected = this.#random.chance(0.85)
      ? this.#pairOf(current?.revision)
      : this.#random.pick([none, ...this.#pairs])
    const deletes = expected !== none && this.#random.chance(0.3)
    const value = deletes ? undefined : Buffer.from(`${this.#pairs.length}:${'x'.repeat(this.#random.below(200))}`)
    // A lifetime so long that no key expires during the test.
    const lifetimeSeconds = !deletes && this.#random.chance(0.2) ? 3600 : undefined
    const other = this.#random.pick(keys)
    const rests = this.#random.chance(0.3)
    const known = this.#random.chance(0.7)
      ? this.#pairOf((await this.#model.get(other))?.revision)
      : this.#random.pick([none, ...this.#pairs])
    const write = { key, value, lifetimeSeconds }
    const guardsAt = (revision: Revision) => (rests ? [{ key: other, revision }] : undefined)
    const real = await this.#store.commit({ ...write, expected: expected.real, guards: guardsAt(known.real) })
    const model = await this.#model.commit({ ...write, expected: expected.model, guards: guardsAt(known.model) })
    if (real.outcome === 'committed' && model.outcome === 'committed') {
      assert.ok(real.revision > this.#pairs.at(-1)!.real)
      this.#pairs.push({ real: real.revision, model: model.revision })
    }
    assert.deepEqual(this.#outcome(real), outcomeText(model))
  }

  async #get(): Promise<void> {
    const key = this.#random.pick(keys)
    const real = await this.#store.get(key)
    const model = await this.#model.get(key)
    assert.deepEqual(real && this.#entry(real), model && entryText(model))
  }

  async #list(): Promise<void> {
    const at = this.#random.chance(0.7) ? this.#random.pick(this.#pairs) : undefined
    const range = {
      prefix: this.#random.pick(prefixes),
      ...(this.#random.chance(0.4) ? { after: this.#random.pick(keys) } : {}),
      ...(this.#random.chance(0.5) ? { limit: this.#random.below(5) } : {}),
    }
    const real = await answer(this.#store.list({ ...range, ...(at ? { revision: at.real } : {}) }))
    const model = await answer(this.#model.list({ ...range, ...(at ? { revision: at.model } : {}) }))
    assert.deepEqual(
      real && { ...this.#snapshot(real), revision: this.#modelOf(real.revision) },
      model && { ...snapshotText(model), revision: model.revision },
    )
  }

  async #watch(): Promise<void> {
    const index = this.#random.below(this.#pairs.length)
    const from = this.#pairs[index]!
    const prefix = this.#random.pick(prefixes)
    const model = await answer(readTo(this.#model, from.model, prefix, this.#pairs.at(-1)!.model))
    const real = await answer(readTo(this.#store, from.real, prefix, this.#pairs.at(-1)!.real))
    assert.deepEqual(
      real?.map((change) => this.#change(change)),
      model?.map(changeText),
    )
    assert.equal(model === undefined, index < this.#oldest)
  }

  async #compact(): Promise<void> {
    const index = this.#random.below(this.#pairs.length)
    await this.#store.compact(this.#pairs[index]!.real)
    await this.#model.compact(this.#pairs[index]!.model)
    this.#oldest = Math.max(this.#oldest, index)
  }

  #pairOf(model: Revision | undefined): Pair {
    return this.#pairs.find((pair) => pair.model === model) ?? none
  }

  /**
   * Translates a revision of the store to a revision of the model. Between two commits, the store has the state of the
   * earlier commit.
   */
  #modelOf(real: Revision): Revision {
    return this.#pairs.findLast((pair) => pair.real <= real)!.model
  }

  #entry(entry: Entry): unknown {
    const known = this.#pairs.some((pair) => pair.real === entry.revision)
    assert.ok(known, `revision ${entry.revision} was never committed`)
    return entryText({ ...entry, revision: this.#modelOf(entry.revision) })
  }

  #outcome(outcome: Committed | Conflict): unknown {
    if (outcome.outcome === 'committed') return { committed: this.#modelOf(outcome.revision) }
    return { conflict: outcome.current && this.#entry(outcome.current) }
  }

  #snapshot({ entries, remaining }: Snapshot): object {
    return { entries: entries.map((entry) => this.#entry(entry)), remaining }
  }

  #change({ key, revision, value, previous }: Change): unknown {
    return [key, this.#modelOf(revision), value && text(value), previous && this.#entry(previous)]
  }
}

const none: Pair = { real: 0, model: 0 }

export async function compareWithModel(store: Store, seed: number, steps: number): Promise<void> {
  const comparison = new Comparison(store, seeded(seed))
  await comparison.begin()
  for (let i = 0; i < steps; i++) await comparison.step()
}

/**
 * Compares a store with the model as `compareWithModel` does, but restarts the store after a number of steps, so that
 * no result can come from memory alone.
 */
export async function compareAcrossRestarts(
  store: Store,
  reopen: () => Promise<Store>,
  { seed, restarts, steps }: { seed: number; restarts: number; steps: number },
): Promise<void> {
  const comparison = new Comparison(store, seeded(seed))
  await comparison.begin()
  for (let i = 0; i < restarts; i++) {
    for (let j = 0; j < steps; j++) await comparison.step()
    comparison.continueOn(await reopen())
  }
}

/** Returns the result, or undefined if the revision has expired. */
async function answer<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof RevisionGone) return undefined
    throw error
  }
}

/** Reads all changes to keys with a prefix, up to a revision. */
async function readTo(store: Store, after: Revision, prefix: string, last: Revision): Promise<Change[]> {
  const seen: Change[] = []
  if (after === last) return seen
  const controller = new AbortController()
  // Reads the whole log, because the last change may not belong to the prefix.
  for await (const { changes, through } of store.watch({ prefix: '', after, signal: controller.signal })) {
    seen.push(...changes)
    if (through >= last) controller.abort()
  }
  return seen.filter((change) => change.key.startsWith(prefix))
}

function text(value: Uint8Array): string {
  return Buffer.from(value).toString()
}

function entryText({ key, revision, value }: Entry): unknown {
  return [key, revision, text(value)]
}

function outcomeText(outcome: Committed | Conflict): unknown {
  if (outcome.outcome === 'committed') return { committed: outcome.revision }
  return { conflict: outcome.current && entryText(outcome.current) }
}

function snapshotText({ entries, remaining }: Snapshot): object {
  return { entries: entries.map(entryText), remaining }
}

function changeText({ key, revision, value, previous }: Change): unknown {
  return [key, revision, value && text(value), previous && entryText(previous)]
}
