/**
 * Metrics of the running server, with the same names as in kube-apiserver.
 *
 * Every request is recorded, so recording must be cheap. A series is a plain object that the recording code looks up
 * once, keeps a reference to and increments. The text is created only during a scrape (`exposition.ts`).
 *
 * Label values come from fixed sets, never from clients, and no metric has more than `maxSeries` series. Additional
 * series are combined into one series, so that clients cannot fill the memory with arbitrary names.
 */
export interface Sample {
  /**
   * Name of the sample if it differs from the name of the metric. Histograms have samples that end in `_bucket`, `_sum`
   * and `_count`.
   */
  readonly metricName?: string
  readonly labels: { readonly [label: string]: string | number }
  readonly value: number
}

/** Path of a metrics page. */
export type MetricsPage = '/metrics' | '/metrics/slis'

/** A metric, as `/metrics` exposes it. */
export interface Metric {
  readonly name: string
  /** Description of the metric in one sentence. */
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** How to combine the values of multiple threads. Defaults to their sum. */
  readonly across?: 'sum' | 'max' | 'min' | undefined
  /** Path of the page that contains the metric. Defaults to `/metrics`. */
  readonly page?: MetricsPage | undefined
  /** Yields the samples one by one. A metric may have many samples, so the caller yields to other tasks in between. */
  samples(): Generator<Sample>
}

export interface Description {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  readonly across?: Metric['across']
  readonly page?: Metric['page']
}

const maxSeries = 5000
/** Label value of the series that combines all series beyond `maxSeries`. */
const other = 'other'

/**
 * Returns a function that converts label values, given in the order of `names`, to Prometheus labels sorted by name.
 */
function labelsFrom(names: readonly string[]): (values: readonly string[]) => { [label: string]: string } {
  const sorted = names.map((name, i) => [name, i] as const).sort(([a], [b]) => (a < b ? -1 : 1))
  return (values) => Object.fromEntries(sorted.map(([name, i]) => [name, values[i]!]))
}

/** The series of one metric, by label values. */
class SeriesMap<S> {
  readonly #labels: readonly string[]
  readonly #labelsOf: ReturnType<typeof labelsFrom>
  readonly #make: () => S
  readonly #series = new Map<string, { readonly values: readonly string[]; readonly series: S }>()

  constructor(labels: readonly string[], make: () => S) {
    this.#labels = labels
    this.#labelsOf = labelsFrom(labels)
    this.#make = make
  }

  at(values: readonly string[]): S {
    const key = values.join('\0')
    const existing = this.#series.get(key)
    if (existing !== undefined) return existing.series
    const others = this.#labels.map(() => other)
    if (this.#series.size >= maxSeries && key !== others.join('\0')) return this.at(others)
    const series = this.#make()
    this.#series.set(key, { values, series })
    return series
  }

  *entries(): Generator<[labels: { [label: string]: string }, series: S]> {
    for (const { values, series } of this.#series.values()) yield [this.#labelsOf(values), series]
  }
}

/** The value of a counter. Counting code keeps a reference to the counter and increments the value. */
export interface Count {
  value: number
}

/** A counter metric with one value for each combination of label values. */
export class Counter implements Metric {
  readonly name: string
  readonly help: string
  readonly type = 'counter'
  readonly page: Metric['page']
  readonly #series: SeriesMap<Count>

  constructor({ name, help, labels, page }: Description) {
    this.name = name
    this.help = help
    this.page = page
    this.#series = new SeriesMap(labels, () => ({ value: 0 }))
  }

  /** Returns the counter for the label values, which must be in the order of the labels. */
  at(...values: readonly string[]): Count {
    return this.#series.at(values)
  }

  *samples(): Generator<Sample> {
    for (const [labels, { value }] of this.#series.entries()) yield { labels, value }
  }
}

/** A gauge metric whose value is read at each scrape. */
export class Gauge implements Metric {
  readonly name: string
  readonly help: string
  readonly type = 'gauge'
  readonly across: Metric['across']
  readonly page: Metric['page']
  readonly #read: () => Iterable<readonly [values: readonly string[], value: number]>
  readonly #labelsOf: ReturnType<typeof labelsFrom>

  constructor(
    { name, help, labels, across, page }: Description,
    read: () => Iterable<readonly [readonly string[], number]>,
  ) {
    this.name = name
    this.help = help
    this.across = across
    this.page = page
    this.#labelsOf = labelsFrom(labels)
    this.#read = read
  }

  *samples(): Generator<Sample> {
    for (const [values, value] of this.#read()) yield { labels: this.#labelsOf(values), value }
  }
}

/** Counts observed values by bucket. Observing code keeps a reference to the distribution. */
export class Distribution {
  readonly #bounds: readonly number[]
  /** Number of values in each bucket, not cumulative. The last bucket is for values above all bounds. */
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  get isEmpty(): boolean {
    return this.counts.every((count) => count === 0)
  }

  observe(value: number): void {
    let low = 0
    let high = this.#bounds.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (value <= this.#bounds[middle]!) high = middle
      else low = middle + 1
    }
    this.counts[low]!++
    this.sum += value
  }
}

/**
 * A histogram metric with fixed bounds and one distribution for each combination of label values. A labeled
 * distribution without observations is omitted from scrapes, because recording code looks up many distributions in
 * advance and the cost of a scrape should depend only on those that are used.
 */
export class Histogram implements Metric {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly #bounds: readonly number[]
  readonly #hasLabels: boolean
  readonly #series: SeriesMap<Distribution>

  constructor({ name, help, labels }: Description, bounds: readonly number[]) {
    this.name = name
    this.help = help
    this.#bounds = bounds
    this.#hasLabels = labels.length > 0
    this.#series = new SeriesMap(labels, () => new Distribution(bounds))
  }

  at(...values: readonly string[]): Distribution {
    return this.#series.at(values)
  }

  *samples(): Generator<Sample> {
    for (const [labels, { counts, sum, isEmpty }] of this.#series.entries()) {
      if (isEmpty && this.#hasLabels) continue
      let cumulativeCount = 0
      for (const [i, count] of counts.entries()) {
        cumulativeCount += count
        yield {
          metricName: `${this.name}_bucket`,
          labels: { ...labels, le: this.#bounds[i] ?? '+Inf' },
          value: cumulativeCount,
        }
      }
      yield { metricName: `${this.name}_sum`, labels, value: sum }
      yield { metricName: `${this.name}_count`, labels, value: cumulativeCount }
    }
  }
}
