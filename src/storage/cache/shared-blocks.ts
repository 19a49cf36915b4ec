/**
 * Shares the bytes of objects among all workers of a server (`--workers`).
 *
 * Each worker applies every change in its own memory, so no worker waits for another. One worker copies objects that
 * have not changed for a while into blocks of shared memory and announces their positions. The other workers replace
 * their own copies if the bytes are equal. Sharing is only an optimization: a worker that misses an announcement, or
 * whose bytes differ, keeps its own copy.
 *
 * A replaced object is copied out of its block (`CachedObject.leaveBlock`). Otherwise, events that still refer to the
 * object would keep the whole block in memory. A sparse block is released and its remaining objects are copied to a new
 * block.
 */
import { BroadcastChannel } from 'node:worker_threads'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { CachedObject } from './cached-object.ts'

/** Looks up the objects that are currently cached. */
export interface CurrentObjects {
  get(key: string): CachedObject | undefined
  all(): Iterable<CachedObject>
}

/**
 * Shares the bytes of cached objects with other workers. The caches report added and changed objects to this module.
 */
export interface SharedBytes {
  /** Called with the new object after a create or update. */
  changed(object: CachedObject): void
  /** Called with all objects of a kind after they have been loaded. */
  loaded(objects: Iterable<CachedObject>): void
  close(): void
}

/** Announces the positions of the objects in a block. */
interface BlockAnnouncement {
  readonly type: 'told'
  /** The worker that requested the announcement. Undefined means that the announcement is for all workers. */
  readonly to: number | undefined
  readonly block: SharedArrayBuffer
  readonly keys: readonly string[]
  /** The revision, start and end of each object. */
  readonly places: Float64Array
}

/** Asks the worker that fills the blocks to repeat all its announcements. */
interface Ask {
  readonly type: 'ask'
  readonly from: number
}

/**
 * The workers that share memory, and the index of this worker. Worker 0 fills the blocks, and the other workers use
 * them.
 */
export interface Sharing {
  readonly channel: string
  readonly index: number
  /**
   * How long an object must stay unchanged before it is copied, in milliseconds. Objects are copied after one to two
   * times this duration. Defaults to two seconds.
   */
  readonly restMs?: number
  /** Whether worker 0 waits until another worker requests blocks before it fills any. Defaults to false. */
  readonly waits?: boolean
}

export function shareBlocks(sharing: Sharing, objects: CurrentObjects): SharedBytes {
  const port = new BroadcastChannel(sharing.channel)
  port.unref()
  const parts = { port, objects, index: sharing.index, restMs: sharing.restMs ?? 2_000, waits: sharing.waits ?? false }
  return sharing.index === 0 ? new LaidBlocks(parts) : new FollowedBlocks(parts)
}

interface Parts extends Required<Omit<Sharing, 'channel'>> {
  readonly port: BroadcastChannel
  readonly objects: CurrentObjects
}

const blockBytes = 256 * 1024
/**
 * In each round, the fraction of blocks to check for unused space is one divided by this number. At least one block is
 * checked.
 */
const reviewedShare = 16

/** Copies objects that have not changed for a while into blocks and announces them to the other workers. */
class LaidBlocks implements SharedBytes {
  readonly #port: BroadcastChannel
  readonly #objects: CurrentObjects
  readonly #restMs: number
  /** Whether another worker may use the blocks. Without other workers, no block is filled. */
  #isNeeded: boolean
  /**
   * Keys that changed since the last round, and keys that changed in the round before that. Keys are stored instead of
   * objects, so that replaced objects can be garbage-collected.
   */
  #young = new Set<string>()
  #older = new Set<string>()
  #loaded: Iterable<CachedObject>[] = []
  /** The blocks that contain objects. Only the last block has free space. */
  #blocks: Block[] = []
  #reviewed = 0
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor({ port, objects, restMs, waits }: Parts) {
    this.#port = port
    this.#objects = objects
    this.#restMs = restMs
    this.#isNeeded = !waits
    port.onmessage = (event: unknown) => {
      const { data } = event as { data: BlockAnnouncement | Ask }
      if (data.type === 'ask') this.#answer(data.from)
    }
    if (this.#isNeeded) this.#planRound()
  }

  changed({ key }: CachedObject): void {
    if (this.#isNeeded) this.#young.add(key)
  }

  /** Makes newly loaded objects eligible for copying in the next round, without the usual delay. */
  loaded(objects: Iterable<CachedObject>): void {
    if (this.#isNeeded) this.#loaded.push(objects)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#port.close()
  }

  #answer(to: number): void {
    if (this.#isNeeded) {
      void this.#tellAll(to)
      return
    }
    this.#isNeeded = true
    this.#loaded.push(this.#objects.all())
    this.#planRound()
  }

  #planRound(): void {
    if (this.#closed) return
    this.#timer = setTimeout(async () => {
      try {
        await this.#round()
      } finally {
        this.#planRound()
      }
    }, this.#restMs).unref()
  }

  async #round(): Promise<void> {
    const young = this.#young
    const older = this.#older
    this.#young = new Set()
    this.#older = young
    for (const objects of this.#loaded.splice(0)) await this.#lay(objects)
    const resting = [...older].filter((key) => !young.has(key))
    await this.#lay(currentOf(this.#objects, resting))
    await this.#layFromSparse()
  }

  async #lay(objects: Iterable<CachedObject>): Promise<void> {
    const timeSlice = new TimeSlice()
    for (const object of objects) {
      // Copies the object only if it has not been replaced while other tasks ran.
      if (this.#objects.get(object.key) === object) this.#blockFor(object.json.length).add(object)
      if (timeSlice.charge(costOf(object))) await timeSlice.yieldIfDue()
    }
    this.#tellNew()
  }

  #blockFor(size: number): Block {
    const last = this.#blocks.at(-1)
    if (last !== undefined && size <= last.room) return last
    this.#tellNew()
    const block = new Block(Math.max(size, blockBytes))
    this.#blocks.push(block)
    return block
  }

