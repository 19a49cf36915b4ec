/**
 * Metrics as text that Prometheus reads. The metrics of the process (`process-metrics.ts`) are loaded at the first scrape, so
 * a server that nobody scrapes does not pay for them. The process is observed once, however many servers there are in it.
 *
 * What a scrape costs is bounded: there are so many series at most (`metrics.ts`), the text is made in stretches that let
 * requests in between, and all who scrape at the same time get the same text.
 */
import { TimeSlice } from '../concurrency/time-slice.ts'
import type { Metric, Sample } from './metrics.ts'

/** Metrics as text, and what form of text that is. */
export interface Exposition {
  readonly mediaType: string
  readonly text: string
}

/** Writes metrics as Prometheus reads them. */
export interface Exposing {
  expose(): Promise<Exposition>
}

/** What is written of a metric. */
type WrittenMetric = Pick<Metric, 'name' | 'help' | 'type' | 'samples'>

/** Writes all metrics of this thread, and those of the process. */
export class Exposer implements Exposing {
  readonly #metrics: readonly Metric[]
  #underWay: Promise<Exposition> | undefined

  constructor(metrics: readonly Metric[]) {
    this.#metrics = metrics
  }

  expose(): Promise<Exposition> {
    this.#underWay ??= exposeWithProcess(this.#metrics).finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }
}

/** Writes the metrics of the process, and others that are handed in each time. */
export class ProcessExposer {
  expose(metrics: readonly Metric[]): Promise<Exposition> {
    return exposeWithProcess(metrics)
  }
}

async function exposeWithProcess(metrics: readonly Metric[]): Promise<Exposition> {
  const { processMetrics } = await import('./process-metrics.ts')
  return { mediaType, text: await textOf([...processMetrics(), ...metrics]) }
}

const mediaType = 'text/plain; version=0.0.4; charset=utf-8'

/** What writing a sample costs, in units of a pace. */
const unitsPerSample = 2

async function textOf(metrics: readonly WrittenMetric[]): Promise<string> {
  const pace = new TimeSlice()
  let text = ''
  for (const metric of metrics) {
    text += `${text === '' ? '' : '\n'}# HELP ${metric.name} ${escaped(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n`
    for (const sample of metric.samples()) {
      text += lineOf(metric, sample)
      if (pace.charge(unitsPerSample)) await pace.yieldIfDue()
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
