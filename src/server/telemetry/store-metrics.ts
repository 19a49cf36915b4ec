/**
 * Metrics of the store: its latency, whether it is full (`onCapacity`, which the store calls), and its size if it is on
 * disk (`showSize`). The latency metric has the same name as in kube-apiserver, for both etcd and the embedded store.
 * `measured` wraps a store. Revision lookups are not measured, because every read includes one. Watches are not
 * measured either, because they do not end.
 */

import { type Distribution, Gauge, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { OnCapacity } from '../../storage/store/fullness.ts'
import type { Store, Write } from '../../storage/store/store.ts'

/** Returns the size of the store in bytes: synchronously for a local file, otherwise as a promise. */
export type ReadSize = () => number | Promise<number>

const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60]

/** Records the latency, size and capacity state of a store. */
export class StoreMetrics {
  readonly #clock: Clock
  readonly #durations = new Histogram(
    {
      name: 'etcd_request_duration_seconds',
      help: 'Duration of store operations in seconds, by operation and object type.',
      labels: ['operation', 'type'],
    },
    durations,
  )
  #full = false
  readonly #fullness = new Gauge(
    {
      name: 'orch_store_full',
      help: 'Set to 1 while the store rejects writes because it is full, otherwise 0.',
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
      help: 'Size of the store file in bytes.',
      labels: [],
      across: 'max',
    },
    () => {
      void this.#lookAtSize()
      return this.#bytes === undefined ? [] : [[[], this.#bytes]]
    },
  )
  #location: string | undefined
  readonly #info = new Gauge(
    {
      name: 'orch_store_info',
      help: 'Always 1. The label contains the location of the store: the data directory or the URLs of the etcd members.',
      labels: ['location'],
      across: 'max',
    },
    () => (this.#location === undefined ? [] : [[[this.#location], 1]]),
  )
  #lastBackup: () => number | undefined = () => undefined
  readonly #backup = new Gauge(
    {
      name: 'orch_last_backup_timestamp_seconds',
      help: 'Time of the newest backup in --backup-dir, in seconds since 1970.',
      labels: [],
      across: 'max',
    },
    () => {
      const time = this.#lastBackup()
      return time === undefined ? [] : [[[], Math.floor(time / 1000)]]
    },
  )
  readonly metrics: readonly Metric[] = [this.#durations, this.#fullness, this.#size, this.#info, this.#backup]

  constructor(clock: Clock) {
    this.#clock = clock
  }

  readonly onCapacity: OnCapacity = (now) => {
    this.#full = now === 'full'
  }

  /**
   * Sets the function that reads the size. For a remote store, each scrape shows the size requested by the previous
   * scrape, so that no scrape waits.
   */
  showSize(read: ReadSize): void {
    this.#readSize = read
  }

  /** Sets the location of the store: a directory or URLs. */
  showLocation(location: string): void {
    this.#location = location
  }

  /** Sets the function that returns the time of the newest backup, in milliseconds since 1970. */
  showLastBackup(read: () => number | undefined): void {
    this.#lastBackup = read
  }

  async #lookAtSize(): Promise<void> {
    try {
      const size = this.#readSize?.()
      this.#bytes = typeof size === 'object' ? await size : size
    } catch {
      // Discard the size, because the store does not respond and the last value may be wrong.
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

/** Returns the type of the object under a key, for example `pods` or `events.events`. */
function typeOf(key: string): string {
  const [, group, plural] = key.split('/', 3)
  return plural ? (group === 'core' ? plural : `${plural}.${group}`) : ''
}
