/**
 * Other forms of cached objects than their JSON, such as Protobuf: made when somebody first asks, and kept for all who
 * ask after that, until the object changes or the memory for all such forms is used up.
 *
 * Then what nobody has asked for lately gives way, and what was asked for stays: each new form looks at the one that
 * waits for longest, and takes its place only if that was not asked for since it was looked at last. So a list of more
 * objects than there is room for does not drive out all that it will ask for again from its beginning.
 */

/** A whole document, and where in it the object itself is, without what is around it. */
export interface EncodedObject {
  readonly document: Buffer
  readonly start: number
  readonly end: number
}

/** A state of an object, as a cache that was loaded so often holds it: after a load nothing is known to be the same. */
export interface KeptState {
  readonly key: string
  readonly revision: number
  readonly loads: number
}

interface Kept {
  readonly state: KeptState
  /** Undefined once it is dropped: it may stand in the queue for a while. */
  form: EncodedObject | undefined
  asked: boolean
  readonly home: Map<string, Kept>
}

const mega = 1024 * 1024
const fewForms = 1000

/** The memory that the forms of all kinds share. */
export class EncodedObjectBudget {
  readonly #maxBytes: number
  #bytes = 0
  /** In the order in which they are looked at, from `#next` on. */
  #queue: Kept[] = []
  #next = 0
  #dropped = 0

  constructor(maxBytes = 128 * mega) {
    this.#maxBytes = maxBytes
  }

  /** How much is kept now. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether there is room for so many bytes more, or could be made. */
  makeRoom(bytes: number): boolean {
    if (bytes > this.#maxBytes) return false
    while (this.#bytes + bytes > this.#maxBytes) {
      const oldest = this.#takeOldest()
      if (oldest.asked) {
        oldest.asked = false
        this.#queue.push(oldest)
        return false
      }
      this.drop(oldest)
    }
    return true
  }

  add(kept: Kept): void {
    this.#bytes += kept.form!.document.length
    this.#queue.push(kept)
    kept.home.set(kept.state.key, kept)
  }

  drop(kept: Kept): void {
    this.#bytes -= kept.form!.document.length
    kept.form = undefined
    kept.home.delete(kept.state.key)
    this.#dropped++
    this.#tidy()
  }

  /** There is one as long as bytes are kept. */
  #takeOldest(): Kept {
    this.#tidy()
    for (;;) {
      const kept = this.#queue[this.#next++]!
      if (kept.form !== undefined) return kept
    }
  }

  #tidy(): void {
    if (this.#queue.length < fewForms || this.#next + this.#dropped < this.#queue.length / 2) return
    this.#queue = this.#queue.slice(this.#next).filter(({ form }) => form !== undefined)
    this.#next = 0
    this.#dropped = 0
  }
}

/** One form of the objects of one version of a kind, by their keys. */
export class EncodedObjectCache {
  readonly #room: EncodedObjectBudget
  readonly #forms = new Map<string, Kept>()

  constructor(room: EncodedObjectBudget) {
    this.#room = room
  }

  find({ key, revision }: Pick<KeptState, 'key' | 'revision'>, loads: number): EncodedObject | undefined {
    const kept = this.#forms.get(key)
    if (kept === undefined || kept.state.revision !== revision || kept.state.loads !== loads) return undefined
    kept.asked = true
    return kept.form
  }

  /** Takes the place of what is kept of an older state; does nothing where it, or a newer one, is there already, or no room is. */
  keep(state: KeptState, form: EncodedObject): void {
    const before = this.#forms.get(state.key)
    if (before !== undefined && isNotOlder(before.state, state)) return
    if (before !== undefined) this.#room.drop(before)
    if (this.#room.makeRoom(form.document.length)) this.#room.add({ state, form, asked: true, home: this.#forms })
  }
}

function isNotOlder(a: KeptState, b: KeptState): boolean {
  return a.loads === b.loads && a.revision >= b.revision
}
