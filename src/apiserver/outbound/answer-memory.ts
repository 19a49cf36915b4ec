/**
 * Memory for the answers that a caller reads at the same time. Each destination has a reserve of its own, and takes the rest
 * from a pool up to its share, so that no destination can use up the memory that answers of others need.
 *
 * A call without room stops reading its connection until other answers are complete. To exclude a deadlock, one call of each
 * destination may exceed the share, and one call in all the pool: up to the maximum size of an answer.
 */

export interface AnswerMemoryLimits {
  /** Bytes that all destinations together may take from the pool. */
  readonly poolBytes: number
  /** Bytes that one destination may keep, its reserve included. */
  readonly shareBytes: number
  /** Bytes of each destination that do not count against the pool. */
  readonly reserveBytes: number
}

/** 64 MiB, of which one destination gets at most a quarter. Most answers of webhooks have less than 16 KiB. */
const defaultLimits: AnswerMemoryLimits = {
  poolBytes: 64 * 1024 * 1024,
  shareBytes: 16 * 1024 * 1024,
  reserveBytes: 1024 * 1024,
}

interface DestinationUse {
  bytes: number
  /** The call that may exceed the share. */
  exempt: AnswerRoom | undefined
}

export class AnswerMemory {
  readonly #limits: AnswerMemoryLimits
  readonly #destinations = new WeakMap<WeakKey, DestinationUse>()
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<AnswerRoom, () => void>()
  #poolBytes = 0
  /** The call that may exceed the pool. */
  #exempt: AnswerRoom | undefined
  #isResuming = false

  constructor(limits = defaultLimits) {
    this.#limits = limits
  }

  /** Room for the answer to one call to this destination. */
  roomFor(destination: WeakKey): AnswerRoom {
    const use = this.#destinations.get(destination) ?? { bytes: 0, exempt: undefined }
    this.#destinations.set(destination, use)
    return new AnswerRoom(this, use)
  }

  /** Whether the answer may take more memory now. */
  mayGrow(room: AnswerRoom): boolean {
    const { use } = room
    const { poolBytes, shareBytes, reserveBytes } = this.#limits
    if (use.bytes < reserveBytes) return true
    if (use.bytes >= shareBytes) {
      use.exempt ??= room
      if (use.exempt !== room) return false
    }
    if (this.#poolBytes < poolBytes) return true
    this.#exempt ??= room
    return this.#exempt === room
  }

  /** Calls back in a later turn of the event loop. */
  wait(room: AnswerRoom, onRoom: () => void): void {
    this.#waiting.set(room, onRoom)
  }

  change({ use }: AnswerRoom, bytes: number): void {
    const { reserveBytes } = this.#limits
    const before = Math.max(0, use.bytes - reserveBytes)
    use.bytes += bytes
    this.#poolBytes += Math.max(0, use.bytes - reserveBytes) - before
  }

  end(room: AnswerRoom): void {
    this.change(room, -room.bytes)
    this.#waiting.delete(room)
    if (room.use.exempt === room) room.use.exempt = undefined
    if (this.#exempt === room) this.#exempt = undefined
    this.#scheduleResume()
  }

  #scheduleResume(): void {
    if (this.#isResuming || this.#waiting.size === 0) return
    this.#isResuming = true
    setImmediate(() => this.#resumeNext())
  }

  /** Resumes one call in each turn of the event loop, because each then reads what it has received. */
  #resumeNext(): void {
    this.#isResuming = false
    for (const [room, onRoom] of this.#waiting) {
      if (!this.mayGrow(room)) continue
      this.#waiting.delete(room)
      onRoom()
      this.#scheduleResume()
      return
    }
  }
}

/** The memory that one answer takes. */
export class AnswerRoom {
  readonly #memory: AnswerMemory
  readonly use: DestinationUse
  bytes = 0

  constructor(memory: AnswerMemory, use: DestinationUse) {
    this.#memory = memory
    this.use = use
  }

  /** Whether the answer may take more memory now. If not, call `wait`. */
  mayGrow(): boolean {
    return this.#memory.mayGrow(this)
  }

  /** Calls back once, when there is room. */
  wait(onRoom: () => void): void {
    this.#memory.wait(this, onRoom)
  }

  /** The answer now takes this many bytes. */
  resize(bytes: number): void {
    this.#memory.change(this, bytes - this.bytes)
    this.bytes = bytes
  }

  /** The answer is complete, or nobody waits for it. */
  end(): void {
    this.#memory.end(this)
    this.bytes = 0
  }
}
