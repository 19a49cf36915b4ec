/**
 * Combines the metrics of multiple threads. Counters and histograms are summed, including the values of threads that
 * have ended. Gauges are reduced to their sum, maximum or minimum, depending on the gauge.
 */
import type { Metric, Sample } from './metrics.ts'

/** A copy of a metric that can be posted to another thread. */
export interface MetricSnapshot extends Pick<Metric, 'name' | 'help' | 'type' | 'across' | 'page'> {
  readonly values: readonly Sample[]
}

/** Copies metrics so that they can be posted to another thread. */
export function snapshotOf(metrics: readonly Metric[]): MetricSnapshot[] {
  return metrics.map((metric) => {
    const { name, help, type, across, page } = metric
    return { name, help, type, across, page, values: [...metric.samples()] }
  })
}

/** Stores the latest metrics of each thread, by thread ID. */
export class MetricSums<Id> {
  readonly #snapshotsById = new Map<Id, readonly MetricSnapshot[]>()
  /** Sums of the counters of ended threads, so that totals never decrease. */
  #ended: readonly MetricSnapshot[] = []

  /** Replaces the metrics of a thread. */
  update(id: Id, metrics: readonly MetricSnapshot[]): void {
    this.#snapshotsById.set(id, metrics)
  }

  /** Marks a thread as ended. The thread's counters are kept, and its gauges are dropped. */
  end(id: Id): void {
    const last = this.#snapshotsById.get(id)?.filter(({ type }) => type !== 'gauge') ?? []
    this.#snapshotsById.delete(id)
    this.#ended = sum([this.#ended, last])
  }

  total(): readonly Metric[] {
    return sum([this.#ended, ...this.#snapshotsById.values()]).map((metric) => ({
      ...metric,
      *samples() {
        yield* [...metric.values]
      },
    }))
  }
}

function sum(all: readonly (readonly MetricSnapshot[])[]): MetricSnapshot[] {
  const byName = new Map<string, { readonly metric: MetricSnapshot; readonly values: Map<string, Sample> }>()
  for (const metric of all.flat()) {
    const into = byName.get(metric.name) ?? { metric, values: new Map() }
    byName.set(metric.name, into)
    for (const sample of metric.values) add(into.values, sample, metric.across)
  }
  return [...byName.values()].map(({ metric, values }) => ({ ...metric, values: [...values.values()] }))
}

function add(values: Map<string, Sample>, sample: Sample, across: MetricSnapshot['across']): void {
  const key = JSON.stringify([sample.metricName, sample.labels])
  const before = values.get(key)
  values.set(key, before === undefined ? sample : { ...before, value: combine(before.value, sample.value, across) })
}

function combine(a: number, b: number, across: MetricSnapshot['across']): number {
  if (across === 'max') return Math.max(a, b)
  return across === 'min' ? Math.min(a, b) : a + b
}
