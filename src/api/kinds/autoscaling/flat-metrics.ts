/**
 * The flat format of metrics, which v2beta1 uses in fields and v1 in annotations. The flat format has plain fields
 * where v2 has nested objects for the metric, the target and the current value. Members are encoded in the same order
 * as in kube-apiserver.
 *
 * The flat format cannot express a target type that differs from the type implied by the value, nor a second value that
 * the type does not use. `restoreMetrics` takes both from the stored object.
 */
import { defined, type JsonObject } from '../../json/json.ts'
import { field, type Infer, s } from '../../schema/schema.ts'
import { freeLabelSelector as selector } from '../meta/label-selector.ts'
import type { MetricIdentifier, MetricSpec, MetricStatus, MetricTarget } from './metrics.ts'
import { type ObjectReference, objectReference } from './object-reference.ts'

const type = field(1, s.string(), {
  zeroValue: 'write',
  doc: 'Type of the metric: `Object`, `Pods`, `Resource`, `ContainerResource` or `External`. The field for that type must be set.',
})
const name = field(1, s.string(), { zeroValue: 'write', doc: 'Name of the resource, such as cpu.' })
const described = field(1, objectReference, {
  zeroValue: 'write',
  published: 'required',
  doc: 'Object that the metric describes.',
})
const metricName = (tag: number) => field(tag, s.string(), { zeroValue: 'write', doc: 'Name of the metric.' })
const narrowed = (tag: number) =>
  field(tag, selector, { doc: 'Label selector that narrows down the metric. The metrics API evaluates the selector.' })
const container = field(4, s.string(), { zeroValue: 'write', doc: 'Name of the container in the pods.' })

const targetOptions = { doc: 'Target value of the metric.' }
const askedPerPod = { doc: 'Target value of the metric, averaged over the pods.' }
const askedUse = field(2, s.int32(), {
  zeroValue: 'keep',
  doc: 'Target usage of the resource, averaged over the pods, as a percentage of their requests.',
})
const observedOptions = { zeroValue: 'write', doc: 'Last observed value of the metric.' } as const
const seenPerPod = { doc: 'Last observed value of the metric, averaged over the pods.' }
const seenUse = field(2, s.int32(), {
  zeroValue: 'keep',
  doc: 'Last observed usage of the resource, averaged over the pods, as a percentage of their requests.',
})

const objectSource = s.object(
  {
    target: described,
    metricName: metricName(2),
    targetValue: field(3, s.quantity(), { ...targetOptions, zeroValue: 'write' }),
    selector: narrowed(4),
    averageValue: field(5, s.quantity(), askedPerPod),
  },
  {
    name: 'ObjectMetricSource',
    doc: 'A metric that describes one object, for example the request rate of an Ingress.',
  },
)
const podsSource = s.object(
  {
    metricName: metricName(1),
    targetAverageValue: field(2, s.quantity(), { ...askedPerPod, zeroValue: 'write' }),
    selector: narrowed(3),
  },
  { name: 'PodsMetricSource', doc: 'A metric that describes each pod and is averaged over all pods.' },
)
const resourceFields = {
  name,
  targetAverageUtilization: askedUse,
  targetAverageValue: field(3, s.quantity(), askedPerPod),
}
const resourceSource = s.object(resourceFields, {
  name: 'ResourceMetricSource',
  doc: "A metric for the pods' resource usage.",
})
const containerSource = s.object(
  { ...resourceFields, container },
  {
    name: 'ContainerResourceMetricSource',
    doc: 'A metric for the resource usage of one container in each pod.',
  },
)
const externalSource = s.object(
  {
    metricName: metricName(1),
    metricSelector: narrowed(2),
    targetValue: field(3, s.quantity(), targetOptions),
    targetAverageValue: field(4, s.quantity(), askedPerPod),
  },
  {
    name: 'ExternalMetricSource',
    doc: 'A metric from outside the cluster, for example the length of a message queue.',
  },
)

