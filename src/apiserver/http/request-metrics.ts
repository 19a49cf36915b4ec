/**
 * Request metrics: counts, durations, response sizes and active requests. All requests for unknown paths share one
 * series, so that clients cannot create new label values.
 */

import { removalOf } from '../../api/schema/kind.ts'
import { type Count, Counter, type Distribution, Gauge, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { Served } from '../registry/catalogue/served.ts'
import type { Exchange } from './request/exchange.ts'
import type { ResourceInfo } from './request/request-info.ts'

const place = ['group', 'version', 'resource', 'subresource', 'scope', 'verb']
const durations = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const sizes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

/** The request properties that become labels of a metric series. */
interface RequestClass {
  readonly verb: string
  readonly scope: string
  readonly subresource: string
  readonly dryRun: string
  readonly status: number
}

/** The metrics of one class of requests, with the labels already resolved. */
interface Series extends RequestClass {
  readonly total: Count
  readonly duration: Distribution | undefined
  readonly size: Distribution | undefined
}

/** Counts requests and measures their durations and response sizes. */
export class RequestMetrics {
  readonly #total = new Counter({
    name: 'apiserver_request_total',
    help: 'Number of requests by resource, verb and response code.',
    labels: [...place, 'dry_run', 'code'],
  })
  readonly #durations = new Histogram(
    {
      name: 'apiserver_request_duration_seconds',
      help: 'Request duration in seconds, from arrival to the end of the response, excluding watches.',
      labels: place,
    },
    durations,
  )
  readonly #sizes = new Histogram(
    { name: 'apiserver_response_sizes', help: 'Response size in bytes.', labels: place },
    sizes,
  )
  /** Label values of the deprecated types that clients have used. The keys are the joined values. */
  readonly #deprecated = new Map<string, readonly string[]>()
  readonly #underWay = { readOnly: 0, mutating: 0, longRunning: 0 }
  /**
   * Metric series by resource type, and the series for unknown paths. The lists are short, with at most one series per
   * verb and response code.
   */
  readonly #seriesByType = new WeakMap<Served, Series[]>()
  readonly #unknown: Series[] = []
  readonly metrics: readonly Metric[] = [
    this.#total,
    this.#durations,
    this.#sizes,
    new Gauge(
      {
        name: 'apiserver_requested_deprecated_apis',
        help: 'Deprecated API versions that were requested, with the release that removes them.',
        labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
        across: 'max',
      },
      () => [...this.#deprecated.values()].map((labels) => [labels, 1] as const),
    ),
    new Gauge(
      {
        name: 'apiserver_current_inflight_requests',
        help: 'Number of requests in flight, excluding watches.',
        labels: ['request_kind'],
      },
      () => [
        [['readOnly'], this.#underWay.readOnly],
        [['mutating'], this.#underWay.mutating],
      ],
    ),
    new Gauge({ name: 'apiserver_longrunning_requests', help: 'Number of active watches.', labels: ['verb'] }, () => [
      [['WATCH'], this.#underWay.longRunning],
    ]),
  ]

  /** Counts a parsed request as active. `end` must be called when the request ends. */
  begin(exchange: Exchange): void {
    this.#underWay[classOf(exchange)]++
  }

  /** Records the end of a request. `now` is a time on the monotonic clock. */
  end(exchange: Exchange, now: number): void {
    // A request is counted as active only once its path has been parsed.
    if (exchange.info !== undefined) this.#underWay[classOf(exchange)]--
    const series = this.#seriesOf(exchange)
    series.total.value++
    series.duration?.observe((now - exchange.arrived) / 1000)
    series.size?.observe(exchange.sentBytes)
  }

  #seriesOf(exchange: Exchange): Series {
    const { served, info, status } = exchange
    const seriesByType = served === undefined ? this.#unknown : this.#seriesOfType(served)
    // Use a subresource as a label only if it exists, because clients could otherwise create any number of series.
    const isPlaced = served !== undefined && info.resource
    const scope = isPlaced ? scopeOf(info) : ''
    const subresource = isPlaced ? info.subresource : ''
    const verb = info?.verb ?? ''
    const dryRun = info !== undefined && info.query.size > 0 && info.query.has('dryRun') ? 'All' : ''
    for (const series of seriesByType)
      if (
        series.verb === verb &&
        series.status === status &&
        series.scope === scope &&
        series.subresource === subresource &&
        series.dryRun === dryRun
      )
        return series
    const opened = this.#open(exchange, { verb, scope, subresource, dryRun, status })
    seriesByType.push(opened)
    return opened
  }

  #seriesOfType(served: Served): Series[] {
    const series = this.#seriesByType.get(served)
    if (series !== undefined) return series
    const none: Series[] = []
    this.#seriesByType.set(served, none)
    return none
  }

  #open(exchange: Exchange, requests: RequestClass): Series {
    const labels = labelsOf(exchange)
    const isWatch = requests.verb === 'watch'
    this.#countDeprecated(exchange)
    return {
      ...requests,
      total: this.#total.at(...labels, requests.dryRun, String(requests.status)),
      duration: isWatch ? undefined : this.#durations.at(...labels),
      size: isWatch ? undefined : this.#sizes.at(...labels),
    }
  }

  /**
   * Records the use of a deprecated type. The metric is set only once per type, because it reports whether the type is
   * used rather than how often.
   */
  #countDeprecated({ served, info }: Exchange): void {
    if (served?.kind.deprecated === undefined || !info?.resource) return
    const { group, plural, kind } = served
    const release = removalOf(kind) ?? ''
    const labels = [group, kind.version, plural, info.subresource, release]
    this.#deprecated.set(labels.join('/'), labels)
  }
}

function classOf({ info }: Exchange): 'readOnly' | 'mutating' | 'longRunning' {
  if (info.verb === 'watch') return 'longRunning'
  return info.verb === 'get' || info.verb === 'list' || info.verb === 'head' ? 'readOnly' : 'mutating'
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** Label values for verbs whose label differs from the verb itself, for compatibility with Kubernetes. */
const verbs: { readonly [verb: string]: string } = {
  create: 'POST',
  update: 'PUT',
  deletecollection: 'DELETECOLLECTION',
}

function labelsOf({ served, info, transport }: Exchange): string[] {
  if (served === undefined || !info?.resource)
    return ['', '', '', '', '', methods.has(transport.method) ? transport.method : 'other']
  const { group, plural, kind } = served
  return [group, kind.version, plural, info.subresource, scopeOf(info), verbs[info.verb] ?? info.verb.toUpperCase()]
}

function scopeOf({ name, namespace }: ResourceInfo): string {
  if (name !== '') return 'resource'
  return namespace !== '' ? 'namespace' : 'cluster'
}
