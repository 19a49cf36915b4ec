/**
 * The metrics of a HorizontalPodAutoscaler: their sources, target values and last observed values. A metric has one
 * type, and only the source field of that type is set.
 */
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../model/field-error.ts'
import { parseQuantity } from '../../model/quantity.ts'
import type { RuleContext } from '../../schema/context.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { freeLabelSelector } from '../meta/label-selector.ts'
import { checkSegment, freeObjectReference, objectReference } from './object-reference.ts'

const identifierFields = {
  name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the metric.' }),
  selector: field(2, freeLabelSelector, {
    doc: 'Label selector that narrows down the metric. The metrics API evaluates the selector.',
  }),
}

const identifierNames = { name: 'MetricIdentifier', doc: 'Name of a metric, with an optional label selector.' }

const identifier = s.object(identifierFields, {
  ...identifierNames,
  check: ({ name = '' }, path) => checkSegment(name, child(path, 'name')),
})

/** A metric identifier in a status. Unlike in a spec, it is not validated. */
const seenIdentifier = s.object(identifierFields, identifierNames)

const targetFields = {
  type: field(1, s.string(), { zeroValue: 'write', doc: 'Type of the target: Utilization, Value or AverageValue.' }),
  value: field(2, s.quantity(), { doc: 'Target value of the metric. Must be positive.' }),
  averageValue: field(3, s.quantity(), {
    doc: 'Target value of the metric, averaged over the pods. Must be positive.',
  }),
  averageUtilization: field(4, s.int32(), {
    zeroValue: 'keep',
    doc: 'Target usage of a resource, averaged over the pods, as a percentage of their requests. Must be at least 1.',
  }),
}

export type MetricTarget = InferFields<typeof targetFields>
export type MetricIdentifier = InferFields<typeof identifierFields>

const metricTarget = s.object(targetFields, {
  name: 'MetricTarget',
  doc: 'The target for a metric.',
  check: checkTarget,
})

const metricValue = s.object(
  {
    value: field(1, s.quantity(), { doc: 'Last observed value of the metric.' }),
    averageValue: field(2, s.quantity(), { doc: 'Last observed value of the metric, averaged over the pods.' }),
    averageUtilization: field(3, s.int32(), {
      zeroValue: 'keep',
      doc: 'Last observed usage of the resource, averaged over the pods, as a percentage of their requests.',
    }),
  },
  { name: 'MetricValueStatus', doc: 'Last observed value of a metric.' },
)

/** Options for fields that are always encoded, even if empty, and that are published as required. */
const part = { zeroValue: 'write', published: 'required' } as const

const target = field(2, metricTarget, { ...part, doc: 'Target of the metric.' })
const current = field(2, metricValue, { ...part, doc: 'Last observed value of the metric.' })
const name = field(1, s.string(), { zeroValue: 'write', doc: 'Name of the resource, such as cpu.' })
const container = field(3, s.string(), { zeroValue: 'write', doc: 'Name of the container in the pods.' })
const metric = field(1, identifier, { ...part, doc: 'Name and label selector of the metric.' })
const describedObject = field(1, objectReference, { ...part, doc: 'Object that the metric describes.' })
const seenMetric = field(1, seenIdentifier, { ...part, doc: 'Name and label selector of the metric.' })
const seenObject = field(3, freeObjectReference, { ...part, doc: 'Object that the metric describes.' })

const objectSource = s.object(
  { describedObject, target, metric: field(3, identifier, { ...part, doc: 'Name and label selector of the metric.' }) },
  {
    name: 'ObjectMetricSource',
    doc: 'A metric that describes one object, for example the request rate of an Ingress.',
    check: ({ target = {} }, path) => needOne(target, ['value', 'averageValue'], child(path, 'target')),
  },
)
const podsSource = s.object(
  { metric, target },
  {
    name: 'PodsMetricSource',
    doc: 'A metric that describes each pod and is averaged over all pods.',
    check: checkPods,
  },
)
const resourceSource = s.object(
  { name, target },
  { name: 'ResourceMetricSource', doc: "A metric for the pods' resource usage.", check: checkResource },
)
const containerSource = s.object(
  { name, target, container },
  {
    name: 'ContainerResourceMetricSource',
    doc: 'A metric for the resource usage of one container in each pod.',
    check: checkContainer,
  },
)
const externalSource = s.object(
  { metric, target },
  {
    name: 'ExternalMetricSource',
    doc: 'A metric from outside the cluster, for example the length of a message queue.',
    check: checkExternal,
  },
)