export const metricSpecV1 = s.object(
  {
    type,
    object: field(2, objectSource, { doc: 'Metric that describes one object.' }),
    pods: field(3, podsSource, { doc: 'Metric that describes each pod and is averaged over all pods.' }),
    resource: field(4, resourceSource, { doc: "Metric for the pods' resource usage." }),
    containerResource: field(7, containerSource, {
      doc: 'Metric for the resource usage of one container in each pod. Not supported: the server drops this field.',
    }),
    external: field(5, externalSource, {
      doc: 'Metric from outside the cluster, for example the length of a message queue.',
    }),
  },
  { name: 'MetricSpec', doc: 'A metric and the target to maintain for it.' },
)

const objectStatus = s.object(
  {
    target: described,
    metricName: metricName(2),
    currentValue: field(3, s.quantity(), observedOptions),
    selector: narrowed(4),
    averageValue: field(5, s.quantity(), seenPerPod),
  },
  { name: 'ObjectMetricStatus', doc: 'Last observed value of a metric that describes one object.' },
)
const podsStatus = s.object(
  { metricName: metricName(1), currentAverageValue: field(2, s.quantity(), observedOptions), selector: narrowed(3) },
  { name: 'PodsMetricStatus', doc: 'Last observed value of a metric that describes each pod.' },
)
const resourceSeen = {
  name,
  currentAverageUtilization: seenUse,
  currentAverageValue: field(3, s.quantity(), observedOptions),
}
const resourceStatus = s.object(resourceSeen, {
  name: 'ResourceMetricStatus',
  doc: 'Last observed resource usage of the pods.',
})
const containerStatus = s.object(
  { ...resourceSeen, container },
  { name: 'ContainerResourceMetricStatus', doc: 'Last observed resource usage of one container in each pod.' },
)
const externalStatus = s.object(
  {
    metricName: metricName(1),
    metricSelector: narrowed(2),
    currentValue: field(3, s.quantity(), observedOptions),
    currentAverageValue: field(4, s.quantity(), seenPerPod),
  },
  { name: 'ExternalMetricStatus', doc: 'Last observed value of a metric from outside the cluster.' },
)

export const metricStatusV1 = s.object(
  {
    type,
    object: field(2, objectStatus, { doc: 'Last observed value of a metric that describes one object.' }),
    pods: field(3, podsStatus, { doc: 'Last observed value of a metric that describes each pod.' }),
    resource: field(4, resourceStatus, { doc: 'Last observed resource usage of the pods.' }),
    containerResource: field(7, containerStatus, { doc: 'Last observed resource usage of one container in each pod.' }),
    external: field(5, externalStatus, { doc: 'Last observed value of a metric from outside the cluster.' }),
  },
  { name: 'MetricStatus', doc: 'Last observed value of one metric.' },
)

export type MetricSpecV1 = Infer<typeof metricSpecV1>
type MetricStatusV1 = Infer<typeof metricStatusV1>

export function specToV1({ type, object, pods, resource, containerResource, external }: MetricSpec): JsonObject {
  return {
    type: type!,
    object: object && {
      target: referenceToV1(object.describedObject),
      metricName: object.metric?.name,
      targetValue: object.target?.value ?? '0',
      selector: selectorToV1(object.metric),
      averageValue: object.target?.averageValue,
    },
    pods: pods && {
      metricName: pods.metric?.name,
      targetAverageValue: pods.target?.averageValue ?? '0',
      selector: selectorToV1(pods.metric),
    },
    resource: resource && { name: resource.name, ...resourceTargetToV1(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...resourceTargetToV1(containerResource.target),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric?.name,
      metricSelector: selectorToV1(external.metric),
      targetValue: external.target?.value,
      targetAverageValue: external.target?.averageValue,
    },
  }
}

export function specFromV1({ type, object, pods, resource, containerResource, external }: MetricSpecV1): MetricSpec {
  return defined({
    type,
    object: object && {
      describedObject: object.target!,
      target: valueTarget(object.targetValue ?? '0', object.averageValue),
      metric: metricFromV1(object.metricName, object.selector),
    },
    pods: pods && {
      metric: metricFromV1(pods.metricName, pods.selector),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue! },
    },
    resource: resource && { name: resource.name!, target: resourceTarget(resource) },
    containerResource: containerResource && {
      name: containerResource.name!,
      target: resourceTarget(containerResource),
      container: containerResource.container!,
    },
    external: external && {
      metric: metricFromV1(external.metricName, external.metricSelector),
      target: valueTarget(external.targetValue, external.targetAverageValue),
    },
  })
}

