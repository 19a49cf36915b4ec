/**
 * Commits on etcd: each is one transaction on one key and on what it takes and releases; and when its answer is lost,
 * as much of the truth as can be established.
 *
 * After a lost answer nobody knows whether the write happened, and a copy that is still on its way may yet happen:
 *  - A write of a key that exists is sent again. Both copies name the revision that they replace, so at most one of
 *    them can happen: if it is the second, that is the answer. If it is not, the first has happened, or another writer
 *    was faster; what replaced that revision tells which, as far as etcd still knows it. With the same bytes it may be
 *    the first or that of another, and it stays open.
 *  - A new key is looked up. If it began with bytes that only this write has, the write happened. It is not sent again:
 *    were the key deleted between the two copies, the second would bring it back.
 *  - A member without space says so also to the write that filled it, having done it.
 * What stays open is thrown as an ambiguous StoreError.
 *
 * A transaction has 128 comparisons at most. Where a write takes more keys than that, it is looked first whether they are
 * free, and the transaction compares the range that they lie in: nothing was written there since. Others who take keys
 * of the range make it a conflict, though they took other ones; so do few who take that many.
 */
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import {
  type Bytes,
  type Committed,
  type Conflict,
  type Entry,
  type Key,
  type Revision,
  StoreFull,
  type Write,
} from '../store.ts'
import type { CallOptions, Connection } from './connection.ts'
import { isFull, writeFailure } from './failure.ts'
import type { KeySpace } from './key-space.ts'
import { withLease } from './lease.ts'
import {
  type Compare,
  decodeRange,
  decodeSwap,
  encodeRange,
  encodeSwap,
  type KeyValue,
  methods,
  type RangeRequest,
  type SwapRequest,
} from './messages.ts'

/** What is written together with a commit for the journal; undefined: there is none. */
export type NoteOf = (write: Write) => { readonly key: Uint8Array; readonly value: Uint8Array } | undefined

export interface CommitsOptions {
  readonly noteOf?: NoteOf
  /** Checks a session before a transaction is sent on it: revisions that it compares must be of the same history. */
  readonly check?: CallOptions['check']
}

export class Commits {
  readonly #connection: Connection
  readonly #space: KeySpace
  readonly #noteOf: NoteOf
  readonly #check: CallOptions['check']

  constructor(connection: Connection, space: KeySpace, { noteOf = () => undefined, check }: CommitsOptions = {}) {
    this.#connection = connection
    this.#space = space
    this.#noteOf = noteOf
    this.#check = check
  }

  async commit(write: Write): Promise<Committed | Conflict> {
    const { deadlineMs } = this.#connection
    const usual = performance.now() + deadlineMs
    try {
      return await this.#send(write)
    } catch (error) {
      const failure = writeFailure(error, write.value?.length ?? 0)
      if (!failure.ambiguous) throw failure
      // What was lost late has some time beyond the usual.
      const deadline = Math.max(usual, performance.now() + deadlineMs / 2)
      if (isFull(error)) return await this.#settleFull(write, error, deadline)
      const found = await this.#findOut(write, deadline).catch(() => undefined)
      if (found === undefined) throw failure
      return found
    }
  }

