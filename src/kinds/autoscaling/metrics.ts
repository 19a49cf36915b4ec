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
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkSegment, objectReference } from './object-reference.ts'

/** Its form is not checked: whoever provides the metric decides what it selects. */
export const selector = s.object(
  {
    matchLabels: field(1, s.map(s.string())),
    matchExpressions: field(
      2,
      s.list(
        s.object({
          key: field(1, s.string(), { zero: 'write' }),
          operator: field(2, s.string(), { zero: 'write' }),
          values: field(3, s.list(s.string())),
        }),
      ),
    ),
  },
  { atomic: true },
)

const identifierFields = {
  name: field(1, s.string(), { zero: 'write' }),
  selector: field(2, selector),
}

const identifier = s.object(identifierFields, {
  check: ({ name = '' }, path) => checkSegment(name, child(path, 'name')),
})

const targetFields = {
  type: field(1, s.string(), { zero: 'write' }),
  value: field(2, s.quantity()),
  averageValue: field(3, s.quantity()),
  averageUtilization: field(4, s.int32(), { zero: 'keep' }),
}

export type MetricTarget = InferFields<typeof targetFields>
export type MetricIdentifier = InferFields<typeof identifierFields>

const target = field(2, s.object(targetFields, { check: checkTarget }), { zero: 'write' })

const current = field(
  2,
  s.object({
    value: field(1, s.quantity()),
    averageValue: field(2, s.quantity()),
    averageUtilization: field(3, s.int32(), { zero: 'keep' }),
  }),
  { zero: 'write' },
)

const name = field(1, s.string(), { zero: 'write' })
const container = field(3, s.string(), { zero: 'write' })
const metric = field(1, identifier, { zero: 'write' })

const specFields = {
  type: field(1, s.string(), { zero: 'write' }),
  object: field(
    2,
    s.object(
      {
        describedObject: field(1, objectReference, { zero: 'write' }),
        target,
        metric: field(3, identifier, { zero: 'write' }),
      },
      { check: ({ target = {} }, path) => needOne(target, ['value', 'averageValue'], child(path, 'target')) },
    ),
  ),
  pods: field(3, s.object({ metric, target }, { check: checkPods })),
  resource: field(4, s.object({ name, target }, { check: checkResource })),
  containerResource: field(7, s.object({ name, target, container }, { check: checkContainer })),
  external: field(5, s.object({ metric, target }, { check: checkExternal })),
}

export const metricSpec = s.object(specFields, { check: checkSpec })

const statusFields = {
  type: field(1, s.string(), { zero: 'write' }),
  object: field(2, s.object({ metric, current, describedObject: field(3, objectReference, { zero: 'write' }) })),
  pods: field(3, s.object({ metric, current })),
  resource: field(4, s.object({ name, current })),
  containerResource: field(7, s.object({ name, current, container })),
  external: field(5, s.object({ metric, current })),
}

export const metricStatus = s.object(statusFields)

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

function checkTarget(
  { type = '', value, averageValue, averageUtilization }: MetricTarget,
  path: FieldPath,
): FieldError[] {
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

/** Only metrics that exist without Pods can tell when to leave zero. */
export function checkScaleToZero(metrics: readonly MetricSpec[], minReplicas: number | undefined, path: FieldPath) {
  if (minReplicas !== 0 || metrics.some(({ type }) => type === 'Object' || type === 'External')) return []
  return [forbidden(path, 'must hold at least one Object or External metric to support scaling to zero replicas')]
}
