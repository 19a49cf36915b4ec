/**
 * A LimitRange contains limits on the resources of each container, pod and claim in a namespace, and defaults for
 * containers without their own values. Missing defaults are derived from the limits.
 */
import { randomUUID } from 'node:crypto'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  maxFaults,
  required,
} from '../../model/field-error.ts'
import { checkQualifiedName } from '../../model/names.ts'
import { compareQuantities, type Quantity } from '../../model/quantity.ts'
import type { Vendor } from '../../model/vendor.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { repeatedAt } from './types/repeated.ts'
import { type ResourceList, resourceList, roundResources } from './types/resource-list.ts'
import { canOvercommit, checkContainerResourceName, checkResourceName, quantityOf } from './types/resource-names.ts'
import { quantityIn } from './types/resources.ts'

const itemFields = {
  type: field(1, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Type of object that the limits apply to: `Container`, `Pod`, `PersistentVolumeClaim`, or the qualified name of a custom type.',
  }),
  max: field(2, resourceList, { doc: 'Maximum amount of each resource.' }),
  min: field(3, resourceList, { doc: 'Minimum amount of each resource.' }),
  default: field(4, resourceList, {
    doc: 'Default resource limits for containers that do not set their own. Defaults to `max`.',
  }),
  defaultRequest: field(5, resourceList, {
    doc: 'Default resource requests for containers that do not set their own. Defaults to the default limit if there is one, and otherwise to `min`.',
  }),
  maxLimitRequestRatio: field(6, resourceList, {
    doc: 'Maximum ratio of the limit to the request, for each resource. Must be at least 1.',
  }),
}

type Item = InferFields<typeof itemFields>

const item = s.object(itemFields, {
  name: 'LimitRangeItem',
  doc: 'Minimum, maximum and default amounts of resources for one type of object.',
  fill: fillBounds,
  check: (value, path, { vendor }) => checkItem(value, path, vendor),
})

const spec = s.object(
  {
    limits: field(1, s.list(item), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Minimum, maximum and default amounts of resources. At most one entry for each type of object.',
    }),
  },
  { name: 'LimitRangeSpec', doc: 'Specification of a LimitRange.', check: checkTypes },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    doc: 'Minimum, maximum and default amounts of resources for objects in the namespace.',
  }),
}

export type LimitRange = ObjectOf<typeof fields>

export const limitRange = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    shortNames: ['limits'],
    scope: 'Namespaced',
  },
  doc: 'Resource limits and defaults for the containers, pods and PersistentVolumeClaims in a namespace.',
  fields,
  rules: { prepareForCreate: ({ metadata }) => nameIt(metadata) },
  lifecycle: {
    createOnUpdate: true,
  },
})

/** Generates a name for a LimitRange without one. Nothing refers to a LimitRange by name. */
function nameIt(metadata: LimitRange['metadata']): void {
  metadata.name ||= randomUUID()
}

/** Derives missing defaults in place: `default` from `max`, and `defaultRequest` from `default` or else from `min`. */
function fillBounds(bounds: Item): void {
  for (const name of amounts) roundResources(bounds[name])
  if (bounds.type !== 'Container') return
  const limits = { ...bounds.max, ...bounds.default }
  const requests = { ...bounds.min, ...limits, ...bounds.defaultRequest }
  if (Object.keys(limits).length > 0) bounds.default = limits
  if (Object.keys(requests).length > 0) bounds.defaultRequest = requests
}

const amounts = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

function checkTypes({ limits = [] }: { limits?: Item[] }, path: FieldPath): FieldError[] {
  return [...repeatedAt(limits.map(({ type }) => type))].map((i) =>
    duplicate(child(at(child(path, 'limits'), i), 'type'), limits[i]!.type ?? ''),
  )
}

function checkItem(bounds: Item, path: FieldPath, vendor: Vendor): FieldError[] {
  return [
    ...checkType(bounds.type ?? '', child(path, 'type')),
    ...checkNames(bounds, path, vendor),
    ...checkPlaces(bounds, path),
    ...checkOrder(bounds, path, vendor),
  ]
}

const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim']

function checkType(type: string, path: FieldPath): FieldError[] {
  const faults = checkQualifiedName(type)
  if (faults.length > 0) return faults.map((text) => invalid(path, type, text))
  return type.includes('/') || standardTypes.includes(type)
    ? []
    : [invalid(path, type, 'must be a standard limit type or fully qualified')]
}

function checkNames(bounds: Item, path: FieldPath, vendor: Vendor): FieldError[] {
  const ofContainers = bounds.type === 'Pod' || bounds.type === 'Container'
  const check = (name: string, place: FieldPath) =>
    ofContainers ? checkContainerResourceName(name, place, vendor) : checkResourceName(name, place)
  const errors: FieldError[] = []
  for (const [part, name] of namesIn(bounds)) {
    if (errors.length >= maxFaults) break
    errors.push(...check(name, at(child(path, part), name)))
  }
  return errors
}

function* namesIn(bounds: Item): Generator<[part: (typeof amounts)[number], name: string]> {
  for (const part of amounts) {
    if (bounds.type === 'Pod' && isDefault(part)) continue
    for (const name of Object.keys(bounds[part] ?? {})) yield [part, name]
  }
}

function isDefault(part: string): boolean {
  return part === 'default' || part === 'defaultRequest'
}

