/**
 * Serves custom and external metrics for autoscalers from a file (`metrics-file.ts`). The groups `custom.metrics` and
 * `external.metrics` contain a resource for each metric, so their content changes with the file. If an APIService
 * registers another server for a version of these groups, that server takes precedence.
 */
import type { JsonObject } from '../../api/json/json.ts'
import { ApiError, noSuchPath, notFound } from '../../api/model/api-error.ts'
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import { type ObjectBase, timestamp } from '../../api/model/object.ts'
import { groupName } from '../../api/model/vendor.ts'
import { LabelMatcher, parseLabelSelector } from '../../api/selectors/label-selector.ts'
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { Clock } from '../../base/time/clock.ts'
import { notAllowed } from '../http/dispatch.ts'
import type { AggregatedVersions } from '../http/paths/discovery-groups.ts'
import type { Exchange } from '../http/request/exchange.ts'
import type { RequestInfo, ResourceInfo } from '../http/request/request-info.ts'
import { negotiate } from '../http/response/negotiate.ts'
import { sendBytes } from '../http/response/responses.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import type { CustomEntry, MetricEntry, MetricsFile } from './metrics-file.ts'

/** Dependencies of the metrics APIs. They are needed to look up the objects that the metrics describe. */
export interface FileMetricsParts {
  readonly catalogue: Catalogue
  readonly lookup: Lookup
  readonly clock: Clock
  /** Versions that aggregated servers serve. These take precedence over the file. */
  readonly aggregated: AggregatedVersions
}

/** One of the metrics APIs, such as `custom.metrics.k8s.io/v1beta1`. */
interface Api {
  readonly group: string
  readonly version: string
  /** The kind of a list of metric values. */
  readonly kind: string
  /** Lists the API's resources for discovery, one for each metric. */
  readonly resources: () => JsonObject[]
  /** Finds the metric values that a request selects, as JSON. */
  readonly itemsOf: (info: ResourceInfo) => Promise<Sliced<string[]>>
}

/** Serves custom and external metrics from a file, as if an aggregated server provided them. */
export class FileMetrics implements AggregatedVersions {
  readonly #parts: FileMetricsParts
  readonly #apis: readonly Api[]
  #file: MetricsFile
  #reloads = 0

