/**
 * Queues commits for the thread that writes the file. Commits of one turn of the event loop are sent as one batch.
 * While the thread is busy with two batches, additional commits accumulate, so batches are larger on slower disks. No
 * commit resolves before `onCommitted` has received it.
 *
 * If there is no space for a commit, the commit is retried: first in a smaller batch, then after dropping half of the
 * old revisions, and finally after dropping all of them.
 */
import type { Clock } from '../../../base/time/clock.ts'
import { Fullness, type OnCapacity } from '../fullness.ts'
import { Packer, present, Unpacker } from '../pack.ts'
import {
  type Change,
  type Committed,
  type Conflict,
  type Entry,
  type Key,
  type ReservedKey,
  type Revision,
  type StoreError,
  StoreFull,
  ValueTooLarge,
  type Write,
} from '../store.ts'
import type { Connection } from './connection.ts'

interface Pending {
  /**
   * Number of attempts that have failed for lack of space. After the first failure, only attempts in which no other
   * write succeeded are counted.
   */
  refusals: number
  readonly write: Write
  readonly due: number
  resolve(outcome: Committed | Conflict): void
  reject(error: StoreError): void
}

export interface CommitListeners {
  onCommitted(changes: readonly Change[]): void
  /** Drops half or all of the old revisions. Resolves to false if dropping frees no space. Never rejects. */
  giveUpHistory(part: 'half' | 'all'): Promise<boolean>
  /**
   * Called when the store starts to reject writes for lack of space, and again when a write that adds data succeeds.
   */
  readonly onCapacity?: OnCapacity | undefined
}

/** The share of old revisions to drop before each retry of a write that did not fit on the disk. */
const remedies = ['none', 'half', 'all'] as const
/** Maximum size of a batch that retries writes that did not fit on the disk. */
const fewWrites = 64
const fewDeletes = 500
const maxBatches = 2
const maxWrites = 2000
const maxBytes = 4 * 1024 * 1024

export class Commits {
  readonly #connection: Connection
  readonly #listeners: CommitListeners
  readonly #fullness: Fullness
  #queue: Pending[] = []
  /**
   * Writes that did not fit on the disk. They are retried before new writes, in small batches that start with deletes.
   */
  readonly #refused: { deletes: Pending[]; others: Pending[] } = { deletes: [], others: [] }
  #batches = 0
  #scheduled = false
  #onIdle: (() => void)[] = []
  #pauses = 0
  #onQuiet: (() => void)[] = []

  constructor(connection: Connection, listeners: CommitListeners) {
    this.#connection = connection
    this.#listeners = listeners
    this.#fullness = new Fullness(listeners.onCapacity)
  }