/**
 * Rejects items for claims that do not limit storage. Also rejects defaults for pods, because only containers have
 * requests and limits.
 */
function checkPlaces(bounds: Item, path: FieldPath): FieldError[] {
  const { type, min, max } = bounds
  const surplus = amounts.filter((part) => type === 'Pod' && isDefault(part) && hasAny(bounds[part]))
  const unbounded = type === 'PersistentVolumeClaim' && !hasStorage(min) && !hasStorage(max)
  return [
    ...surplus.map((part) => forbidden(child(path, part), "may not be specified when `type` is 'Pod'")),
    ...(unbounded
      ? [
          required(
            child(path, 'limits'),
            'either minimum or maximum storage value is required, but neither was provided',
          ),
        ]
      : []),
  ]
}

function hasAny(list: ResourceList = {}): boolean {
  return Object.keys(list).length > 0
}

function hasStorage(list: ResourceList = {}): boolean {
  return Object.hasOwn(list, 'storage')
}

function checkOrder(bounds: Item, path: FieldPath, vendor: Vendor): FieldError[] {
  const errors: FieldError[] = []
  for (const name of new Set([...namesIn(bounds)].map(([, name]) => name))) {
    if (errors.length >= maxFaults) break
    errors.push(
      ...checkOrderOf(name, bounds, path),
      ...checkRatio(name, bounds, path),
      ...checkOvercommit(name, bounds, { path, vendor }),
    )
  }
  return errors
}

/**
 * Pairs of fields whose amounts must be in order: `low` must not exceed `high`. Each pair also specifies the field at
 * which the error is reported, and the names in the error message.
 */
const orders = [
  { low: 'min', high: 'max', at: 'min', texts: ['min value', 'max value'] },
  { low: 'min', high: 'defaultRequest', at: 'defaultRequest', texts: ['min value', 'default request value'] },
  { low: 'defaultRequest', high: 'max', at: 'defaultRequest', texts: ['default request value', 'max value'] },
  {
    low: 'defaultRequest',
    high: 'default',
    at: 'defaultRequest',
    texts: ['default request value', 'default limit value'],
  },
  { low: 'min', high: 'default', at: 'default', texts: ['min value', 'default value'] },
  { low: 'default', high: 'max', at: 'default', texts: ['default value', 'max value'] },
] as const

function checkOrderOf(name: string, bounds: Item, path: FieldPath): FieldError[] {
  const amountOf = (part: (typeof amounts)[number]) =>
    isCompared(bounds, part) ? quantityIn(bounds[part], name) : undefined
  return orders.flatMap(({ low, high, at: reportedPart, texts }) => {
    const lower = amountOf(low)
    const higher = amountOf(high)
    if (lower === undefined || higher === undefined || compareQuantities(lower, higher) <= 0) return []
    const text = `${texts[0]} ${bounds[low]![name]} is greater than ${texts[1]} ${bounds[high]![name]}`
    return [invalid(at(child(path, reportedPart), name), bounds[reportedPart]![name], text)]
  })
}

/**
 * Whether to compare this field. `checkPlaces` already rejects defaults in items for pods, so such defaults are not
 * compared.
 */
function isCompared({ type }: Item, part: string): boolean {
  return !(type === 'Pod' && isDefault(part))
}

const one = quantityOf('1')

function checkRatio(name: string, { maxLimitRequestRatio, min, max }: Item, path: FieldPath): FieldError[] {
  const ratio = quantityIn(maxLimitRequestRatio, name)
  if (ratio === undefined) return []
  const place = at(child(path, 'maxLimitRequestRatio'), name)
  const text = maxLimitRequestRatio![name]
  const lower = quantityIn(min, name)
  const upper = quantityIn(max, name)
  return [
    ...(compareQuantities(ratio, one) < 0 ? [invalid(place, text, `ratio ${text} is less than 1`)] : []),
    ...(lower && upper && isAbove(ratio, upper, lower)
      ? [invalid(place, text, `ratio ${text} is greater than max/min = ${formatRatio(upper, lower)}`)]
      : []),
  ]
}

/** Whether a ratio exceeds `upper` divided by `lower`. Always false if `lower` is zero. */
function isAbove(ratio: Quantity, upper: Quantity, lower: Quantity): boolean {
  return lower.nanos !== 0n && Number(ratio.nanos) / Number(one.nanos) > Number(upper.nanos) / Number(lower.nanos)
}

function formatRatio(upper: Quantity, lower: Quantity): string {
  return (Number(upper.nanos) / Number(lower.nanos)).toFixed(6)
}

/** Requires the default request to equal the default limit for resources that cannot be overcommitted. */
function checkOvercommit(
  name: string,
  { type, default: limits, defaultRequest }: Item,
  { path, vendor }: { path: FieldPath; vendor: Vendor },
): FieldError[] {
  const limit = quantityIn(limits, name)
  const request = quantityIn(defaultRequest, name)
  if (type === 'Pod' || canOvercommit(name, vendor) || limit === undefined || request === undefined) return []
  if (compareQuantities(limit, request) === 0) return []
  const text = `default value ${limits![name]} must equal to defaultRequest value ${defaultRequest![name]} in ${name}`
  return [invalid(at(child(path, 'defaultRequest'), name), defaultRequest![name], text)]
}
