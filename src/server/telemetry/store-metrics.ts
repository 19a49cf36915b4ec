/**
 * What is counted of the store: how long its answers take, under the name that operators of kube-apiserver know,
 * whether it is etcd or the embedded one. `measured` gives the same store; asking for its revision, which every read
 * does, and its watches, which have no end, are not counted. And whether it is full: `onCapacity` is for the store to call.
 * And how large it is, where it lies on a disk: `showSize`.
 */

import { type Distribution, Gauge, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { OnCapacity } from '../../storage/store/fullness.ts'
import type { Store, Write } from '../../storage/store/store.ts'

/** Asks for the size of the store, in bytes; a look at a local file is no reason to wait. */
export type ReadSize = () => number | Promise<number>

const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60]

/** Records the latency, the size and the fullness of a store. */
export class StoreMetrics {
  readonly #clock: Clock
  readonly #durations = new Histogram(
    {
      name: 'etcd_request_duration_seconds',
      help: 'How long the store took, by operation and type of the objects.',
      labels: ['operation', 'type'],
    },
    durations,
  )
  #full = false
  readonly #fullness = new Gauge(
    {
      name: 'orch_store_full',
      help: '1 while the store refuses data for want of room, else 0.',
      labels: [],
      across: 'max',
    },
    () => [[[], this.#full ? 1 : 0]],
  )
  #readSize: ReadSize | undefined
  #bytes: number | undefined
  readonly #size = new Gauge(
    {
      name: 'etcd_db_total_size_in_bytes',
      help: 'How large the file of the store is.',
      labels: [],
      across: 'max',
    },
    () => {
      void this.#lookAtSize()
      return this.#bytes === undefined ? [] : [[[], this.#bytes]]
    },
  )
  readonly metrics: readonly Metric[] = [this.#durations, this.#fullness, this.#size]

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly onCapacity: OnCapacity = (now) => {
    this.#full = now === 'full'
  }

  /** Where the size comes from. Of a store on another host every scrape shows what the one before it asked for: none waits. */
  showSize(read: ReadSize): void {
    this.#readSize = read
  }

  async #lookAtSize(): Promise<void> {
    try {
      const size = this.#readSize?.()
      this.#bytes = typeof size === 'object' ? await size : size
    } catch {
      // A store that does not answer: an outdated size is worse than none.
      this.#bytes = undefined
    }
  }

  measured(store: Store): Store {
    return {
      commit: (write) => this.#time(operationOf(write), write.key, store.commit(write)),
      get: (key) => this.#time('get', key, store.get(key)),
      list: (range) => this.#time('list', range.prefix, store.list(range)),
      revision: () => store.revision(),
      watch: (options) => store.watch(options),
      get journal() {
        return store.journal
      },
      compact: (revision) => store.compact(revision),
      close: () => store.close(),
    }
  }

  async #time<T>(operation: string, key: string, answer: Promise<T>): Promise<T> {
    const began = this.#clock.monotonic()
    try {
      return await answer
    } finally {
      this.#seriesOf(operation, key).observe((this.#clock.monotonic() - began) / 1000)
    }
  }

  #seriesOf(operation: string, key: string): Distribution {
    return this.#durations.at(operation, typeOf(key))
  }
}

function operationOf({ expected, value }: Write): string {
  if (value === undefined) return 'delete'
  return expected === 0 ? 'create' : 'update'
}

/** `pods`, `events.events`: where a key lies says the type of what it holds. */
function typeOf(key: string): string {
  const [, group, plural] = key.split('/', 3)
  return plural ? (group === 'core' ? plural : `${plural}.${group}`) : ''
}
