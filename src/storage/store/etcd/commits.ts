/**
 * Commits on etcd. Each commit is one transaction on one key and on the keys that it reserves and releases. If the
 * response is lost, the store determines the outcome as far as possible.
 *
 * After a lost response, it is unknown whether the write happened, and a request in transit may still take effect:
 *
 * - A write of an existing key is sent again. Both copies name the revision that they replace, so at most one of them
 *   can succeed. If the second copy succeeds, its result is the outcome. Otherwise, either the first copy succeeded or
 *   another writer was faster. If etcd still has the value that replaced the revision, this value shows which of them
 *   succeeded. If the value has the same bytes as this write, either writer may have written it, and the outcome
 *   remains unknown.
 * - A new key is looked up. If the bytes of its first value are unique to this write, the write happened. The write is
 *   not sent again: if the key were deleted between the two copies, the second would recreate it.
 * - A member that runs out of space reports an error even for the write that used up the space, although this write is
 *   stored.
 *
 * An unknown outcome is thrown as an ambiguous StoreError.
 *
 * A transaction has at most 128 comparisons. If a write reserves more keys, a read first checks that they are free, and
 * the transaction requires that no key in their range has been written since then. Other writers that reserve keys in
 * that range cause a conflict even if the keys differ, but writes with that many keys are rare.
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

/** Returns the journal note to write together with a commit, or undefined if there is no journal. */
export type NoteOf = (write: Write) => { readonly key: Uint8Array; readonly value: Uint8Array } | undefined

export interface CommitsOptions {
  readonly noteOf?: NoteOf
  /**
   * Checks the session before the transaction is sent. Revisions can be compared only if the session's etcd has the log
   * from which they were read.
   */
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
      // If the response is lost just before the deadline, allow some more time to determine the outcome.
      const deadline = Math.max(usual, performance.now() + deadlineMs / 2)
      if (isFull(error)) return await this.#settleFull(write, error, deadline)
      const outcome = await this.#findOut(write, deadline).catch(() => undefined)
      if (outcome === undefined) throw failure
      return outcome
    }
  }

  async #send(write: Write, deadline?: number, { isNoted } = { isNoted: true }): Promise<Committed | Conflict> {
    if ((write.reserves?.length ?? 0) > maxCompared) return await this.#sendMany(write, deadline)
    const request = this.#requestOf(write, this.#putsOf(write, { isNoted }))
    if (write.lifetimeSeconds === undefined) return await this.#swap(request, deadline)
    return await withLease(this.#connection, write.lifetimeSeconds, (lease, until) =>
      this.#swap({ ...request, lease }, Math.min(until, deadline ?? until)),
    )
  }

  async #sendMany(write: Write, deadline: number | undefined): Promise<Committed | Conflict> {
    const { reserves = [], ...rest } = write
    const ranges = rangesOf(reserves.map(({ key }) => key)).map(([first, last]) => ({
      key: this.#space.key(first),
      end: this.#space.key(`${last}\0`),
    }))
    const reservedKeys = new Set(reserves.map(({ key }) => this.#space.prefix + key))
    const unchanged: { key: Uint8Array; end: Uint8Array; since: number }[] = []
    const options = { effect: 'read', ...(deadline === undefined ? {} : { deadline }) } as const
    for (const range of ranges) {
      const answer = await this.#connection.call(methods.range, encodeRange({ ...range, keysOnly: true }), options)
      const { revision, entries } = decodeRange(answer)
      // A comparison with revision -1 always fails, so the transaction returns the current value of the key.
      const free = entries.every(({ key }) => !reservedKeys.has(key))
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
    const { key, expected, value, guards = [], reserves = [], releases = [] } = write
    const absent = reserves.map((reservation) => ({ key: reservation.key, revision: 0 }))
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
    const reservations = (write.reserves ?? []).map(({ key, value }) => ({ key: this.#space.key(key), value }))
    return note === undefined ? reservations : [...reservations, note]
  }

  // Returns the comparison for an expected revision. A revision that was assigned before the offset was raised becomes
  // -1, which matches no existing key.
  #expectation(expected: Revision | 'present'): Compare {
    if (expected === 'present') return { target: 'version', above: 0 }
    const equals = expected === 0 ? 0 : Math.max(-1, this.#space.etcdRevision(expected) || -1)
    return { target: 'modRevision', equals }
  }

  /** Determines the outcome after a lost response. Returns undefined if the outcome cannot be determined. */
  async #findOut(write: Write, deadline: number): Promise<Committed | Conflict | undefined> {
    if (write.expected === 0) return await this.#findMade(write, deadline)
    const again = await this.#send(write, deadline)
    if (again.outcome === 'committed') return again
    const next = await this.#findNext(write, again.current, deadline)
    if (next === undefined) return undefined
    const isOther = write.value === undefined || !sameBytes(next, write.value)
    return isOther ? again : undefined
  }

  /** Returns the value that replaced the expected revision, which is found by reading earlier versions of the key. */
  async #findNext({ key, expected }: Write, now: Entry | undefined, deadline: number): Promise<Bytes | undefined> {
    const before = (revision: Revision) =>
      this.#look({ key: this.#space.key(key), revision: this.#space.etcdRevision(revision) - 1 }, deadline)
    let entry = now
    for (let steps = 0; entry !== undefined && entry.revision > expected && steps < maxSteps; steps++) {
      const previous = await before(entry.revision)
      if (previous === undefined) return undefined
      if (this.#space.revision(previous.modRevision) === expected) return entry.value
      entry = this.#space.entry(previous)
    }
    return undefined
  }

  /**
   * Determines whether this write created a new key. It did if the first value of the key has this write's bytes, which
   * are unique.
   */
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
    // An etcd that is out of space accepts deletions, as long as the transaction writes nothing else.
    if (write.value === undefined) {
      const bare = await this.#send(write, deadline, { isNoted: false }).catch(() => undefined)
      if (bare?.outcome === 'committed') return bare
    }
    const createdEntry = write.expected === 0 ? await this.#findMade(write, deadline).catch(() => undefined) : undefined
    if (createdEntry !== undefined) return createdEntry
    const now = this.#look({ key: this.#space.key(write.key) }, deadline)
    const ambiguous = await now.then(
      (entry) => (entry === undefined ? 0 : this.#space.revision(entry.modRevision)) !== write.expected,
      () => true,
    )
    throw new StoreFull('etcd has no space left and rejects writes', { cause, ambiguous })
  }

  async #look(request: RangeRequest, deadline: number): Promise<KeyValue | undefined> {
    const answer = await this.#connection.call(methods.range, encodeRange(request), { effect: 'read', deadline })
    return decodeRange(answer).entries[0]
  }

  #committed(etcdRevision: number): Committed {
    return { outcome: 'committed', revision: this.#space.revision(etcdRevision) }
  }
}

/**
 * Maximum number of earlier versions of a key to read. Other writers can change a key often while one writer waits for
 * its response.
 */
const maxSteps = 50

/** Maximum number of reserved keys that are compared one by one, in addition to the guards. */
const maxCompared = 100

/**
 * Returns the first and the last key, in byte order, of each folder. For example, the folder of
 * `claims/node-ports/30001` is `claims/node-ports/`.
 */
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