export function statusToV1({ type, object, pods, resource, containerResource, external }: MetricStatus): JsonObject {
  return {
    type: type!,
    object: object && {
      target: referenceToV1(object.describedObject),
      metricName: object.metric?.name,
      currentValue: object.current?.value ?? '0',
      selector: selectorToV1(object.metric),
      averageValue: object.current?.averageValue,
    },
    pods: pods && {
      metricName: pods.metric?.name,
      currentAverageValue: pods.current?.averageValue ?? '0',
      selector: selectorToV1(pods.metric),
    },
    resource: resource && {
      name: resource.name,
      currentAverageUtilization: resource.current?.averageUtilization,
      currentAverageValue: resource.current?.averageValue ?? '0',
    },
    containerResource: containerResource && {
      name: containerResource.name,
      currentAverageUtilization: containerResource.current?.averageUtilization,
      currentAverageValue: containerResource.current?.averageValue ?? '0',
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric?.name,
      metricSelector: selectorToV1(external.metric),
      currentValue: external.current?.value ?? '0',
      currentAverageValue: external.current?.averageValue,
    },
  }
}

export function statusFromV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricStatusV1): MetricStatus {
  return defined({
    type,
    object: object && {
      metric: metricFromV1(object.metricName, object.selector),
      current: defined({ value: object.currentValue, averageValue: object.averageValue }),
      describedObject: object.target!,
    },
    pods: pods && {
      metric: metricFromV1(pods.metricName, pods.selector),
      current: { averageValue: pods.currentAverageValue! },
    },
    resource: resource && { name: resource.name!, current: resourceValue(resource) },
    containerResource: containerResource && {
      name: containerResource.name!,
      current: resourceValue(containerResource),
      container: containerResource.container!,
    },
    external: external && {
      metric: metricFromV1(external.metricName, external.metricSelector),
      current: defined({ value: external.currentValue, averageValue: external.currentAverageValue }),
    },
  })
}

/**
 * If a client read metrics in the flat format and sent them back unchanged, replaces them with the stored metrics,
 * which may contain more data. Keeps the client's order.
 */
export function restoreMetrics<M>(
  sentMetrics: readonly M[],
  stored: readonly M[],
  toV1: (metric: M) => JsonObject,
): M[] {
  const known = Map.groupBy(stored, (metric) => JSON.stringify(toV1(metric)))
  return sentMetrics.map((metric) => known.get(JSON.stringify(toV1(metric)))?.shift() ?? metric)
}

export function valueTarget(value: string | undefined, averageValue: string | undefined): MetricTarget {
  return defined({ type: averageValue === undefined ? 'Value' : 'AverageValue', value, averageValue })
}

function resourceTargetToV1({ averageUtilization, averageValue }: MetricTarget = {}): JsonObject {
  return { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue }
}

function resourceTarget(source: { targetAverageUtilization?: number; targetAverageValue?: string }): MetricTarget {
  const { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue } = source
  const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization'
  return defined({ type, averageUtilization, averageValue })
}

function resourceValue(source: { currentAverageUtilization?: number; currentAverageValue?: string }) {
  const { currentAverageUtilization: averageUtilization, currentAverageValue: averageValue } = source
  return defined({ averageUtilization, averageValue })
}

function metricFromV1(name: string | undefined, chosen: MetricIdentifier['selector']): MetricIdentifier {
  return defined({ name, selector: chosen })
}

function selectorToV1({ selector: chosen }: MetricIdentifier = {}): JsonObject | undefined {
  if (chosen === undefined) return undefined
  const expressions = chosen.matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values }))
  return { matchLabels: chosen.matchLabels, matchExpressions: expressions }
}

function referenceToV1({ kind, name, apiVersion }: ObjectReference = {}): JsonObject {
  return { kind, name, apiVersion }
}