const type = field(1, s.string(), {
  zeroValue: 'write',
  doc: 'Type of the metric: `Object`, `Pods`, `Resource`, `ContainerResource` or `External`. The field for that type must be set.',
})

const specFields = {
  type,
  object: field(2, objectSource, { doc: 'Metric that describes one object.' }),
  pods: field(3, podsSource, { doc: 'Metric that describes each pod and is averaged over all pods.' }),
  resource: field(4, resourceSource, { doc: "Metric for the pods' resource usage." }),
  containerResource: field(7, containerSource, {
    gate: 'HPAContainerMetrics',
    doc: 'Metric for the resource usage of one container in each pod. Requires the HPAContainerMetrics feature gate.',
  }),
  external: field(5, externalSource, {
    doc: 'Metric from outside the cluster, for example the length of a message queue.',
  }),
}

/** Source fields in validation order. Only the first field that is set is validated. */
const judgingOrder = ['object', 'external', 'pods', 'resource', 'containerResource'] as const

export const metricSpec = s.object(specFields, {
  name: 'MetricSpec',
  doc: 'A metric and the target to maintain for it.',
  fieldsToSkip: (spec) => judgingOrder.filter((source) => spec[source] !== undefined).slice(1),
  check: checkSpec,
})

const objectStatus = s.object(
  { metric: seenMetric, current, describedObject: seenObject },
  { name: 'ObjectMetricStatus', doc: 'Last observed value of a metric that describes one object.' },
)
const podsStatus = s.object(
  { metric: seenMetric, current },
  { name: 'PodsMetricStatus', doc: 'Last observed value of a metric that describes each pod.' },
)
const resourceStatus = s.object(
  { name, current },
  { name: 'ResourceMetricStatus', doc: 'Last observed resource usage of the pods.' },
)
const containerStatus = s.object(
  { name, current, container },
  { name: 'ContainerResourceMetricStatus', doc: 'Last observed resource usage of one container in each pod.' },
)
const externalStatus = s.object(
  { metric: seenMetric, current },
  { name: 'ExternalMetricStatus', doc: 'Last observed value of a metric from outside the cluster.' },
)

const statusFields = {
  type,
  object: field(2, objectStatus, { doc: 'Last observed value of a metric that describes one object.' }),
  pods: field(3, podsStatus, { doc: 'Last observed value of a metric that describes each pod.' }),
  resource: field(4, resourceStatus, { doc: 'Last observed resource usage of the pods.' }),
  containerResource: field(7, containerStatus, { doc: 'Last observed resource usage of one container in each pod.' }),
  external: field(5, externalStatus, { doc: 'Last observed value of a metric from outside the cluster.' }),
}

export const metricStatus = s.object(statusFields, { name: 'MetricStatus', doc: 'Last observed value of one metric.' })

export type MetricSpec = InferFields<typeof specFields>
export type MetricStatus = InferFields<typeof statusFields>

/** Name of the field that must be set, for each metric type. */
const sources = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
} as const

const types = Object.keys(sources)

export function sourceField(type: string | undefined): (typeof sources)[keyof typeof sources] | undefined {
  return type !== undefined && Object.hasOwn(sources, type) ? sources[type as keyof typeof sources] : undefined
}

function checkSpec(spec: MetricSpec, path: FieldPath): FieldError[] {
  const { type = '' } = spec
  const expected = sourceField(type)
  const errors: FieldError[] = type === '' ? [required(child(path, 'type'), 'must specify the metric type')] : []
  if (expected === undefined) errors.push(notSupported(child(path, 'type'), type, types))
  else if (spec[expected] === undefined) errors.push(required(child(path, expected), `it is a metric of type ${type}`))
  const present = Object.values(sources).filter((source) => spec[source] !== undefined)
  const surplus = present.length === 1 ? [] : present.filter((source) => source !== expected)
  return [...errors, ...surplus.map((source) => forbidden(child(path, source), 'must match the metric type'))]
}

const targetTypes = ['Utilization', 'Value', 'AverageValue']

/**
 * Validates the target of a metric. A status update accepts every target, because a stored target may contain the value
 * 0 (see `fillAskedValue`), which clients must not send.
 */
