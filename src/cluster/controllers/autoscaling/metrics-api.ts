/**
 * Reads metrics from the APIs of aggregated servers: resource usage of pods (`metrics`), metrics of pods and other
 * objects (`custom.metrics`), and metrics of external systems (`external.metrics`). The responses come from other
 * servers, so each value is validated. A value that is not a quantity causes an error.
 */

import type { MetricIdentifier } from '../../../api/kinds/autoscaling/metrics.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { parseLabelSelector } from '../../../api/selectors/label-selector.ts'
import { selectorText } from '../../../api/selectors/selector-text.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { ResourceType } from '../../../client/requests/resource-type.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import type { KindReference, ScaleTypes } from '../scale-types.ts'
import { numberOf, type PodMetrics } from './resource-usage.ts'

/** The client, namespace and pod selector for reading metrics. */
export interface MetricsApiParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly types: ScaleTypes
  readonly namespace: string
  /** Label selector of the target's pods. */
  readonly podSelector: string
  readonly signal: AbortSignal
}

/** Reference to an object by kind and name. */
export interface DescribedObject extends KindReference {
  readonly name?: string
}

interface MetricValue {
  readonly describedObject?: { readonly name?: string }
  readonly value?: unknown
}

interface MetricValues {
  readonly items?: readonly MetricValue[]
}

interface ApiGroup {
  readonly versions?: readonly { readonly version?: string }[]
}

const customVersions = ['v1beta2', 'v1beta1']

export class MetricsApi {
  readonly #parts: MetricsApiParts

  constructor(parts: MetricsApiParts) {
    this.#parts = parts
  }

  /** Returns the resource usage of each container of the target's pods. */
  async usage(): Promise<readonly PodMetrics[]> {
    const { client, vendor, namespace, podSelector, signal } = this.#parts
    const type: ResourceType<PodMetrics & ApiObject> = {
      group: groupName(vendor, 'metrics'),
      version: 'v1beta1',
      plural: 'pods',
      namespaced: true,
    }
    try {
      return (await client.list(type, { namespace, labelSelector: podSelector, signal })).items
    } catch (error) {
      if (isNotFound(error)) throw new Error('the server has no metrics API; register one with an APIService')
      throw error
    }
  }

  /** Returns the values of one metric for all pods, by pod name. */
  async ofPods(metric: MetricIdentifier): Promise<Map<string, number>> {
    const { namespace, podSelector } = this.#parts
    const path = `namespaces/${encodeURIComponent(namespace)}/pods/*/${encodeURIComponent(metric.name ?? '')}`
    const items = await this.#custom(path, { labelSelector: podSelector, ...metricSelector(metric) })
    return new Map(items.map((item) => [item.describedObject?.name ?? '', quantityIn(item)]))
  }

  /** Returns the value of a custom metric that describes a single object, such as an Ingress. */
  async ofObject(metric: MetricIdentifier, { name = '', apiVersion, kind }: DescribedObject): Promise<number> {
    const { types, namespace, signal } = this.#parts
    const type = await types.typeOf({ apiVersion: apiVersion || 'v1', kind }, signal)
    if (type === undefined) throw new Error(`no matches for kind "${kind}" in "${apiVersion}"`)
    const place = type.namespaced ? `namespaces/${encodeURIComponent(namespace)}/` : ''
    const isNamespace = type.group === '' && type.plural === 'namespaces'
    const resource = type.group === '' ? type.plural : `${type.plural}.${type.group}`
    const object = encodeURIComponent(name)
    const last = encodeURIComponent(metric.name ?? '')
    const path = isNamespace ? `namespaces/${object}/metrics/${last}` : `${place}${resource}/${object}/${last}`
    const [value] = await this.#custom(path, metricSelector(metric))
    if (value === undefined) throw new Error('no metrics returned from custom metrics API')
    return quantityIn(value)
  }

  /** Returns the value of an external metric. If several series match the selector, their values are added. */
  async external(metric: MetricIdentifier): Promise<number> {
    const { client, vendor, namespace, signal } = this.#parts
    const group = groupName(vendor, 'external.metrics')
    const path = `/apis/${group}/v1beta1/namespaces/${encodeURIComponent(namespace)}/${encodeURIComponent(metric.name ?? '')}`
    const query = { labelSelector: metricSelectorText(metric) }
    const { items = [] } = await client.read<MetricValues>(path, { query, signal })
    if (items.length === 0) throw new Error('no metrics returned from external metrics API')
    return items.reduce((sum, item) => sum + quantityIn(item), 0)
  }

  async #custom(path: string, query: Record<string, string | undefined>): Promise<readonly MetricValue[]> {
    const { client, vendor, signal } = this.#parts
    const group = groupName(vendor, 'custom.metrics')
    const version = await this.#versionOf(group)
    const { items = [] } = await client.read<MetricValues>(`/apis/${group}/${version}/${path}`, { query, signal })
    return items
  }

  /** Returns the newest version of the custom metrics API that both the server and this client support. */
  async #versionOf(group: string): Promise<string> {
    const { client, signal } = this.#parts
    try {
      const { versions = [] } = await client.read<ApiGroup>(`/apis/${group}`, { signal })
      const servedVersion = customVersions.find((candidate) => versions.some(({ version }) => version === candidate))
      if (servedVersion !== undefined) return servedVersion
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    throw new Error('the server has no custom metrics API; register one with an APIService')
  }
}

function metricSelector(metric: MetricIdentifier): { metricLabelSelector: string | undefined } {
  return { metricLabelSelector: metricSelectorText(metric) }
}

/** Throws if the selector is invalid, because an unfiltered read would return unrelated metrics. */
function metricSelectorText({ selector = {} }: MetricIdentifier): string | undefined {
  const text = selectorText(selector)
  parseLabelSelector(text)
  return text || undefined
}

function quantityIn({ value }: MetricValue): number {
  const number = numberOf(typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)
  if (number === undefined)
    throw new Error(`the metrics API reports ${shorten(JSON.stringify(value) ?? '', 100)}, which is not a quantity`)
  return number
}
