/** Helpers for tests of stores: commits that must succeed, and a reader that records all changes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Change, Committed, Conflict, Revision, Store } from '../../../src/storage/store/store.ts'

export const bytes = (text: string) => new Uint8Array(Buffer.from(text))

export function closeOnDispose<T extends Store>(store: T): T & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}

export async function commit(
  store: Store,
  key: string,
  expected: Revision,
  value: string | undefined,
): Promise<Revision> {
  const result = await store.commit({ key, expected, value: value === undefined ? undefined : bytes(value) })
  return assertCommitted(result).revision
}

export function assertCommitted(result: Committed | Conflict): Committed {
  assert.equal(result.outcome, 'committed')
  return result
}

const patienceMs = 60_000

/** Follows the changes of a store from a revision onwards, until the follower is disposed. */
export class Follower implements AsyncDisposable {
  readonly changes: Change[] = []
  /** Revision up to which all changes have been reported. */
  through: Revision = 0
  #error: unknown
  readonly #stop = new AbortController()
  readonly #news = new EventTarget()
  readonly #done: Promise<void>

  constructor(store: Store, after: Revision) {
    this.#done = this.#run(store, after)
  }

  async until(enough: (changes: readonly Change[]) => boolean): Promise<void> {
    const signal = AbortSignal.timeout(patienceMs)
    while (!enough(this.changes)) {
      if (this.#error !== undefined) throw this.#error
      await once(this.#news, 'news', { signal })
    }
  }

  /** Resolves when the watch has reported progress past this revision. */
  passes(revision: Revision): Promise<void> {
    return this.until(() => this.through >= revision)
  }

  /** Resolves to the error that ends the watch. */
  async ended(): Promise<unknown> {
    const signal = AbortSignal.timeout(patienceMs)
    while (this.#error === undefined) await once(this.#news, 'news', { signal })
    return this.#error
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #run(store: Store, after: Revision): Promise<void> {
    try {
      for await (const { changes, through } of store.watch({ prefix: '', after, signal: this.#stop.signal })) {
        assert.ok(through > this.through)
        this.through = through
        this.changes.push(...changes)
        this.#news.dispatchEvent(new Event('news'))
      }
    } catch (error) {
      this.#error = error
      this.#news.dispatchEvent(new Event('news'))
    }
  }
}