  #tellNew(): void {
    const last = this.#blocks.at(-1)
    if (last !== undefined) this.#announce(last, last.takeNew(this.#objects))
  }

  #announce({ memory }: Block, objects: readonly CachedObject[], to?: number): void {
    if (this.#closed || objects.length === 0) return
    const keys = objects.map(({ key }) => key)
    const places = Float64Array.from(objects.flatMap(({ revision, json }) => [revision, ...positionOf(json)]))
    this.#port.postMessage({ type: 'told', to, block: memory, keys, places } satisfies BlockAnnouncement)
  }

  async #tellAll(to: number): Promise<void> {
    const timeSlice = new TimeSlice()
    for (const block of this.#blocks.slice()) {
      this.#announce(block, block.all(this.#objects), to)
      await timeSlice.yieldIfDue()
    }
  }

  /** Releases some sparse blocks and copies their remaining objects to new blocks. */
  async #layFromSparse(): Promise<void> {
    const timeSlice = new TimeSlice()
    const full = this.#blocks.slice(0, -1)
    const begin = this.#reviewed < full.length ? this.#reviewed : 0
    this.#reviewed = begin + Math.ceil(full.length / reviewedShare)
    for (const block of full.slice(begin, this.#reviewed)) {
      const remainingObjects = block.all(this.#objects)
      if (isSparse(block, remainingObjects)) {
        this.#blocks.splice(this.#blocks.indexOf(block), 1)
        this.#reviewed--
        await this.#lay(remainingObjects)
      }
      await timeSlice.yieldIfDue()
    }
  }
}

/** Replaces the bytes of objects with the bytes in the blocks of another worker. */
class FollowedBlocks implements SharedBytes {
  readonly #port: BroadcastChannel
  readonly #objects: CurrentObjects
  readonly #index: number
  readonly #restMs: number
  #asking: NodeJS.Timeout | undefined

  constructor({ port, objects, index, restMs }: Parts) {
    this.#port = port
    this.#objects = objects
    this.#index = index
    this.#restMs = restMs
    port.onmessage = (event: unknown) => {
      const { data } = event as { data: BlockAnnouncement | Ask }
      if (data.type === 'told' && (data.to ?? index) === index) this.#take(data)
    }
  }

  /** Does nothing, because worker 0 announces the object when it has stopped changing. */
  changed(): void {}

  /**
   * Requests the announcements again, because they may have arrived before the objects were loaded. The timer combines
   * all kinds that are loaded in the same turn into one request.
   */
  loaded(): void {
    clearTimeout(this.#asking)
    this.#asking = setTimeout(() => {
      this.#port.postMessage({ type: 'ask', from: this.#index } satisfies Ask)
    }, this.#restMs).unref()
  }

  close(): void {
    clearTimeout(this.#asking)
    this.#port.close()
  }

  #take({ block, keys, places }: BlockAnnouncement): void {
    for (const [i, key] of keys.entries()) {
      const object = this.#objects.get(key)
      if (object === undefined || object.revision !== places[3 * i]) continue
      const start = places[3 * i + 1]!
      const end = places[3 * i + 2]!
      object.shareBytes(Buffer.from(block, start, end - start))
    }
  }
}

/** A block of consecutive objects. It stores only their keys, so it does not keep replaced objects in memory. */
class Block {
  readonly memory: SharedArrayBuffer
  readonly #keys = new Set<string>()
  /** Keys of the objects that have not been announced yet. */
  #new = new Set<string>()
  #used = 0

  constructor(size: number) {
    this.memory = new SharedArrayBuffer(size)
  }

  get room(): number {
    return this.memory.byteLength - this.#used
  }

  add(object: CachedObject): void {
    const { length } = object.json
    const bytes = Buffer.from(this.memory, this.#used, length)
    object.json.copy(bytes)
    object.shareBytes(bytes)
    this.#keys.add(object.key)
    this.#new.add(object.key)
    this.#used += length
  }

  /** Returns the objects that are still in the block. */
  all(objects: CurrentObjects): CachedObject[] {
    return this.#among(this.#keys, objects)
  }

  takeNew(objects: CurrentObjects): CachedObject[] {
    const added = this.#among(this.#new, objects)
    this.#new = new Set()
    return added
  }

  #among(keys: Iterable<string>, objects: CurrentObjects): CachedObject[] {
    return [...currentOf(objects, keys)].filter(({ json }) => json.buffer === this.memory)
  }
}

/** Whether the remaining objects fill less than half of the block. */
function isSparse({ memory }: Block, remainingObjects: readonly CachedObject[]): boolean {
  return remainingObjects.reduce((sum, { json }) => sum + json.length, 0) < memory.byteLength / 2
}

function* currentOf(objects: CurrentObjects, keys: Iterable<string>): Generator<CachedObject> {
  for (const key of keys) {
    const object = objects.get(key)
    if (object !== undefined) yield object
  }
}

/** Estimated cost of copying an object, in microseconds. */
function costOf({ json }: CachedObject): number {
  return 2 + json.length / 2000
}

function positionOf({ byteOffset, length }: Buffer): [number, number] {
  return [byteOffset, byteOffset + length]
}
