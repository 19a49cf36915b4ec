/**
 * Metrics in the words of autoscaling/v1, as its annotations carry them: flat where v2 has a metric, a target and a
 * current value. Members are written in the order that clients of that version write them in.
 *
 * What these words cannot say is the type of a target that is not the one its value implies, and a value beside it that
 * does not count; `restoreMetrics` takes those from what is stored.
 */
import { defined, type JsonObject } from '../../model/json.ts'
import { field, type Infer, s } from '../../schema/schema.ts'
import { freeLabelSelector as selector } from '../meta/label-selector.ts'
import type { MetricIdentifier, MetricSpec, MetricStatus, MetricTarget } from './metrics.ts'
import { type ObjectReference, objectReference } from './object-reference.ts'

const type = field(1, s.string(), { zero: 'write' })
const name = field(1, s.string(), { zero: 'write' })
const reference = field(1, objectReference, { zero: 'write' })
const metricName = (tag: number) => field(tag, s.string(), { zero: 'write' })
const container = field(4, s.string(), { zero: 'write' })
const utilization = field(2, s.int32(), { zero: 'keep' })

export const metricSpecV1 = s.object({
  type,
  object: field(
    2,
    s.object({
      target: reference,
      metricName: metricName(2),
      targetValue: field(3, s.quantity(), { zero: 'write' }),
      selector: field(4, selector),
      averageValue: field(5, s.quantity()),
    }),
  ),
  pods: field(
    3,
    s.object({
      metricName: metricName(1),
      targetAverageValue: field(2, s.quantity(), { zero: 'write' }),
      selector: field(3, selector),
    }),
  ),
  resource: field(
    4,
    s.object({ name, targetAverageUtilization: utilization, targetAverageValue: field(3, s.quantity()) }),
  ),
  containerResource: field(
    7,
    s.object({
      name,
      targetAverageUtilization: utilization,
      targetAverageValue: field(3, s.quantity()),
      container,
    }),
  ),
  external: field(
    5,
    s.object({
      metricName: metricName(1),
      metricSelector: field(2, selector),
      targetValue: field(3, s.quantity()),
      targetAverageValue: field(4, s.quantity()),
    }),
  ),
})

export const metricStatusV1 = s.object({
  type,
  object: field(
    2,
    s.object({
      target: reference,
      metricName: metricName(2),
      currentValue: field(3, s.quantity(), { zero: 'write' }),
      selector: field(4, selector),
      averageValue: field(5, s.quantity()),
    }),
  ),
  pods: field(
    3,
    s.object({
      metricName: metricName(1),
      currentAverageValue: field(2, s.quantity(), { zero: 'write' }),
      selector: field(3, selector),
    }),
  ),
  resource: field(
    4,
    s.object({
      name,
      currentAverageUtilization: utilization,
      currentAverageValue: field(3, s.quantity(), { zero: 'write' }),
    }),
  ),
  containerResource: field(
    7,
    s.object({
      name,
      currentAverageUtilization: utilization,
      currentAverageValue: field(3, s.quantity(), { zero: 'write' }),
      container,
    }),
  ),
  external: field(
    5,
    s.object({
      metricName: metricName(1),
      metricSelector: field(2, selector),
      currentValue: field(3, s.quantity(), { zero: 'write' }),
      currentAverageValue: field(4, s.quantity()),
    }),
  ),
})

type MetricSpecV1 = Infer<typeof metricSpecV1>
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
      target: valueTarget(isSet(object.targetValue) ? object.targetValue : undefined, object.averageValue),
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
  const left = said.map((metric) => ({ metric, words: JSON.stringify(toV1(metric)) }))
  const kept = stored.filter((metric) => {
    const words = JSON.stringify(toV1(metric))
    const index = left.findIndex((candidate) => candidate.words === words)
    return index >= 0 && left.splice(index, 1)
  })
  return [...kept, ...left.map(({ metric }) => metric)]
}

function isSet(quantity: string | undefined): boolean {
  return quantity !== undefined && quantity !== '0'
}

function valueTarget(value: string | undefined, averageValue: string | undefined): MetricTarget {
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
