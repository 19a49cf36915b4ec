/**
 * Limits the memory for responses that are read concurrently. Each destination has a reserve of memory, and may use
 * more memory from a shared pool up to a maximum share. No destination can therefore use up the memory that other
 * responses need.
 *
 * A call that receives no memory stops reading from its connection until other responses are complete. To prevent a
 * deadlock, one call per destination may exceed the share of the destination, and one call in total may exceed the
 * pool, up to the maximum size of a response.
 */

export interface AnswerMemoryLimits {
  /** Number of bytes in the pool that all destinations share. */
  readonly poolBytes: number
  /** Maximum number of bytes that one destination may use, including its reserve. */
  readonly shareBytes: number
  /** Number of bytes that each destination may use without taking them from the pool. */
  readonly reserveBytes: number
}

/**
 * The default limits: a pool of 64 MiB, of which one destination may use at most a quarter. The defaults are sufficient
 * for most webhooks, whose responses are smaller than 16 KiB.
 */
const defaultLimits: AnswerMemoryLimits = {
  poolBytes: 64 * 1024 * 1024,
  shareBytes: 16 * 1024 * 1024,
  reserveBytes: 1024 * 1024,
}

interface DestinationUse {
  bytes: number
  /** The one call that may exceed the destination's share, so that at least this call can finish. */
  exempt: AnswerRoom | undefined
}

/** Divides the memory for responses among destinations. */
export class AnswerMemory {
  readonly #limits: AnswerMemoryLimits
  readonly #destinations = new WeakMap<WeakKey, DestinationUse>()
  /** The calls that wait for memory, oldest first. */
  readonly #waiting = new Map<AnswerRoom, () => void>()
  #poolBytes = 0
  /** The one call that may exceed the pool, so that at least this call can finish. */
  #exempt: AnswerRoom | undefined
  #isResuming = false

  constructor(limits = defaultLimits) {
    this.#limits = limits
  }

  /** Starts accounting for the memory of a response from the given destination. */
  roomFor(destination: WeakKey): AnswerRoom {
    const use = this.#destinations.get(destination) ?? { bytes: 0, exempt: undefined }
    this.#destinations.set(destination, use)
    return new AnswerRoom(this, use)
  }

  /** Whether a response may occupy more memory now. */
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

  /** Calls `onRoom` once the response may occupy more memory, in a later turn of the event loop. */
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

  /**
   * Resumes the call that has waited longest for memory. At most one call resumes per turn of the event loop, because a
   * resumed call first processes all the data that it has received.
   */
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

/** Accounts for the memory of one response. */
export class AnswerRoom {
  readonly #memory: AnswerMemory
  readonly use: DestinationUse
  bytes = 0

  constructor(memory: AnswerMemory, use: DestinationUse) {
    this.#memory = memory
    this.use = use
  }

  /** Whether the response may occupy more memory now. If not, the caller waits with `wait`. */
  mayGrow(): boolean {
    return this.#memory.mayGrow(this)
  }

  /** Calls `onRoom` once the response may occupy more memory. */
  wait(onRoom: () => void): void {
    this.#memory.wait(this, onRoom)
  }

  /** Records the current size of the response. */
  resize(bytes: number): void {
    this.#memory.change(this, bytes - this.bytes)
    this.bytes = bytes
  }

  /** Releases the memory of the response. Must be called when the response is complete or abandoned. */
  end(): void {
    this.#memory.end(this)
    this.bytes = 0
  }
}
