/**
 * Caches encodings of objects in formats other than JSON, such as Protobuf. An encoding is created on first request and
 * cached until the object changes or the shared memory limit is reached.
 *
 * When the limit is reached, recently requested encodings are kept. To add an encoding, the cache examines the oldest
 * encoding in the queue and replaces it only if it has not been requested since the last examination. A list with more
 * objects than fit in the cache therefore does not evict everything that the next list needs.
 */

/** The encoding of an object, and the byte range of the object within its envelope. */
export interface EncodedObject {
  readonly document: Buffer
  readonly start: number
  readonly end: number
}

/** Identifies a state of an object. A reload of the cache invalidates all earlier states. */
export interface KeptState {
  readonly key: string
  readonly revision: number
  readonly loads: number
}

interface CachedEncoding {
  readonly state: KeptState
  /** The encoding. Undefined after it has been evicted, although the entry may stay in the queue for a while. */
  form: EncodedObject | undefined
  isUsed: boolean
  readonly home: Map<string, CachedEncoding>
}

const mega = 1024 * 1024
const fewForms = 1000

/** The memory limit that the encodings of all kinds share. */
export class EncodedObjectBudget {
  readonly #maxBytes: number
  #bytes = 0
  /**
   * Cached encodings in the order in which they are considered for eviction. The next encoding to consider is at
   * `#next`.
   */
  #queue: CachedEncoding[] = []
  #next = 0
  #dropped = 0

  constructor(maxBytes = 128 * mega) {
    this.#maxBytes = maxBytes
  }

  /** Number of bytes that the encodings use. */
  get bytes(): number {
    return this.#bytes
  }

  /** Evicts encodings if necessary to make room for the given number of bytes. Returns whether the bytes fit. */
  makeRoom(bytes: number): boolean {
    if (bytes > this.#maxBytes) return false
    while (this.#bytes + bytes > this.#maxBytes) {
      const oldest = this.#takeOldest()
      if (oldest.isUsed) {
        oldest.isUsed = false
        this.#queue.push(oldest)
        return false
      }
      this.drop(oldest)
    }
    return true
  }

  add(encoding: CachedEncoding): void {
    this.#bytes += encoding.form!.document.length
    this.#queue.push(encoding)
    encoding.home.set(encoding.state.key, encoding)
  }

  drop(encoding: CachedEncoding): void {
    this.#bytes -= encoding.form!.document.length
    encoding.form = undefined
    encoding.home.delete(encoding.state.key)
    this.#dropped++
    this.#tidy()
  }

  /** Removes and returns the next encoding to consider for eviction. The queue must not be empty. */
  #takeOldest(): CachedEncoding {
    this.#tidy()
    for (;;) {
      const encoding = this.#queue[this.#next++]!
      if (encoding.form !== undefined) return encoding
    }
  }

  #tidy(): void {
    if (this.#queue.length < fewForms || this.#next + this.#dropped < this.#queue.length / 2) return
    this.#queue = this.#queue.slice(this.#next).filter(({ form }) => form !== undefined)
    this.#next = 0
    this.#dropped = 0
  }
}

/** Encoded objects of one version of a kind, by key. */
export class EncodedObjectCache {
  readonly #room: EncodedObjectBudget
  readonly #forms = new Map<string, CachedEncoding>()

  constructor(room: EncodedObjectBudget) {
    this.#room = room
  }

  find({ key, revision }: Pick<KeptState, 'key' | 'revision'>, loads: number): EncodedObject | undefined {
    const encoding = this.#forms.get(key)
    if (encoding === undefined || encoding.state.revision !== revision || encoding.state.loads !== loads)
      return undefined
    encoding.isUsed = true
    return encoding.form
  }

  /**
   * Caches the encoding of an object's state and drops the encoding of an older state. Does nothing if the same or a
   * newer state is cached, or if the cache is full.
   */
  keep(state: KeptState, form: EncodedObject): void {
    const before = this.#forms.get(state.key)
    if (before !== undefined && isNotOlder(before.state, state)) return
    if (before !== undefined) this.#room.drop(before)
    if (this.#room.makeRoom(form.document.length)) this.#room.add({ state, form, isUsed: true, home: this.#forms })
  }
}

function isNotOlder(a: KeptState, b: KeptState): boolean {
  return a.loads === b.loads && a.revision >= b.revision
}
