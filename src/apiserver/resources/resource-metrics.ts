/**
 * Serves the resource usage of nodes and pods (`nodes` and `pods` in the group `metrics`), which `kubectl top` and
 * autoscalers read. The usage comes from the node agents (`node-usage.ts`). If an APIService registers another metrics
 * server, that server takes precedence.
 */
import { type Node, node as nodes } from '../../api/kinds/core/node.ts'
import { type Pod, pod as pods } from '../../api/kinds/core/pod.ts'
import { nodeMetrics } from '../../api/kinds/metrics/node-metrics.ts'
import { podMetrics } from '../../api/kinds/metrics/pod-metrics.ts'
import { badRequest, notFound } from '../../api/model/api-error.ts'
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import { LabelMatcher, parseLabelSelector } from '../../api/selectors/label-selector.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Endpoint, EndpointRequest } from '../registry/catalogue/endpoint.ts'
import type { NodeUsage, NodeUsageReport } from './node-usage.ts'

export interface ResourceMetricsParts {
  readonly lookup: Lookup
  readonly vendor: Vendor
  readonly nodeUsage: NodeUsage
}

/** The measurement period to report, although agents measure the usage at a single point in time. */
const window = '10s'

export function resourceMetrics(parts: ResourceMetricsParts): Endpoint[] {
  const { vendor } = parts
  const apiVersion = apiVersionOf(vendor, nodeMetrics.group, nodeMetrics.version)
  const endpoint = (kind: typeof nodeMetrics | typeof podMetrics, find: typeof metricsOfNodes): Endpoint => ({
    kind,
    subresource: '',
    verbs: ['get', 'list'],
    type: undefined,
    admits: undefined,
    doc: kind.doc,
    answer: async (request) => {
      const items = await find(parts, request)
      if (request.verb === 'list') return { apiVersion, kind: `${kind.kind}List`, metadata: {}, items } as ApiObject
      const [item] = items
      if (item === undefined)
        throw notFound({ group: groupName(vendor, kind.group), plural: kind.plural }, request.name)
      return { apiVersion, kind: kind.kind, ...item } as ApiObject
    },
  })
  return [endpoint(nodeMetrics, metricsOfNodes), endpoint(podMetrics, metricsOfPods)]
}

async function metricsOfNodes(
  { lookup, nodeUsage }: ResourceMetricsParts,
  request: EndpointRequest,
): Promise<object[]> {
  const selected = await select<Node>(lookup, nodes, request)
  const reports = await nodeUsage.of(selected)
  return selected.flatMap((node) => {
    const report = reports.get(node.metadata.name ?? '')
    if (report === undefined) return []
    return [{ metadata: metadataOf(node, report), timestamp: report.time, window, usage: report.usage }]
  })
}

async function metricsOfPods({ lookup, nodeUsage }: ResourceMetricsParts, request: EndpointRequest): Promise<object[]> {
  const selected = (await select<Pod>(lookup, pods, request)).filter(({ status }) => status?.phase === 'Running')
  const names = new Set(selected.map(({ spec }) => spec?.nodeName ?? ''))
  const stored = [...names].flatMap((name) => lookup.getCached<Node>(nodes, { namespace: '', name })?.object ?? [])
  const reports = await nodeUsage.of(stored)
  return selected.flatMap((pod) => {
    const report = reports.get(pod.spec?.nodeName ?? '')?.pods.get(pod.metadata.uid ?? '')
    if (report === undefined) return []
    const { time, containers } = report
    return [{ metadata: metadataOf(pod, report), timestamp: time, window, containers }]
  })
}

/**
 * Selects the objects for the response: the named object, or those that match the label selector of a list. Yields to
 * other work, because decoding many objects, or large objects, can take a long time.
 */
async function select<T extends ObjectBase>(
  lookup: Lookup,
  type: StoredType<T>,
  { verb, namespace, name, query }: EndpointRequest,
): Promise<T[]> {
  if ((query.get('fieldSelector') ?? '') !== '') throw badRequest('metrics do not support field selectors')
  const isList = verb === 'list'
  const matcher = new LabelMatcher(parseLabelSelector(isList ? (query.get('labelSelector') ?? '') : ''))
  const names = isList ? [...lookup.names(type, namespace === '' ? undefined : namespace)] : [{ namespace, name }]
  const timeSlice = new TimeSlice()
  const selected: T[] = []
  for (const each of names) {
    const object = lookup.getCached(type, each)?.object
    if (object !== undefined && matcher.matches(object.metadata.labels)) selected.push(object)
    const rest = timeSlice.yieldIfDue()
    if (rest !== undefined) await rest
  }
  return selected
}

function metadataOf({ metadata }: ObjectBase, { time }: Pick<NodeUsageReport, 'time'>): object {
  const { name, namespace, labels } = metadata
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    creationTimestamp: time,
    ...(labels === undefined ? {} : { labels }),
  }
}
