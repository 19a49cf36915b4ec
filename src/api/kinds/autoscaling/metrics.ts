/**
 * The metrics of a HorizontalPodAutoscaler: what it looks at and the value it aims for, and what it saw last.
 * A metric is of one type and carries the source of that type alone.
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
  name: field(1, s.string(), { zero: 'write', doc: 'The name of the metric.' }),
  selector: field(2, freeLabelSelector, { doc: 'Narrows the metric down; its provider interprets the selector.' }),
}

const identifierNames = { name: 'MetricIdentifier', doc: 'A metric by name.' }

const identifier = s.object(identifierFields, {
  ...identifierNames,
  check: ({ name = '' }, path) => checkSegment(name, child(path, 'name')),
})

/** What was seen is not judged. */
const seenIdentifier = s.object(identifierFields, identifierNames)

const targetFields = {
  type: field(1, s.string(), { zero: 'write', doc: 'What is aimed at: Utilization, Value or AverageValue.' }),
  value: field(2, s.quantity(), { doc: 'The value of the metric.' }),
  averageValue: field(3, s.quantity(), { doc: 'The value of the metric per Pod.' }),
  averageUtilization: field(4, s.int32(), {
    zero: 'keep',
    doc: 'The average over the Pods in percent of what they request. For resources alone.',
  }),
}

export type MetricTarget = InferFields<typeof targetFields>
export type MetricIdentifier = InferFields<typeof identifierFields>

const metricTarget = s.object(targetFields, {
  name: 'MetricTarget',
  doc: 'The value to aim for.',
  check: checkTarget,
})

const metricValue = s.object(
  {
    value: field(1, s.quantity(), { doc: 'The value of the metric.' }),
    averageValue: field(2, s.quantity(), { doc: 'The value of the metric per Pod.' }),
    averageUtilization: field(3, s.int32(), {
      zero: 'keep',
      doc: 'The average over the Pods in percent of what they request.',
    }),
  },
  { name: 'MetricValueStatus', doc: 'The value that was last seen.' },
)

/** Parts that are written even if empty, and that the published schema requires. */
const part = { zero: 'write', published: 'required' } as const

const target = field(2, metricTarget, { ...part, doc: 'The value to aim for.' })
const current = field(2, metricValue, { ...part, doc: 'The value that was last seen.' })
const name = field(1, s.string(), { zero: 'write', doc: 'The name of the resource, such as cpu.' })
const container = field(3, s.string(), { zero: 'write', doc: 'The name of the container.' })
const metric = field(1, identifier, { ...part, doc: 'The metric.' })
const describedObject = field(1, objectReference, { ...part, doc: 'The object it is of.' })
const seenMetric = field(1, seenIdentifier, { ...part, doc: 'The metric.' })
const seenObject = field(3, freeObjectReference, { ...part, doc: 'The object it is of.' })

const objectSource = s.object(
  { describedObject, target, metric: field(3, identifier, { ...part, doc: 'The metric.' }) },
  {
    name: 'ObjectMetricSource',
    doc: 'A metric of one object, such as the requests to an Ingress.',
    check: ({ target = {} }, path) => needOne(target, ['value', 'averageValue'], child(path, 'target')),
  },
)
const podsSource = s.object(
  { metric, target },
  { name: 'PodsMetricSource', doc: 'A metric of every Pod, averaged.', check: checkPods },
)
const resourceSource = s.object(
  { name, target },
  { name: 'ResourceMetricSource', doc: 'A resource that the Pods use.', check: checkResource },
)
const containerSource = s.object(
  { name, target, container },
  {
    name: 'ContainerResourceMetricSource',
    doc: 'A resource that one container of each Pod uses.',
    check: checkContainer,
  },
)
const externalSource = s.object(
  { metric, target },
  { name: 'ExternalMetricSource', doc: 'A metric of something outside the cluster.', check: checkExternal },
)

const type = field(1, s.string(), {
  zero: 'write',
  doc: 'Object, Pods, Resource, ContainerResource or External: the field that says more.',
})

const specFields = {
  type,
  object: field(2, objectSource, { doc: 'A metric of one object.' }),
  pods: field(3, podsSource, { doc: 'A metric of every Pod.' }),
  resource: field(4, resourceSource, { doc: 'A resource that the Pods use.' }),
  containerResource: field(7, containerSource, { doc: 'A resource that one container of each Pod uses.' }),
  external: field(5, externalSource, { doc: 'A metric of something outside the cluster.' }),
}

/** Of several sources the first in this order is judged. */
const judgingOrder = ['object', 'external', 'pods', 'resource', 'containerResource'] as const

