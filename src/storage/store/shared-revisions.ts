/**
 * Revisions of the store in memory that all threads of the process see: how far it is, and how far back it can be read.
 * They are raised before whatever raised them is answered: so a thread that reads `revision` after another was told of a
 * commit reads at least that commit's. On LMDB the store's thread raises them; on etcd, which others write to as well,
 * `revision` is the newest that this process was told of.
 */
import type { Revision } from './store.ts'

const places = { revision: 0, oldest: 1, cut: 2, floor: 3 } as const

export class SharedRevisions {
  readonly memory: SharedArrayBuffer
  readonly #numbers: BigInt64Array

  constructor(memory = new SharedArrayBuffer(Object.keys(places).length * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#numbers = new BigInt64Array(memory)
  }

  /** The newest revision that is durable. */
  get revision(): Revision {
    return this.#read('revision')
  }

  /** The oldest revision that reading may begin at. */
  get oldest(): Revision {
    return this.#read('oldest')
  }

  /** Below this one nothing can be read, not even by a reader that has begun to. */
  get cut(): Revision {
    return this.#read('cut')
  }

  /** The oldest revision that the journal can list. */
  get floor(): Revision {
    return this.#read('floor')
  }

  /** By whichever thread; it never falls. */
  raise(place: keyof typeof places, revision: Revision): void {
    for (;;) {
      const held = this.#read(place)
      if (revision <= held) return
      const before = Atomics.compareExchange(this.#numbers, places[place], BigInt(held), BigInt(revision))
      if (before === BigInt(held)) return
    }
  }

  #read(place: keyof typeof places): Revision {
    return Number(Atomics.load(this.#numbers, places[place]))
  }
}
