/**
 * Metrics in the words of v2beta1, which v1 carries in annotations: flat where v2 has a metric, a target and a current
 * value. Members are written in the order that clients of those versions write them in.
 *
 * What these words cannot say is the type of a target that is not the one its value implies, and a value beside it that
 * does not count; `restoreMetrics` takes those from what is stored.
 */
import { defined, type JsonObject } from '../../json/json.ts'
import { field, type Infer, s } from '../../schema/schema.ts'
import { freeLabelSelector as selector } from '../meta/label-selector.ts'
import type { MetricIdentifier, MetricSpec, MetricStatus, MetricTarget } from './metrics.ts'
import { type ObjectReference, objectReference } from './object-reference.ts'

const type = field(1, s.string(), {
  zero: 'write',
  doc: 'Object, Pods, Resource, ContainerResource or External: the field that says more.',
})
const name = field(1, s.string(), { zero: 'write', doc: 'The name of the resource, such as cpu.' })
const described = field(1, objectReference, { zero: 'write', published: 'required', doc: 'The object it is of.' })
const metricName = (tag: number) => field(tag, s.string(), { zero: 'write', doc: 'The name of the metric.' })
const narrowed = (tag: number) =>
  field(tag, selector, { doc: 'Narrows the metric down; its provider interprets the selector.' })
const container = field(4, s.string(), { zero: 'write', doc: 'The name of the container.' })

const asked = { doc: 'The value to aim for.' }
const askedPerPod = { doc: 'The value to aim for per Pod.' }
const askedUse = field(2, s.int32(), {
  zero: 'keep',
  doc: 'The average over the Pods to aim for, in percent of what they request.',
})
const seen = { zero: 'write', doc: 'The value that was last seen.' } as const
const seenPerPod = { doc: 'The value per Pod that was last seen.' }
const seenUse = field(2, s.int32(), {
  zero: 'keep',
  doc: 'The average over the Pods that was last seen, in percent of what they request.',
})

const objectSource = s.object(
  {
    target: described,
    metricName: metricName(2),
    targetValue: field(3, s.quantity(), { ...asked, zero: 'write' }),
    selector: narrowed(4),
    averageValue: field(5, s.quantity(), askedPerPod),
  },
  { name: 'ObjectMetricSource', doc: 'A metric of one object, such as the requests to an Ingress.' },
)
const podsSource = s.object(
  {
    metricName: metricName(1),
    targetAverageValue: field(2, s.quantity(), { ...askedPerPod, zero: 'write' }),
    selector: narrowed(3),
  },
  { name: 'PodsMetricSource', doc: 'A metric of every Pod, averaged.' },
)
const resourceFields = {
  name,
  targetAverageUtilization: askedUse,
  targetAverageValue: field(3, s.quantity(), askedPerPod),
}
const resourceSource = s.object(resourceFields, {
  name: 'ResourceMetricSource',
  doc: 'A resource that the Pods use.',
})
const containerSource = s.object(
  { ...resourceFields, container },
  { name: 'ContainerResourceMetricSource', doc: 'A resource that one container of each Pod uses.' },
)
const externalSource = s.object(
  {
    metricName: metricName(1),
    metricSelector: narrowed(2),
    targetValue: field(3, s.quantity(), asked),
    targetAverageValue: field(4, s.quantity(), askedPerPod),
  },
  { name: 'ExternalMetricSource', doc: 'A metric of something outside the cluster.' },
)

export const metricSpecV1 = s.object(
  {
    type,
    object: field(2, objectSource, { doc: 'A metric of one object.' }),
    pods: field(3, podsSource, { doc: 'A metric of every Pod.' }),
    resource: field(4, resourceSource, { doc: 'A resource that the Pods use.' }),
    containerResource: field(7, containerSource, { doc: 'A resource that one container of each Pod uses.' }),
    external: field(5, externalSource, { doc: 'A metric of something outside the cluster.' }),
  },
  { name: 'MetricSpec', doc: 'What to look at, and the value to aim for.' },
)

const objectStatus = s.object(
  {
    target: described,
    metricName: metricName(2),
    currentValue: field(3, s.quantity(), seen),
    selector: narrowed(4),
    averageValue: field(5, s.quantity(), seenPerPod),
  },
  { name: 'ObjectMetricStatus', doc: 'What was seen of one object.' },
)
const podsStatus = s.object(
  { metricName: metricName(1), currentAverageValue: field(2, s.quantity(), seen), selector: narrowed(3) },
  { name: 'PodsMetricStatus', doc: 'What was seen of the Pods.' },
)
const resourceSeen = {
  name,
  currentAverageUtilization: seenUse,
  currentAverageValue: field(3, s.quantity(), seen),
}
const resourceStatus = s.object(resourceSeen, {
  name: 'ResourceMetricStatus',
  doc: 'How much of a resource the Pods were seen to use.',
})
const containerStatus = s.object(
  { ...resourceSeen, container },
  { name: 'ContainerResourceMetricStatus', doc: 'How much of a resource one container of each Pod was seen to use.' },
)
const externalStatus = s.object(
  {
    metricName: metricName(1),
    metricSelector: narrowed(2),
    currentValue: field(3, s.quantity(), seen),
    currentAverageValue: field(4, s.quantity(), seenPerPod),
  },
  { name: 'ExternalMetricStatus', doc: 'What was seen of something outside the cluster.' },
)

export const metricStatusV1 = s.object(
  {
    type,
    object: field(2, objectStatus, { doc: 'What was seen of one object.' }),
    pods: field(3, podsStatus, { doc: 'What was seen of the Pods.' }),
    resource: field(4, resourceStatus, { doc: 'How much of a resource the Pods use.' }),
    containerResource: field(7, containerStatus, { doc: 'How much of a resource one container of each Pod uses.' }),
    external: field(5, externalStatus, { doc: 'What was seen of something outside the cluster.' }),
  },
  { name: 'MetricStatus', doc: 'What was last seen of one metric.' },
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
 * What is stored wherever v1 still says the same of it, in its order; then what is new. So a list that went through v1
 * and back is the very list that was stored.
 */
export function restoreMetrics<M>(said: readonly M[], stored: readonly M[], toV1: (metric: M) => JsonObject): M[] {
  const words = said.map((metric) => JSON.stringify(toV1(metric)))
  const left = new Map<string, number>()
  for (const each of words) left.set(each, (left.get(each) ?? 0) + 1)
  const kept = stored.filter((metric) => takeOne(left, JSON.stringify(toV1(metric))))
  // Of metrics in the same words the last are the new ones.
  const added = said.toReversed().filter((_, i) => takeOne(left, words.at(-1 - i)!))
  return [...kept, ...added.toReversed()]
}

function takeOne(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0
  if (count > 0) counts.set(key, count - 1)
  return count > 0
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
