/**
 * Formats metrics in the Prometheus text format. `/metrics` also contains the metrics of the process
 * (`process-metrics.ts`), which are collected from the first scrape onwards and are shared by all servers in the
 * process.
 *
 * The cost of a scrape is bounded: the number of series is limited (`metrics.ts`), the text is created in time slices,
 * and concurrent scrapes share it.
 */
import { TimeSlice } from '../concurrency/time-slice.ts'
import type { Metric, MetricsPage, Sample } from './metrics.ts'

/** A metrics page: its text and media type. */
export interface Exposition {
  readonly mediaType: string
  readonly text: string
}

/** Formats metrics in the Prometheus text format. */
export interface Exposing {
  /** Returns the text of a metrics page. Defaults to `/metrics`. */
  expose(page?: MetricsPage): Promise<Exposition>
}

/** The properties of a metric that appear in the text format. */
type WrittenMetric = Pick<Metric, 'name' | 'help' | 'type' | 'samples'>

/** Formats all metrics of this thread and of the process. */
export class Exposer implements Exposing {
  readonly #metrics: readonly Metric[]
  readonly #underWay = new Map<MetricsPage, Promise<Exposition>>()

  constructor(metrics: readonly Metric[]) {
    this.#metrics = metrics
  }

  expose(page: MetricsPage = '/metrics'): Promise<Exposition> {
    const running = this.#underWay.get(page)
    if (running !== undefined) return running
    const exposition = exposePage(this.#metrics, page).finally(() => this.#underWay.delete(page))
    this.#underWay.set(page, exposition)
    return exposition
  }
}

/** Returns the text of the metrics that belong to a page. */
export async function exposePage(metrics: readonly Metric[], page: MetricsPage): Promise<Exposition> {
  const ofPage = metrics.filter((metric) => (metric.page ?? '/metrics') === page)
  if (page !== '/metrics') return { mediaType, text: await expositionText(ofPage) }
  const { processMetrics } = await import('./process-metrics.ts')
  return { mediaType, text: await expositionText([...processMetrics(), ...ofPage]) }
}

const mediaType = 'text/plain; version=0.0.4; charset=utf-8'

/** Cost of formatting one sample, in time-slice units. */
const unitsPerSample = 2

async function expositionText(metrics: readonly WrittenMetric[]): Promise<string> {
  const timeSlice = new TimeSlice()
  let text = ''
  for (const metric of metrics) {
    text += `${text === '' ? '' : '\n'}# HELP ${metric.name} ${escaped(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n`
    for (const sample of metric.samples()) {
      text += lineOf(metric, sample)
      if (timeSlice.charge(unitsPerSample)) await timeSlice.yieldIfDue()
    }
  }
  return text
}

function lineOf({ name }: Pick<Metric, 'name'>, { metricName = name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(
    ([label, each]) => `${label}="${escaped(String(each)).replaceAll('"', '\\"')}"`,
  )
  return `${metricName}${pairs.length === 0 ? '' : `{${pairs.join()}}`} ${numberText(value)}\n`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
