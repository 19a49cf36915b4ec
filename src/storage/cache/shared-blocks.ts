/**
 * The bytes of objects, once for all workers of a server (`--workers`).
 *
 * Each worker takes in every change by itself, into memory of its own, so that none waits for another. Objects that rest
 * are then laid together in blocks of shared memory by one of the workers, which tells the others where: who finds there
 * what it holds itself lets go of its own. Nothing rests on that. A worker that misses what is told, or finds other bytes,
 * keeps what it has.
 *
 * An object that is replaced leaves its block (`CachedObject.leaveBlock`), since the events that still tell of it would keep
 * the whole block. A block with little left in it is given up, and what is left is laid anew.
 */
import { BroadcastChannel } from 'node:worker_threads'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { CachedObject } from './cached-object.ts'

/** The objects of the caches, as they are now. */
export interface CurrentObjects {
  get(key: string): CachedObject | undefined
}

/** What the caches tell of their objects. */
export interface SharedBytes {
  /** This one is current from now on. */
  changed(object: CachedObject): void
  /** All of these are. */
  loaded(objects: Iterable<CachedObject>): void
  close(): void
}

/** Where the objects of a block are. */
interface Told {
  readonly type: 'told'
  /** For the one who asked; undefined: for all. */
  readonly to: number | undefined
  readonly block: SharedArrayBuffer
  readonly keys: readonly string[]
  /** Of each its revision, and where it begins and ends. */
  readonly places: Float64Array
}

/** Asks for all that was told before. */
interface Ask {
  readonly type: 'ask'
  readonly from: number
}

/** Which workers share, and the number of this one among them: the first lays, the others follow. */
export interface Sharing {
  readonly channel: string
  readonly index: number
  /** An object is laid when it has not changed for so long, or for twice that; two seconds if absent. */
  readonly restMs?: number
}

export function shareBlocks(sharing: Sharing, objects: CurrentObjects): SharedBytes {
  const port = new BroadcastChannel(sharing.channel)
  port.unref()
  const parts = { port, objects, index: sharing.index, restMs: sharing.restMs ?? 2_000 }
  return sharing.index === 0 ? new LaidBlocks(parts) : new FollowedBlocks(parts)
}

interface Parts extends Required<Omit<Sharing, 'channel'>> {
  readonly port: BroadcastChannel
  readonly objects: CurrentObjects
}

const blockBytes = 256 * 1024
/** In each round one block of so many is looked at, and one at least. */
const reviewedShare = 16

/** Lays objects that rest, and tells the others. */
class LaidBlocks implements SharedBytes {
  readonly #port: BroadcastChannel
  readonly #objects: CurrentObjects
  readonly #restMs: number
  /** The keys of those that changed since the last round, and in the one before: objects would keep what is replaced. */
  #young = new Set<string>()
  #older = new Set<string>()
  #loaded: Iterable<CachedObject>[] = []
  /** The last one has room. */
  #blocks: Block[] = []
  #reviewed = 0
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor({ port, objects, restMs }: Parts) {
    this.#port = port
    this.#objects = objects
    this.#restMs = restMs
    port.onmessage = (event: unknown) => {
      const { data } = event as { data: Told | Ask }
      if (data.type === 'ask') void this.#tellAll(data.from)
    }
    this.#planRound()
  }

  changed({ key }: CachedObject): void {
    this.#young.add(key)
  }

  /** They rest already. */
  loaded(objects: Iterable<CachedObject>): void {
    this.#loaded.push(objects)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#port.close()
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
    const [young, older] = [this.#young, this.#older]
    this.#young = new Set()
    this.#older = young
    for (const objects of this.#loaded.splice(0)) await this.#lay(objects)
    const resting = [...older].filter((key) => !young.has(key))
    await this.#lay(currentOf(this.#objects, resting))
    await this.#layFromSparse()
  }

  async #lay(objects: Iterable<CachedObject>): Promise<void> {
    const pace = new TimeSlice()
    for (const object of objects) {
      // It may have been replaced while others had their turn.
      if (this.#objects.get(object.key) === object) this.#blockFor(object.json.length).add(object)
      if (pace.charge(costOf(object))) await pace.yieldIfDue()
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
    if (last !== undefined) this.#tell(last, last.takeNew(this.#objects))
  }

  #tell({ memory }: Block, objects: readonly CachedObject[], to?: number): void {
    if (this.#closed || objects.length === 0) return
    const keys = objects.map(({ key }) => key)
    const places = Float64Array.from(objects.flatMap(({ revision, json }) => [revision, ...placeOf(json)]))
    this.#port.postMessage({ type: 'told', to, block: memory, keys, places } satisfies Told)
  }

  async #tellAll(to: number): Promise<void> {
    const pace = new TimeSlice()
    for (const block of this.#blocks.slice()) {
      this.#tell(block, block.all(this.#objects), to)
      await pace.yieldIfDue()
    }
  }

  /** Gives up some blocks that have little left in them, and lays that anew. */
  async #layFromSparse(): Promise<void> {
    const pace = new TimeSlice()
    const full = this.#blocks.slice(0, -1)
    const begin = this.#reviewed < full.length ? this.#reviewed : 0
    this.#reviewed = begin + Math.ceil(full.length / reviewedShare)
    for (const block of full.slice(begin, this.#reviewed)) {
      const left = block.all(this.#objects)
      if (isSparse(block, left)) {
        this.#blocks.splice(this.#blocks.indexOf(block), 1)
        this.#reviewed--
        await this.#lay(left)
      }
      await pace.yieldIfDue()
    }
  }
}

/** Takes the bytes of objects from the blocks of another worker. */
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
      const { data } = event as { data: Told | Ask }
      if (data.type === 'told' && (data.to ?? index) === index) this.#take(data)
    }
  }

  /** It is told of when it rests. */
  changed(): void {}

  /** They may have been told of before they were there; one question will do for all kinds that are loaded in a row. */
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

  #take({ block, keys, places }: Told): void {
    for (const [i, key] of keys.entries()) {
      const object = this.#objects.get(key)
      if (object === undefined || object.revision !== places[3 * i]) continue
      const [start, end] = [places[3 * i + 1]!, places[3 * i + 2]!]
      object.shareBytes(Buffer.from(block, start, end - start))
    }
  }
}

/** Some objects, one behind the other. It knows their keys: what is replaced is not kept by it. */
class Block {
  readonly memory: SharedArrayBuffer
  readonly #keys = new Set<string>()
  /** Those that others were not told of. */
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

  /** Those that have not left. */
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

/** Whether what is left takes less than half of it. */
function isSparse({ memory }: Block, left: readonly CachedObject[]): boolean {
  return left.reduce((sum, { json }) => sum + json.length, 0) < memory.byteLength / 2
}

function* currentOf(objects: CurrentObjects, keys: Iterable<string>): Generator<CachedObject> {
  for (const key of keys) {
    const object = objects.get(key)
    if (object !== undefined) yield object
  }
}

/** In about microseconds. */
function costOf({ json }: CachedObject): number {
  return 2 + json.length / 2000
}

function placeOf({ byteOffset, length }: Buffer): [number, number] {
  return [byteOffset, byteOffset + length]
}