  constructor(file: MetricsFile, parts: FileMetricsParts) {
    const { vendor } = parts.catalogue
    this.#file = file
    this.#parts = parts
    this.#apis = [
      {
        group: groupName(vendor, 'custom.metrics'),
        version: 'v1beta2',
        kind: 'MetricValueList',
        resources: () => this.#customResources(),
        itemsOf: (info) => this.#customItems(info),
      },
      {
        group: groupName(vendor, 'external.metrics'),
        version: 'v1beta1',
        kind: 'ExternalMetricValueList',
        resources: () => this.#externalResources(),
        itemsOf: async (info) => this.#externalItems(info),
      },
    ]
  }

  /** Replaces the metrics after the file has changed. */
  replace(file: MetricsFile): void {
    this.#file = file
    this.#reloads++
  }

  get generation(): number {
    return this.#parts.aggregated.generation + this.#reloads
  }

  *all(): Iterable<{ readonly group: string; readonly version: string }> {
    yield* this.#parts.aggregated.all()
    for (const api of this.#apis) if (!this.#isAggregated(api)) yield api
  }

  priorities(): ReturnType<AggregatedVersions['priorities']> {
    return this.#parts.aggregated.priorities()
  }

  discovered(group: string, version: string): ReturnType<AggregatedVersions['discovered']> {
    const api = this.#apiOf(group, version)
    if (api === undefined) return this.#parts.aggregated.discovered(group, version)
    return { resources: api.resources().map((entry) => ({ group, version, ...entry })), isCurrent: true }
  }

  /** Responds to requests for metrics and for their discovery documents. Returns false for all other requests. */
  handle(exchange: Exchange, info: RequestInfo): false | Promise<void> {
    const [, root, group = '', version = '', ...rest] = info.path.replace(/\/$/, '').split('/')
    if (!info.resource && (root !== 'apis' || rest.length > 0)) return false
    const api = info.resource ? this.#apiOf(info.group, info.version) : this.#apiOf(group, version)
    return api === undefined ? false : this.#answer(exchange, info, api)
  }

  async #answer(exchange: Exchange, info: RequestInfo, api: Api): Promise<void> {
    const { headers, transport, timeSlice } = exchange
    if (transport.method !== 'GET' || info.verb === 'watch') throw notAllowed()
    const { vendor } = this.#parts.catalogue
    const input = { headers, query: info.query, watch: false, vendor, protobuf: undefined, ofResource: true }
    exchange.form = negotiate(input, []).form
    exchange.agreed = true
    const apiVersion = `${api.group}/${api.version}`
    if (!info.resource) {
      const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources: api.resources() }
      return await sendBytes(exchange, 200, Buffer.from(`${JSON.stringify(list)}\n`))
    }
    const items = await timeSlice.run(await api.itemsOf(info))
    const { kind } = api
    const start = JSON.stringify({ kind, apiVersion, metadata: {} }).slice(0, -1)
    await sendBytes(exchange, 200, Buffer.from(`${start},"items":[${items.join()}]}\n`))
  }

  #apiOf(group: string, version: string): Api | undefined {
    return this.#apis.find((api) => api.group === group && api.version === version && !this.#isAggregated(api))
  }

  #isAggregated({ group, version }: Api): boolean {
    for (const other of this.#parts.aggregated.all())
      if (other.group === group && other.version === version) return true
    return false
  }

  #customResources(): JsonObject[] {
    const types = new Map(this.#storedTypes().map((type) => [`${type.apiVersion} ${type.kind.kind}`, type]))
    const entries = new Map<string, JsonObject>()
    for (const { metric, apiVersion, kind } of this.#file.custom) {
      const type = types.get(`${apiVersion} ${kind}`)
      if (type === undefined) continue
      const name = `${resourceName(type)}/${metric}`
      entries.set(name, {
        ...discoveryEntry(name, 'MetricValueList'),
        namespaced: type.kind.scope === 'Namespaced',
      })
    }
    return [...entries.values()]
  }

  #externalResources(): JsonObject[] {
    const names = new Set(this.#file.external.map(({ metric }) => metric))
    return [...names].map((name) => discoveryEntry(name, 'ExternalMetricValueList'))
  }

  #storedTypes(): Resource[] {
    return this.#parts.catalogue.all().filter((type) => type.endpoint === undefined)
  }

  async #customItems(info: ResourceInfo): Promise<Sliced<string[]>> {
    const { resource, namespace, name, metric } = customTarget(info)
    const types = this.#storedTypes().filter((type) => resourceName(type) === resource)
    const isNamespaced = namespace !== ''
    const entries = this.#file.custom.filter(
      (entry) =>
        entry.metric === metric &&
        isIn(entry, namespace) &&
        types.some(({ apiVersion, kind }) => entry.apiVersion === apiVersion && entry.kind === kind.kind),
    )
    const type = types.find(({ apiVersion }) => apiVersion === entries[0]?.apiVersion)
    if (type === undefined) throw noSuchMetric(metric, name === '*' ? resource : `${resource} ${name}`)
    if ((type.kind.scope === 'Namespaced') !== isNamespaced) throw noSuchPath()
    if (type.cache.isLoading) await type.cache.whenLoaded()
    const series = matcherIn(info.query, 'metricLabelSelector')
    const matching = entries.filter(({ labels }) => series.matches(labels))
    return metricsOfObjects(this.#objects(type, info, { namespace, name }), matching, this.#describe(type))
  }

  /** Yields the described objects, and undefined for objects that the label selector does not match. */
  #objects(
    type: Resource,
    { query }: ResourceInfo,
    { namespace, name }: ObjectPlace,
  ): Iterable<ObjectBase | undefined> {
    const { lookup } = this.#parts
    const stored: StoredType<ObjectBase> = { group: type.kind.group, plural: type.plural }
    if (name !== '*') {
      const found = lookup.getCached(stored, { namespace, name })
      if (found === undefined) throw notFound(type, name)
      return [found.object]
    }
    const matcher = matcherIn(query, 'labelSelector')
    // The caller pauses between objects, so each object is decoded only when it is needed.
    return [...lookup.names(stored, namespace === '' ? undefined : namespace)]
      .values()
      .map((each) => lookup.getCached(stored, each)?.object)
      .map((object) => (object && matcher.matches(object.metadata.labels) ? object : undefined))
  }

  #describe({ kind, apiVersion }: Resource): (object: ObjectBase, entry: CustomEntry) => JsonObject {
    const time = timestamp(this.#parts.clock.now())
    return ({ metadata: { namespace, name = '' } }, { metric, labels, value }) => ({
      describedObject: { kind: kind.kind, ...(namespace ? { namespace } : {}), name, apiVersion },
      metric: { name: metric, selector: Object.keys(labels).length === 0 ? null : { matchLabels: labels } },
      timestamp: time,
      value,
    })
  }

  *#externalItems({ namespace, plural: metric, name, query }: ResourceInfo): Sliced<string[]> {
    if (namespace === '' || name !== '') throw noSuchPath()
    const entries = this.#file.external.filter((entry) => entry.metric === metric && isIn(entry, namespace))
    if (entries.length === 0) throw noSuchMetric(metric, `namespaces ${namespace}`)
    const matcher = matcherIn(query, 'labelSelector')
    const time = timestamp(this.#parts.clock.now())
    const items: string[] = []
    for (const { labels, value } of entries) {
      if (matcher.matches(labels))
        items.push(JSON.stringify({ metricName: metric, metricLabels: labels, timestamp: time, value }))
      yield
    }
    return items
  }
}