function checkTarget(
  { type = '', value, averageValue, averageUtilization }: MetricTarget,
  path: FieldPath,
  { subresource }: RuleContext,
): FieldError[] {
  if (subresource === 'status') return []
  const errors: FieldError[] = type === '' ? [required(child(path, 'type'), 'must specify the target type')] : []
  if (!targetTypes.includes(type))
    errors.push(invalid(child(path, 'type'), type, 'must be either Utilization, Value, or AverageValue'))
  errors.push(
    ...checkPositive(value, child(path, 'value')),
    ...checkPositive(averageValue, child(path, 'averageValue')),
  )
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(child(path, 'averageUtilization'), averageUtilization, 'must be greater than 0'))
  return errors
}

function isPositive(quantity: string | undefined): boolean {
  return quantity !== undefined && (parseQuantity(quantity)?.nanos ?? 0n) > 0n
}

function checkPositive(quantity: string | undefined, path: FieldPath): FieldError[] {
  return quantity === undefined || isPositive(quantity) ? [] : [invalid(path, quantity, 'must be positive')]
}

/** Requires at least one of two target fields to be set. The error contains the path of the second field. */
function needOne(target: MetricTarget, names: readonly [keyof MetricTarget, keyof MetricTarget], path: FieldPath) {
  const [first, second] = names
  if (target[first] !== undefined || target[second] !== undefined) return []
  return [required(child(path, second), `must set either ${first} or ${second}`)]
}

function checkPods({ target = {} }: { target?: MetricTarget }, path: FieldPath): FieldError[] {
  return isPositive(target.averageValue) ? [] : [required(child(path, 'target.averageValue'), 'must be positive')]
}

function checkExternal({ target = {} }: { target?: MetricTarget }, path: FieldPath): FieldError[] {
  const place = child(path, 'target')
  if (target.value !== undefined && target.averageValue !== undefined)
    return [forbidden(child(place, 'value'), 'may not be set together with averageValue')]
  return needOne(target, ['value', 'averageValue'], place)
}

function checkResource({ name = '', target = {} }: { name?: string; target?: MetricTarget }, path: FieldPath) {
  const place = child(path, 'target')
  const errors: FieldError[] = name === '' ? [required(child(path, 'name'), 'must specify the resource')] : []
  if (target.averageValue !== undefined && target.averageUtilization !== undefined)
    return [...errors, forbidden(child(place, 'averageValue'), 'may not be set together with averageUtilization')]
  return [...errors, ...needOne(target, ['averageValue', 'averageUtilization'], place)]
}

function checkContainer(
  source: { name?: string; container?: string; target?: MetricTarget },
  path: FieldPath,
): FieldError[] {
  const errors = checkResource(source, path)
  return source.container ? errors : [...errors, required(child(path, 'container'), 'must specify the container')]
}

/**
 * Requires a metric that does not depend on pods if the autoscaler may scale to zero. Otherwise, no metric could ever
 * cause the autoscaler to scale up again.
 */
export function checkScaleToZero(metrics: readonly MetricSpec[], minReplicas: number | undefined, path: FieldPath) {
  if (minReplicas !== 0 || metrics.some(({ type }) => type === 'Object' || type === 'External')) return []
  return [forbidden(path, 'must contain at least one Object or External metric to support scaling to zero replicas')]
}

/**
 * Sets an unset target value of an Object metric to 0, because v1 and v2beta1 always have this field and all versions
 * must return the same data. Validation rejects the 0 if a client writes it back. Modifies the metric in place.
 */
export function fillAskedValue({ object }: MetricSpec): void {
  if (object !== undefined) object.target = { ...object.target, value: object.target?.value ?? '0' }
}

/**
 * Sets the unset current value of each source to 0, because v1 and v2beta1 always have this field and all versions must
 * return the same data. Modifies the metric in place.
 */
export function fillSeenValues({ object, external, pods, resource, containerResource }: MetricStatus): void {
  for (const seen of [object, external])
    if (seen !== undefined) seen.current = { ...seen.current, value: seen.current?.value ?? '0' }
  for (const seen of [pods, resource, containerResource])
    if (seen !== undefined) seen.current = { ...seen.current, averageValue: seen.current?.averageValue ?? '0' }
}
