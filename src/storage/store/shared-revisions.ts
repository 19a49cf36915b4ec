/**
 * Revisions of the store that all threads of the process share in memory: the newest revision and the oldest revisions
 * that can be read. An operation raises a revision before it is acknowledged. Once any thread has observed a commit,
 * `revision` is therefore at least the revision of that commit in every thread. With LMDB, the store's thread raises
 * the revisions. With etcd, to which other processes also write, `revision` is the newest revision that this process
 * has received.
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

  /** The newest durable revision. */
  get revision(): Revision {
    return this.#read('revision')
  }

  /** The oldest revision at which a read can start: the start of the history window. */
  get oldest(): Revision {
    return this.#read('oldest')
  }

  /** The revision below which nothing can be read, not even by a reader that has already started. */
  get cut(): Revision {
    return this.#read('cut')
  }

  /** The oldest revision that the journal can list. */
  get floor(): Revision {
    return this.#read('floor')
  }

  /** Raises a revision from any thread. Has no effect if the new value is lower. */
  raise(place: keyof typeof places, revision: Revision): void {
    for (;;) {
      const currentRevision = this.#read(place)
      if (revision <= currentRevision) return
      const before = Atomics.compareExchange(this.#numbers, places[place], BigInt(currentRevision), BigInt(revision))
      if (before === BigInt(currentRevision)) return
    }
  }

  #read(place: keyof typeof places): Revision {
    return Number(Atomics.load(this.#numbers, places[place]))
  }
}
