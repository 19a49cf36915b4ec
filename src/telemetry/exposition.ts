/**
 * Metrics as text that Prometheus reads, written by the library made for it, which also reports on the process: memory,
 * CPU, open files, the event loop. It is loaded at the first scrape, so a server that nobody scrapes does not pay. What it
 * reports on the process is observed once, however many servers there are in it: an observer is never let go of.
 */
import type { Metric as LibraryMetric, Registry } from 'prom-client'
import type { Metric } from './metrics.ts'

/** Metrics as text, and what form of text that is. */
export interface Exposition {
  readonly mediaType: string
  readonly text: string
}

/** Writes metrics as Prometheus reads them. */
export interface Exposing {
  expose(): Promise<Exposition>
}

/** Writes all metrics of this thread, and those of the process. */
export class Exposer implements Exposing {
  readonly #metrics: readonly Metric[]
  #registry: Promise<Registry> | undefined

  constructor(metrics: readonly Metric[]) {
    this.#metrics = metrics
  }

  async expose(): Promise<Exposition> {
    this.#registry ??= openRegistry(this.#metrics)
    const registry = await this.#registry
    ofProcess ??= openProcessRegistry()
    const texts = [await (await ofProcess).metrics(), await registry.metrics()]
    return { mediaType: registry.contentType, text: texts.join('\n') }
  }
}

/** Writes the metrics of the process, and others that are handed in each time. */
export class ProcessExposer {
  readonly #process = new Exposer([])

  async expose(metrics: readonly Metric[]): Promise<Exposition> {
    const { mediaType, text } = await this.#process.expose()
    const { default: library } = await import('prom-client')
    const registry = new library.Registry()
    for (const metric of metrics) registry.registerMetric(adapted(metric))
    return { mediaType, text: text + (await registry.metrics()) }
  }
}

let ofProcess: Promise<Registry> | undefined

async function openProcessRegistry(): Promise<Registry> {
  const { default: library } = await import('prom-client')
  const registry = new library.Registry()
  library.collectDefaultMetrics({ register: registry })
  return registry
}

async function openRegistry(metrics: readonly Metric[]): Promise<Registry> {
  const { default: library } = await import('prom-client')
  const registry = new library.Registry()
  for (const metric of metrics) registry.registerMetric(adapted(metric))
  return registry
}

/** The library asks a metric for nothing but its values at the time of the scrape. */
function adapted(metric: Metric): LibraryMetric {
  const { name, help, type } = metric
  const get = async () => ({ name, help, type, values: metric.samples(), aggregator: 'sum' })
  return { name, help, get } as unknown as LibraryMetric
}