interface ObjectPlace {
  /** The namespace of the described objects, or '' for cluster-scoped objects. */
  readonly namespace: string
  /** The name of the object, or `*` for all objects. */
  readonly name: string
}

/** Parses a path into the objects and the metric that it names. Metrics of a Namespace have their own path. */
function customTarget({ namespace, plural, name, subresource, below }: ResourceInfo) {
  if (below === '' && plural === 'metrics' && namespace !== '' && name !== '' && subresource === '')
    return { resource: 'namespaces', namespace: '', name: namespace, metric: name }
  if (below !== '' || subresource === '') throw noSuchPath()
  return { resource: plural, namespace, name, metric: subresource }
}

/**
 * Returns a metric value for each object that matches an entry in the file. If several entries match an object, the
 * first one applies.
 */
function* metricsOfObjects(
  objects: Iterable<ObjectBase | undefined>,
  entries: readonly CustomEntry[],
  describe: (object: ObjectBase, entry: CustomEntry) => JsonObject,
): Sliced<string[]> {
  const items: string[] = []
  for (const object of objects) {
    yield
    if (object === undefined) continue
    const { name, labels } = object.metadata
    const entry = entries.find((each) => (each.name ?? name) === name && each.selector.matches(labels))
    if (entry !== undefined) items.push(JSON.stringify(describe(object, entry)))
  }
  return items
}

function isIn({ namespace }: MetricEntry, place: string): boolean {
  return namespace === undefined || namespace === place
}

function matcherIn(query: URLSearchParams, parameter: string): LabelMatcher {
  return new LabelMatcher(parseLabelSelector(query.get(parameter) ?? ''))
}

/** Returns the resource as it appears in metric paths, such as `pods` or `deployments.apps`. */
function resourceName({ plural, group }: Pick<Resource, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`
}

function discoveryEntry(name: string, kind: string): JsonObject {
  return { name, singularName: '', namespaced: true, kind, verbs: ['get'] }
}

function noSuchMetric(metric: string, subject: string): ApiError {
  return new ApiError(404, 'NotFound', `the server could not find the metric ${metric} for ${subject}`)
}