  async #send(write: Write, deadline?: number, { isNoted } = { isNoted: true }): Promise<Committed | Conflict> {
    if ((write.takes?.length ?? 0) > mostCompared) return await this.#sendMany(write, deadline)
    const request = this.#requestOf(write, this.#putsOf(write, { isNoted }))
    if (write.lifetimeSeconds === undefined) return await this.#swap(request, deadline)
    return await withLease(this.#connection, write.lifetimeSeconds, (lease, until) =>
      this.#swap({ ...request, lease }, Math.min(until, deadline ?? until)),
    )
  }

  async #sendMany(write: Write, deadline: number | undefined): Promise<Committed | Conflict> {
    const { takes = [], ...rest } = write
    const ranges = rangesOf(takes.map(({ key }) => key)).map(([first, last]) => ({
      key: this.#space.key(first),
      end: this.#space.key(`${last}\0`),
    }))
    const wanted = new Set(takes.map(({ key }) => this.#space.prefix + key))
    const unchanged: { key: Uint8Array; end: Uint8Array; since: number }[] = []
    const options = { effect: 'read', ...(deadline === undefined ? {} : { deadline }) } as const
    for (const range of ranges) {
      const answer = await this.#connection.call(methods.range, encodeRange({ ...range, keysOnly: true }), options)
      const { revision, entries } = decodeRange(answer)
      // What is taken is never free at the revision asked for, so that the transaction tells what the key holds.
      const free = entries.every(({ key }) => !wanted.has(key))
      unchanged.push({ ...range, since: free ? revision : -1 })
    }
    return await this.#swap({ ...this.#requestOf(rest, this.#putsOf(write)), unchanged }, deadline)
  }

  async #swap(request: SwapRequest, deadline: number | undefined): Promise<Committed | Conflict> {
    const check = this.#check && { check: this.#check }
    const options = { effect: 'write', ...check, ...(deadline === undefined ? {} : { deadline }) } as const
    const answer = await this.#connection.call(methods.txn, encodeSwap(request), options)
    const { succeeded, revision, current } = decodeSwap(answer)
    return succeeded
      ? this.#committed(revision)
      : { outcome: 'conflict', current: current && this.#space.entry(current) }
  }

  #requestOf(write: Write, puts: SwapRequest['puts'] = []): SwapRequest {
    const { key, expected, value, guards = [], takes = [], releases = [] } = write
    const absent = takes.map((taken) => ({ key: taken.key, revision: 0 }))
    return {
      key: this.#space.key(key),
      compare: this.#expectation(expected),
      value,
      guards: [...guards, ...absent].map((guard) => ({
        key: this.#space.key(guard.key),
        compare: this.#expectation(guard.revision),
      })),
      puts,
      deletes: releases.map((released) => this.#space.key(released)),
    }
  }

  #putsOf(write: Write, { isNoted } = { isNoted: true }) {
    const note = isNoted ? this.#noteOf(write) : undefined
    const taken = (write.takes ?? []).map(({ key, value }) => ({ key: this.#space.key(key), value }))
    return note === undefined ? taken : [...taken, note]
  }

  // A revision from before the offset names nothing that exists; -1 is what no key has.
  #expectation(expected: Revision | 'present'): Compare {
    if (expected === 'present') return { target: 'version', above: 0 }
    const equals = expected === 0 ? 0 : Math.max(-1, this.#space.etcdRevision(expected) || -1)
    return { target: 'modRevision', equals }
  }

  /** The true outcome after a lost answer; undefined: nobody can know. */
  async #findOut(write: Write, deadline: number): Promise<Committed | Conflict | undefined> {
    if (write.expected === 0) return await this.#findMade(write, deadline)
    const again = await this.#send(write, deadline)
    if (again.outcome === 'committed') return again
    const next = await this.#findNext(write, again.current, deadline)
    if (next === undefined) return undefined
    const isOther = write.value === undefined || !sameBytes(next, write.value)
    return isOther ? again : undefined
  }

  /** The bytes that replaced what the write was to replace, found by going back from what is there now. */
  async #findNext({ key, expected }: Write, now: Entry | undefined, deadline: number): Promise<Bytes | undefined> {
    const before = (revision: Revision) =>
      this.#look({ key: this.#space.key(key), revision: this.#space.etcdRevision(revision) - 1 }, deadline)
    let entry = now
    for (let steps = 0; entry !== undefined && entry.revision > expected && steps < mostSteps; steps++) {
      const previous = await before(entry.revision)
      if (previous === undefined) return undefined
      if (this.#space.revision(previous.modRevision) === expected) return entry.value
      entry = this.#space.entry(previous)
    }
    return undefined
  }

  /** Whether a key that is there now began with the bytes of this write, which no other has. */
  async #findMade({ key, value, unique }: Write, deadline: number): Promise<Committed | undefined> {
    if (!unique) return undefined
    const now = await this.#look({ key: this.#space.key(key) }, deadline)
    if (now === undefined) return undefined
    const { createRevision } = now
    const first =
      now.version === 1 ? now : await this.#look({ key: this.#space.key(key), revision: createRevision }, deadline)
    return first && sameBytes(first.value, value!) ? this.#committed(createRevision) : undefined
  }

  async #settleFull(write: Write, cause: unknown, deadline: number): Promise<Committed> {
    // A full etcd takes deletions, as long as nothing is written with them.
    if (write.value === undefined) {
      const bare = await this.#send(write, deadline, { isNoted: false }).catch(() => undefined)
      if (bare?.outcome === 'committed') return bare
    }
    const made = write.expected === 0 ? await this.#findMade(write, deadline).catch(() => undefined) : undefined
    if (made !== undefined) return made
    const now = this.#look({ key: this.#space.key(write.key) }, deadline)
    const ambiguous = await now.then(
      (entry) => (entry === undefined ? 0 : this.#space.revision(entry.modRevision)) !== write.expected,
      () => true,
    )
    throw new StoreFull('etcd has no space left: writes are refused', { cause, ambiguous })
  }

  async #look(request: RangeRequest, deadline: number): Promise<KeyValue | undefined> {
    const answer = await this.#connection.call(methods.range, encodeRange(request), { effect: 'read', deadline })
    return decodeRange(answer).entries[0]
  }

  #committed(etcdRevision: number): Committed {
    return { outcome: 'committed', revision: this.#space.revision(etcdRevision) }
  }
}

/** How far it is looked back for what replaced a revision; many write a hot key while one waits for its answer. */
const mostSteps = 50

/** How many keys are compared one by one: what it rests on is compared besides. */
const mostCompared = 100

/** The first and the last key of each folder, in the order of their bytes: `claims/node-ports/30001` is in one. */
function rangesOf(keys: readonly Key[]): [Key, Key][] {
  const folders = Map.groupBy(keys, (key) => key.slice(0, key.lastIndexOf('/') + 1))
  return [...folders.values()].map((inside) => {
    const sorted = inside.toSorted(compareUtf8)
    return [sorted[0]!, sorted.at(-1)!]
  })
}

function sameBytes(a: Bytes, b: Bytes): boolean {
  return Buffer.compare(a, b) === 0
}