export const metricSpec = s.object(specFields, {
  name: 'MetricSpec',
  doc: 'What to look at, and the value to aim for.',
  leavesUnjudged: (spec) => judgingOrder.filter((source) => spec[source] !== undefined).slice(1),
  check: checkSpec,
})

const objectStatus = s.object(
  { metric: seenMetric, current, describedObject: seenObject },
  { name: 'ObjectMetricStatus', doc: 'What was seen of one object.' },
)
const podsStatus = s.object(
  { metric: seenMetric, current },
  { name: 'PodsMetricStatus', doc: 'What was seen of the Pods.' },
)
const resourceStatus = s.object(
  { name, current },
  { name: 'ResourceMetricStatus', doc: 'How much of a resource the Pods were seen to use.' },
)
const containerStatus = s.object(
  { name, current, container },
  { name: 'ContainerResourceMetricStatus', doc: 'How much of a resource one container of each Pod was seen to use.' },
)
const externalStatus = s.object(
  { metric: seenMetric, current },
  { name: 'ExternalMetricStatus', doc: 'What was seen of something outside the cluster.' },
)

const statusFields = {
  type,
  object: field(2, objectStatus, { doc: 'What was seen of one object.' }),
  pods: field(3, podsStatus, { doc: 'What was seen of the Pods.' }),
  resource: field(4, resourceStatus, { doc: 'How much of a resource the Pods use.' }),
  containerResource: field(7, containerStatus, { doc: 'How much of a resource one container of each Pod uses.' }),
  external: field(5, externalStatus, { doc: 'What was seen of something outside the cluster.' }),
}

export const metricStatus = s.object(statusFields, { name: 'MetricStatus', doc: 'What was last seen of one metric.' })

export type MetricSpec = InferFields<typeof specFields>
export type MetricStatus = InferFields<typeof statusFields>

/** The types of metrics, each with the field that holds its source. */
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
  const errors: FieldError[] = type === '' ? [required(child(path, 'type'), 'say which type of metric it is')] : []
  if (expected === undefined) errors.push(notSupported(child(path, 'type'), type, types))
  else if (spec[expected] === undefined) errors.push(required(child(path, expected), `it is a metric of type ${type}`))
  const present = Object.values(sources).filter((source) => spec[source] !== undefined)
  const surplus = present.length === 1 ? [] : present.filter((source) => source !== expected)
  return [...errors, ...surplus.map((source) => forbidden(child(path, source), 'only the source of its type counts'))]
}

const targetTypes = ['Utilization', 'Value', 'AverageValue']

/** What is stored may say what nobody may send (`fillAskedValue`): a write of the status leaves it alone. */
function checkTarget(
  { type = '', value, averageValue, averageUtilization }: MetricTarget,
  path: FieldPath,
  { subresource }: RuleContext,
): FieldError[] {
  if (subresource === 'status') return []
  const errors: FieldError[] = type === '' ? [required(child(path, 'type'), 'say what the target is')] : []
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

/** One of two targets must be there; the error names the second. */
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
  const errors: FieldError[] = name === '' ? [required(child(path, 'name'), 'say which resource')] : []
  if (target.averageValue !== undefined && target.averageUtilization !== undefined)
    return [...errors, forbidden(child(place, 'averageValue'), 'may not be set together with averageUtilization')]
  return [...errors, ...needOne(target, ['averageValue', 'averageUtilization'], place)]
}

function checkContainer(
  source: { name?: string; container?: string; target?: MetricTarget },
  path: FieldPath,
): FieldError[] {
  const errors = checkResource(source, path)
  return source.container ? errors : [...errors, required(child(path, 'container'), 'say which container')]
}

/** Only metrics that exist without Pods can say when to scale up from zero. */
export function checkScaleToZero(metrics: readonly MetricSpec[], minReplicas: number | undefined, path: FieldPath) {
  if (minReplicas !== 0 || metrics.some(({ type }) => type === 'Object' || type === 'External')) return []
  return [forbidden(path, 'must hold at least one Object or External metric to support scaling to zero replicas')]
}

/**
 * v1 and v2beta1 always state a value of an object, so every version shows one beside an average. It is none to aim for:
 * who writes it back is told so. Changes the metric.
 */
export function fillAskedValue({ object }: MetricSpec): void {
  if (object !== undefined) object.target = { ...object.target, value: object.target?.value ?? '0' }
}

/** v1 and v2beta1 always report one value with each source, so every version shows it. Changes the metric. */
export function fillSeenValues({ object, external, pods, resource, containerResource }: MetricStatus): void {
  for (const seen of [object, external])
    if (seen !== undefined) seen.current = { ...seen.current, value: seen.current?.value ?? '0' }
  for (const seen of [pods, resource, containerResource])
    if (seen !== undefined) seen.current = { ...seen.current, averageValue: seen.current?.averageValue ?? '0' }
}
