/**
 * Commits on their way to the thread. Those of one turn travel as one batch; while the thread is busy with two batches
 * the others gather here, so that the next batch is the larger the slower the disk. Nothing is resolved before
 * `onCommitted` has seen it.
 *
 * A delete must find room on a full disk, since it is what makes room: one that finds none among others is tried again
 * alone, when little is needed, and once more after history was given up for it.
 */
import {
  type Change,
  type Committed,
  type Conflict,
  type Entry,
  type Key,
  type Revision,
  type StoreError,
  StoreFull,
  type Write,
} from '../store.ts'
import type { Connection } from './connection.ts'
import { Packer, Unpacker } from './pack.ts'

interface Pending {
  /** How often it found no room. */
  refusals: number
  readonly write: Write
  readonly due: number
  resolve(outcome: Committed | Conflict): void
  reject(error: StoreError): void
}

export interface CommitListeners {
  onCommitted(changes: readonly Change[]): void
  /** Frees what can be freed without losing the present state. Never rejects. */
  forgetHistory(): Promise<void>
}

const maxBatches = 2
const maxWrites = 2000
const maxBytes = 4 * 1024 * 1024

export class Commits {
  readonly #connection: Connection
  readonly #listeners: CommitListeners
  #queue: Pending[] = []
  /** Deletes that found no room. While there are any, they go first and one by one. */
  readonly #cramped: Pending[] = []
  #batches = 0
  #scheduled = false
  #onIdle: (() => void)[] = []

  constructor(connection: Connection, listeners: CommitListeners) {
    this.#connection = connection
    this.#listeners = listeners
  }

  /** `due`: the time from which on the key is to go by itself; 0: it stays. */
  add(write: Write, due: number): Promise<Committed | Conflict> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ refusals: 0, write, due, resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when every commit added so far has been answered. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve)
      this.#settle()
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#send()
    })
  }

  #send(): void {
    if (this.#cramped.length > 0) this.#sendCramped()
    else while (this.#queue.length > 0 && this.#batches < maxBatches) this.#sendBatch(this.#takeBatch())
    this.#settle()
  }

  #sendCramped(): void {
    if (this.#batches > 0) return
    const next = this.#cramped.shift()!
    if (next.refusals === 1) {
      this.#sendBatch([next])
      return
    }
    this.#batches++
    this.#listeners.forgetHistory().finally(() => {
      this.#batches--
      this.#sendBatch([next])
    })
  }

  #takeBatch(): Pending[] {
    let bytes = 0
    let size = 0
    while (size < this.#queue.length && size < maxWrites && bytes < maxBytes) {
      bytes += this.#queue[size++]!.write.value?.length ?? 0
    }
    const batch = this.#queue.slice(0, size)
    this.#queue = this.#queue.slice(size)
    return batch
  }

  #sendBatch(batch: Pending[]): void {
    this.#batches++
    const writes = pack(batch)
    this.#connection.send({ type: 'commit', writes }, [writes], {
      resolve: (reply) => this.#answer(batch, new Unpacker(reply as ArrayBuffer)),
      reject: (error) => this.#refuse(batch, error),
    })
  }

  #answer(batch: readonly Pending[], reply: Unpacker): void {
    this.#batches--
    const changes: Change[] = []
    const outcomes = batch.map(({ write }) => readOutcome(write, reply, changes))
    this.#listeners.onCommitted(changes)
    for (const [i, pending] of batch.entries()) {
      const outcome = outcomes[i]!
      if (outcome instanceof StoreFull) this.#findsNoRoom(pending, outcome)
      else pending.resolve(outcome)
    }
    this.#send()
  }

  #findsNoRoom(pending: Pending, error: StoreFull): void {
    pending.refusals++
    if (pending.write.value === undefined && pending.refusals <= 2) this.#cramped.push(pending)
    else pending.reject(error)
  }

  #refuse(batch: readonly Pending[], error: StoreError): void {
    this.#batches--
    for (const { reject } of batch) reject(error)
    this.#send()
  }

  #settle(): void {
    if (this.#queue.length > 0 || this.#cramped.length > 0 || this.#batches > 0) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}

const headroom = 8

function pack(batch: readonly Pending[]): ArrayBuffer {
  const packed = new Packer(batch.reduce((sum, { write }) => sum + sizeOf(write), 0))
  for (const { write, due } of batch) {
    packed.number(write.expected)
    packed.number(write.value === undefined ? 1 : 0)
    packed.number(due)
    packed.key(write.key)
    packed.bytes(write.value ?? nothing, headroom)
    packed.number(write.guards?.length ?? 0)
    for (const guard of write.guards ?? []) {
      packed.number(guard.revision)
      packed.key(guard.key)
    }
    packKeys(packed, write.takes)
    packKeys(packed, write.releases)
  }
  return packed.finish()
}

function packKeys(packed: Packer, keys: readonly Key[] = []): void {
  packed.number(keys.length)
  for (const key of keys) packed.key(key)
}

const nothing = new Uint8Array(0)

function sizeOf({ key, value }: Write): number {
  return 60 + headroom + 3 * key.length + (value?.length ?? 0)
}

function readOutcome(write: Write, reply: Unpacker, changes: Change[]): Committed | Conflict | StoreFull {
  const revision: Revision = reply.number()
  const previous = readHeld(write.key, reply)
  if (revision === 0) return { outcome: 'conflict', current: previous }
  if (revision < 0) return new StoreFull(`no room for ${write.value?.length ?? 0} bytes of data`)
  readClaims(write, { revision, reply, changes })
  changes.push({ key: write.key, revision, value: write.value, previous })
  return { outcome: 'committed', revision }
}

function readHeld(key: Key, reply: Unpacker): Entry | undefined {
  const revision: Revision = reply.number()
  return revision === 0 ? undefined : { key, revision, value: reply.bytes().subarray(headroom) }
}

/** What was released and what was taken has the revisions before that of the write, in this order. */
function readClaims(
  { key, takes = [], releases = [] }: Write,
  { revision, reply, changes }: { revision: Revision; reply: Unpacker; changes: Change[] },
): void {
  const released = releases.map((each) => readHeld(each, reply)).filter((held) => held !== undefined)
  let next = revision - released.length - takes.length
  for (const previous of released) changes.push({ key: previous.key, revision: next++, value: undefined, previous })
  const holder = Buffer.from(key)
  for (const taken of takes) changes.push({ key: taken, revision: next++, value: holder, previous: undefined })
}
