/** Watch metrics: the number of watches per type, and the number and size of their events. */

import { type Count, Counter, type Distribution, Gauge, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { Resource } from '../registry/catalogue/resource.ts'

/** Histogram buckets from 1 KiB to 128 KiB. */
const sizes = Array.from({ length: 8 }, (_, i) => 1024 * 2 ** i)
const labels = ['group', 'version', 'kind']

/** The metrics of one resource type, looked up once when a watch starts. */
class WatchSeries {
  /** Number of active watches. */
  watchers = 0
  readonly #events: Count
  readonly #sizes: Distribution

  constructor(events: Count, eventSizes: Distribution) {
    this.#events = events
    this.#sizes = eventSizes
  }

  countEvent(bytes: number): void {
    this.#events.value++
    this.#sizes.observe(bytes)
  }
}

/** Counts watches and their events. */
export class WatchMetrics {
  readonly #events = new Counter({
    name: 'apiserver_watch_events_total',
    help: 'Number of events sent to watches.',
    labels,
  })
  readonly #sizes = new Histogram(
    { name: 'apiserver_watch_events_sizes', help: 'Size of watch events in bytes.', labels },
    sizes,
  )
  readonly #series = new Map<string, { readonly values: readonly string[]; readonly series: WatchSeries }>()
  readonly metrics: readonly Metric[] = [
    this.#events,
    this.#sizes,
    new Gauge({ name: 'apiserver_registered_watchers', help: 'Number of active watches.', labels }, () =>
      [...this.#series.values()].map(({ values, series }) => [values, series.watchers] as const),
    ),
  ]

  seriesOf({ group, kind }: Resource): WatchSeries {
    const values = [group, kind.version, kind.kind]
    const key = values.join('/')
    const cachedSeries = this.#series.get(key)
    if (cachedSeries !== undefined) return cachedSeries.series
    const series = new WatchSeries(this.#events.at(...values), this.#sizes.at(...values))
    this.#series.set(key, { values, series })
    return series
  }
}
