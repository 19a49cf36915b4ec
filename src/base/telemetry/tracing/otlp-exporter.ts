/**
 * Exports spans to a collector with OTLP over HTTP, in batches of JSON. Spans wait in a bounded queue. If the collector
 * is down or slow, new spans are dropped and counted. Requests never wait for the collector.
 */
import { Counter, type Metric } from '../metrics.ts'

/** A span in OTLP. Times are decimal strings of nanoseconds since 1970. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  /** The `tracestate` of the caller. Undefined unless the caller sampled the trace. */
  readonly traceState?: string
  readonly name: string
  /** The kind of the span. 1 means internal, and 2 means server. */
  readonly kind: 1 | 2
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code?: 2 }
}

/** An attribute of a span or resource. Its value is a string or an integer. */
export interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string }
}

export interface ExporterOptions {
  /** Sends JSON to the collector. Throws an error unless the collector accepts the request. */
  readonly send: (body: string) => Promise<void>
  /** Attributes of the OTLP resource, which identify this server. */
  readonly resource: readonly Attribute[]
  readonly onError: (error: Error) => void
}

const maxQueued = 2048
const maxBatch = 512
const flushMs = 2000

/** Counts exported and dropped spans. */
export class TraceMetrics {
  readonly #spans = new Counter({
    name: 'apiserver_trace_spans_total',
    help: 'Number of spans sent to the collector, or dropped because the collector did not accept them in time.',
    labels: ['outcome'],
  })
  readonly sent = this.#spans.at('sent')
  readonly dropped = this.#spans.at('dropped')
  readonly metrics: readonly Metric[] = [this.#spans]
}

/** Exports spans in batches. */
export class OtlpExporter {
  readonly #options: ExporterOptions
  readonly #counts: TraceMetrics
  #queue: Span[] = []
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined

  constructor(options: ExporterOptions, counts: TraceMetrics) {
    this.#options = options
    this.#counts = counts
  }

  /** Adds the spans of a request to the queue. If there is no room for all of them, adds none. */
  add(spans: readonly Span[]): void {
    if (this.#queue.length + spans.length > maxQueued) {
      this.#counts.dropped.value += spans.length
      return
    }
    this.#queue.push(...spans)
    this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref()
    if (this.#queue.length >= maxBatch) this.#flush()
  }

  /** Stops the exporter after one attempt to send the queued spans. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#sending
    this.#flush()
    await this.#sending
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#sending !== undefined || this.#queue.length === 0) return
    const batch = this.#queue.splice(0, maxBatch)
    this.#sending = this.#send(batch)
      .then(() => {
        this.#counts.sent.value += batch.length
      })
      .catch((error: Error) => {
        this.#counts.dropped.value += batch.length
        this.#options.onError(error)
      })
      .finally(() => {
        this.#sending = undefined
        if (this.#queue.length > 0) this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref()
      })
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const { send, resource } = this.#options
    const scopeSpans = [{ scope: { name: 'orch' }, spans }]
    await send(JSON.stringify({ resourceSpans: [{ resource: { attributes: resource }, scopeSpans }] }))
  }
}