  /** Queues a commit. `due` is the time when the key expires, or 0 if it does not expire. */
  add(write: Write, due: number): Promise<Committed | Conflict> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ refusals: 0, write, due, resolve, reject })
      this.#schedule()
    })
  }

  /** Runs a function while no commit is in progress. New commits wait until the function has ended. */
  async pause<T>(run: () => Promise<T>): Promise<T> {
    this.#pauses++
    try {
      while (this.#batches > 0) await new Promise<void>((resolve) => this.#onQuiet.push(resolve))
      return await run()
    } finally {
      this.#pauses--
      this.#send()
    }
  }

  /** Resolves when every commit added so far has succeeded or failed. */
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
    if (this.#batches === 0) for (const resolve of this.#onQuiet.splice(0)) resolve()
    if (this.#pauses > 0) return
    if (this.#anyRefused) this.#sendRefused()
    else while (this.#queue.length > 0 && this.#batches < maxBatches) this.#sendBatch(this.#takeBatch())
    this.#settle()
  }

  get #anyRefused(): boolean {
    return this.#refused.deletes.length > 0 || this.#refused.others.length > 0
  }

  #sendRefused(): void {
    if (this.#batches > 0) return
    const { deletes, others } = this.#refused
    const few = deletes.length > 0 ? deletes.splice(0, fewDeletes) : others.splice(0, fewWrites)
    const remedy = remedies[Math.max(...few.map(({ refusals }) => refusals)) - 1] ?? 'none'
    if (remedy === 'none') {
      this.#sendBatch(few)
      return
    }
    this.#batches++
    void this.#listeners.giveUpHistory(remedy).then((madeRoom) => {
      this.#batches--
      if (madeRoom) this.#sendBatch(few)
      else this.#reject(few)
      this.#send()
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
    const refused: Pending[] = []
    for (const [i, pending] of batch.entries()) {
      const outcome = outcomes[i]
      if (outcome === undefined) refused.push(pending)
      else this.#resolve(pending, outcome)
    }
    if (refused.length > 0) this.#findNoRoom(refused, { progress: changes.length > 0 })
    this.#send()
  }

  /**
   * Handles writes that did not fit on the disk. `progress` means that other writes of the batch succeeded, so that a
   * smaller batch is tried before space is freed.
   */
  #findNoRoom(refused: readonly Pending[], { progress }: { progress: boolean }): void {
    for (const pending of refused) {
      if (!progress || pending.refusals === 0) pending.refusals++
      if (pending.refusals > remedies.length) this.#reject([pending])
      else if (pending.write.value === undefined) this.#refused.deletes.push(pending)
      else this.#refused.others.push(pending)
    }
  }

  #resolve({ write, resolve }: Pending, outcome: Committed | Conflict): void {
    if (outcome.outcome === 'committed') this.#fullness.written(write)
    resolve(outcome)
  }

  #reject(refused: readonly Pending[]): void {
    for (const { write, reject } of refused) {
      const error = new StoreFull(`no room for ${write.value?.length ?? 0} bytes of data`)
      this.#fullness.refused(error)
      reject(error)
    }
  }

  #refuse(batch: readonly Pending[], error: StoreError): void {
    this.#batches--
    this.#fullness.refused(error)
    for (const { reject } of batch) reject(error)
    this.#send()
  }

  #settle(): void {
    if (this.#queue.length > 0 || this.#anyRefused || this.#batches > 0) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}

/** Maximum size of a value in bytes. lmdb accepts any size, but this limit bounds the memory for a batch. */
const maxValueBytes = 8 * 1024 * 1024

export function assertSize({ value }: Write): void {
  const size = value?.length ?? 0
  if (size > maxValueBytes) throw new ValueTooLarge(size, maxValueBytes)
}

/** Returns the expiry time of the key, or 0 if it does not expire. */
export function dueTime({ lifetimeSeconds }: Write, clock: Clock): number {
  return lifetimeSeconds === undefined ? 0 : clock.now() + 1000 * lifetimeSeconds
}

/** Adds an empty note with the current time to a write that has no note, so that revisions can be looked up by time. */
export function withTime(write: Write, clock: Clock): Write {
  return write.note === undefined ? { ...write, note: { time: clock.now(), text: nothing } } : write
}

const headroom = 8

function pack(batch: readonly Pending[]): ArrayBuffer {
  const packer = new Packer(batch.reduce((sum, { write }) => sum + sizeOf(write), 0))
  for (const { write, due } of batch) {
    packer.number(write.expected)
    packer.number(write.value === undefined ? 1 : 0)
    packer.number(due)
    packer.key(write.key)
    packer.bytes(write.value ?? nothing, headroom)
    packer.number(write.guards?.length ?? 0)
    for (const guard of write.guards ?? []) {
      packer.number(guard.revision === 'present' ? present : guard.revision)
      packer.key(guard.key)
    }
    packReserved(packer, write.reserves)
    packKeys(packer, write.releases)
    packer.number(write.note?.time ?? 0)
    packer.bytes(write.note?.text ?? nothing)
  }
  return packer.finish()
}

function packReserved(packed: Packer, reserves: readonly ReservedKey[] = []): void {
  packed.number(reserves.length)
  for (const { key, value } of reserves) {
    packed.key(key)
    packed.bytes(value, headroom)
  }
}

function packKeys(packed: Packer, keys: readonly Key[] = []): void {
  packed.number(keys.length)
  for (const key of keys) packed.key(key)
}

const nothing = new Uint8Array(0)

function sizeOf({ key, value, note }: Write): number {
  return 80 + headroom + 3 * key.length + (value?.length ?? 0) + (note?.text.length ?? 0)
}

/** Unpacks the outcome of one write. Returns undefined if the write did not fit on the disk. */
function readOutcome(write: Write, reply: Unpacker, changes: Change[]): Committed | Conflict | undefined {
  const revision: Revision = reply.number()
  const previous = readHeld(write.key, reply)
  if (revision === 0) return { outcome: 'conflict', current: previous }
  if (revision < 0) return undefined
  readClaims(write, { revision, reply, changes })
  changes.push({ key: write.key, revision, value: write.value, previous })
  return { outcome: 'committed', revision }
}

function readHeld(key: Key, reply: Unpacker): Entry | undefined {
  const revision: Revision = reply.number()
  return revision === 0 ? undefined : { key, revision, value: reply.bytes().subarray(headroom) }
}

/**
 * Unpacks the changes of the reserved and released keys from a reply. Their revisions directly precede the revision of
 * the write, in this order.
 */
function readClaims(
  { reserves = [], releases = [] }: Write,
  { revision, reply, changes }: { revision: Revision; reply: Unpacker; changes: Change[] },
): void {
  const released = releases.map((each) => readHeld(each, reply)).filter((record) => record !== undefined)
  let next = revision - released.length - reserves.length
  for (const previous of released) changes.push({ key: previous.key, revision: next++, value: undefined, previous })
  for (const { key, value } of reserves) changes.push({ key, revision: next++, value, previous: undefined })
}
