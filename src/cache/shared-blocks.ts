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
import { TimeSlice } from '../base/time-slice.ts'
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
  /** Those that changed since the last round, and in the one before. */
  #young: CachedObject[] = []
  #older: CachedObject[] = []
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

  changed(object: CachedObject): void {
    this.#young.push(object)
  }

  loaded(objects: Iterable<CachedObject>): void {
    for (const object of objects) this.#young.push(object)
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
    const resting = this.#older
    this.#older = this.#young
    this.#young = []
    await this.#lay(resting)
    await this.#lay(this.#takeFromSparse())
  }

  async #lay(objects: readonly CachedObject[]): Promise<void> {
    const pace = new TimeSlice()
    for (const object of objects) {
      if (this.#objects.get(object.key) !== object) continue
      this.#blockFor(object.json.length).add(object)
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
    const added = last?.takeNew() ?? []
    if (added.length > 0) this.#tell(last!, added)
  }

  #tell({ memory }: Block, objects: readonly CachedObject[], to?: number): void {
    if (this.#closed) return
    const keys = objects.map(({ key }) => key)
    const places = Float64Array.from(objects.flatMap(({ revision, json }) => [revision, ...placeOf(json)]))
    this.#port.postMessage({ type: 'told', to, block: memory, keys, places } satisfies Told)
  }

  async #tellAll(to: number): Promise<void> {
    const pace = new TimeSlice()
    for (const block of this.#blocks.slice()) {
      this.#tell(block, block.all(), to)
      await pace.yieldIfDue()
    }
  }

  /** What is left in some blocks that have little left; these are given up. */
  #takeFromSparse(): CachedObject[] {
    const full = this.#blocks.slice(0, -1)
    const begin = this.#reviewed < full.length ? this.#reviewed : 0
    const end = begin + Math.ceil(full.length / reviewedShare)
    this.#reviewed = end
    const sparse = full.slice(begin, end).filter((block) => block.isSparse(this.#objects))
    if (sparse.length > 0) this.#blocks = this.#blocks.filter((block) => !sparse.includes(block))
    return sparse.flatMap((block) => block.all())
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

/** Some objects, one behind the other. */
class Block {
  readonly memory: SharedArrayBuffer
  readonly #objects: CachedObject[] = []
  #used = 0
  /** How many of them others were told of. */
  #told = 0

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
    this.#objects.push(object)
    this.#used += length
  }

  /** Those that have not left. */
  all(): CachedObject[] {
    return this.#objects.filter((object) => this.#holds(object))
  }

  takeNew(): CachedObject[] {
    const added = this.#objects.slice(this.#told).filter((object) => this.#holds(object))
    this.#told = this.#objects.length
    return added
  }

  /** Whether less than half of it is taken by current objects. */
  isSparse(objects: CurrentObjects): boolean {
    let bytes = 0
    for (const object of this.all()) if (objects.get(object.key) === object) bytes += object.json.length
    return bytes < this.memory.byteLength / 2
  }

  #holds({ json }: CachedObject): boolean {
    return json.buffer === this.memory
  }
}

/** In about microseconds. */
function costOf({ json }: CachedObject): number {
  return 2 + json.length / 2000
}

function placeOf({ byteOffset, length }: Buffer): [number, number] {
  return [byteOffset, byteOffset + length]
}
