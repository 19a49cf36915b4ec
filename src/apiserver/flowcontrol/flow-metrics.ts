/** Flow-control metrics by priority level and schema, with the names that kube-apiserver uses. */
import { type Count, Counter, type Distribution, Gauge, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { DemandOfPeriod, SeatDemand } from './seat-demand.ts'
import type { SeatBounds } from './seat-lending.ts'
import type { Refusal, SeatPool } from './seat-pool.ts'

const labels = ['priority_level', 'flow_schema']
const lengths = [0, 10, 25, 50, 100, 250, 500, 1000]
const durations = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

/** Metrics of one FlowSchema at one priority level, updated by its requests. */
export class FlowSeries {
  readonly values: readonly [level: string, schema: string]
  readonly dispatched: Count
  readonly waits: { readonly executed: Distribution; readonly refused: Distribution }
  readonly executions: Distribution
  readonly queueLengths: Distribution
  readonly refused: (reason: Refusal) => Count
  waiting = 0
  executing = 0
  seats = 0

  constructor(metrics: FlowHistograms, level: string, schema: string) {
    this.values = [level, schema]
    this.dispatched = metrics.dispatched.at(level, schema)
    this.executions = metrics.executions.at(level, schema)
    this.queueLengths = metrics.queueLengths.at(level, schema)
    this.waits = {
      executed: metrics.waits.at(level, schema, 'true'),
      refused: metrics.waits.at(level, schema, 'false'),
    }
    this.refused = (reason) => metrics.rejected.at(level, schema, reason)
  }

  get idle(): boolean {
    return this.waiting === 0 && this.executing === 0
  }
}

/** A priority level and its seats, as reported in the metrics. */
interface LevelSeats {
  readonly name: string
  readonly pool: SeatPool | undefined
  readonly lending: { readonly bounds: SeatBounds; readonly demand: SeatDemand } | undefined
}

interface LendingSeats {
  readonly name: string
  readonly bounds: SeatBounds
  readonly last: DemandOfPeriod
  readonly current: number
}

interface FlowHistograms {
  readonly dispatched: Counter
  readonly rejected: Counter
  readonly executions: Histogram
  readonly waits: Histogram
  readonly queueLengths: Histogram
}

/** Counts requests by priority level and schema. */
export class FlowMetrics {
  readonly #histograms: FlowHistograms = {
    dispatched: new Counter({
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      help: 'Number of started requests by priority level and flow schema.',
      labels,
    }),
    rejected: new Counter({
      name: 'apiserver_flowcontrol_rejected_requests_total',
      help: 'Number of requests rejected by flow control, by reason.',
      labels: [...labels, 'reason'],
    }),
    executions: new Histogram(
      {
        name: 'apiserver_flowcontrol_request_execution_seconds',
        help: 'Time that requests occupied their seats. Only the start of a watch counts.',
        labels,
      },
      durations,
    ),
    waits: new Histogram(
      {
        name: 'apiserver_flowcontrol_request_wait_duration_seconds',
        help: 'Time that requests waited for seats.',
        labels: [...labels, 'execute'],
      },
      durations,
    ),
    queueLengths: new Histogram(
      {
        name: 'apiserver_flowcontrol_request_queue_length_after_enqueue',
        help: 'Length of a queue after a request joined it.',
        labels,
      },
      lengths,
    ),
  }
  #series: readonly FlowSeries[] = []
  #levels: readonly LevelSeats[] = []
  #targets: ReadonlyMap<string, number> = new Map()
  #fairFraction = 0
  readonly #dropped = new Counter({
    name: 'apiserver_dropped_requests_total',
    help: 'Number of requests rejected by the in-flight limits.',
    labels: ['request_kind'],
  })
  readonly dropped = { readOnly: this.#dropped.at('readOnly'), mutating: this.#dropped.at('mutating') }
  readonly metrics: readonly Metric[] = [
    this.#dropped,
    ...Object.values(this.#histograms),
    this.#gauge('current_inqueue_requests', 'Number of requests waiting for seats.', ({ waiting }) => waiting),
    this.#gauge('current_executing_requests', 'Number of requests occupying seats.', ({ executing }) => executing),
    this.#gauge('request_concurrency_in_use', 'Number of occupied seats.', ({ seats }) => seats),
    new Gauge(
      {
        name: 'apiserver_flowcontrol_request_concurrency_limit',
        help: 'Number of seats, by priority level.',
        labels: ['priority_level'],
      },
      () => this.#levels.flatMap(({ name, pool }) => (pool === undefined ? [] : [[[name], pool.seats] as const])),
    ),
    this.#lendingGauge('nominal_limit_seats', 'Seats of a level by its shares.', ({ bounds }) => bounds.nominal),
    this.#lendingGauge('lower_limit_seats', 'Seats that a level does not lend.', ({ bounds }) => bounds.lower),
    this.#lendingGauge('upper_limit_seats', 'Seats of a level that borrows all it may.', ({ bounds }) => bounds.upper),
    this.#lendingGauge('current_limit_seats', 'Seats of a level after lending and borrowing.', (each) => each.current),
    this.#lendingGauge('demand_seats_high_watermark', 'Maximum demand.', ({ last }) => last.high),
    this.#lendingGauge('demand_seats_average', 'Average demand.', ({ last }) => last.average),
    this.#lendingGauge('demand_seats_stdev', 'Standard deviation of the demand.', ({ last }) => last.deviation),
    this.#lendingGauge('demand_seats_smoothed', 'Smoothed demand.', ({ last }) => last.smoothed),
    this.#lendingGauge('target_seats', 'Target of the distribution.', ({ name }) => this.#targets.get(name) ?? 0),
    new Gauge(
      {
        name: 'apiserver_flowcontrol_seat_fair_frac',
        help: 'Fraction of its target that each level gets within its bounds.',
        labels: [],
      },
      () => (this.#levels.some(({ lending }) => lending !== undefined) ? [[[], this.#fairFraction] as const] : []),
    ),
  ]

  /** Returns the metrics of a FlowSchema at a level. Creates them on first use. */
  seriesOf(level: string, schema: string): FlowSeries {
    const isIt = ({ values }: FlowSeries) => values[0] === level && values[1] === schema
    return this.#series.find(isIt) ?? new FlowSeries(this.#histograms, level, schema)
  }

  /**
   * Updates the list of FlowSchemas and levels to export. A removed FlowSchema is exported until its last request ends.
   */
  show(series: readonly FlowSeries[], levels: readonly LevelSeats[]): void {
    const under = this.#series.filter((each) => !each.idle && !series.includes(each))
    this.#series = [...series, ...under]
    this.#levels = levels
  }

  /** Records the latest seat distribution. */
  showShares(fairFraction: number, targets: ReadonlyMap<string, number>): void {
    this.#fairFraction = fairFraction
    this.#targets = targets
  }

  /** Returns a gauge with a value for each level that takes part in lending. */
  #lendingGauge(name: string, help: string, read: (level: LendingSeats) => number): Gauge {
    return new Gauge({ name: `apiserver_flowcontrol_${name}`, help, labels: ['priority_level'] }, () =>
      this.#levels.flatMap(({ name, pool, lending }) => {
        if (lending === undefined) return []
        const { bounds, demand } = lending
        return [[[name], read({ name, bounds, last: demand.last, current: pool?.seats ?? demand.seats })] as const]
      }),
    )
  }

  #gauge(name: string, help: string, read: (series: FlowSeries) => number): Gauge {
    return new Gauge({ name: `apiserver_flowcontrol_${name}`, help, labels }, () =>
      this.#series.map((series) => [series.values, read(series)] as const),
    )
  }
}
