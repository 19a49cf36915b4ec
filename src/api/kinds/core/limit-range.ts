/**
 * LimitRange: what the containers, pods and claims of a namespace may ask for, each by itself, and what containers get
 * that ask for nothing. Bounds that are not given follow from those that are.
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
    zero: 'write',
    published: 'required',
    doc: 'What is limited: Container, Pod, PersistentVolumeClaim, or a custom type.',
  }),
  max: field(2, resourceList, { doc: 'The most of each resource.' }),
  min: field(3, resourceList, { doc: 'The least of each resource.' }),
  default: field(4, resourceList, { doc: 'The limits of a container that sets none; the most if unset.' }),
  defaultRequest: field(5, resourceList, {
    doc: 'The requests of a container that sets none; its limits if unset, else the least.',
  }),
  maxLimitRequestRatio: field(6, resourceList, { doc: 'How many times its request a limit may be at most.' }),
}

type Item = InferFields<typeof itemFields>

const item = s.object(itemFields, {
  name: 'LimitRangeItem',
  doc: 'Bounds for one kind of thing.',
  fill: fillBounds,
  check: (value, path, { vendor }) => checkItem(value, path, vendor),
})

const spec = s.object(
  {
    limits: field(1, s.list(item), { zero: 'write', published: 'required', doc: 'The bounds, one for each kind.' }),
  },
  { name: 'LimitRangeSpec', doc: 'The bounds that a LimitRange sets.', check: checkTypes },
)

const fields = { spec: field(2, spec, { zero: 'write', doc: 'The bounds.' }) }

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
  doc: 'Limits and defaults for the resources that containers, pods and claims of a namespace request.',
  fields,
  rules: { prepareForCreate: ({ metadata }) => nameIt(metadata) },
  life: {
    createOnUpdate: true,
  },
})

/** Nobody refers to one by its name, so that it need not have one of its own. Changes the metadata. */
function nameIt(metadata: LimitRange['metadata']): void {
  metadata.name ||= randomUUID()
}

/** The most is the default limit, and that the default request; else the least is. Changes the item. */
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

/** Pods have no limits of their own that could be missing; of claims only the storage can be bounded. */
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

/** What may not be above what, where the fault is reported, and what the two are called. */
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
  const known = (part: (typeof amounts)[number]) =>
    isCompared(bounds, part) ? quantityIn(bounds[part], name) : undefined
  return orders.flatMap(({ low, high, at: told, texts }) => {
    const [lower, higher] = [known(low), known(high)]
    if (lower === undefined || higher === undefined || compareQuantities(lower, higher) <= 0) return []
    const text = `${texts[0]} ${bounds[low]![name]} is greater than ${texts[1]} ${bounds[high]![name]}`
    return [invalid(at(child(path, told), name), bounds[told]![name], text)]
  })
}

/** Defaults that a pod may not have are refused as a whole. */
function isCompared({ type }: Item, part: string): boolean {
  return !(type === 'Pod' && isDefault(part))
}

const one = quantityOf('1')

function checkRatio(name: string, { maxLimitRequestRatio, min, max }: Item, path: FieldPath): FieldError[] {
  const ratio = quantityIn(maxLimitRequestRatio, name)
  if (ratio === undefined) return []
  const place = at(child(path, 'maxLimitRequestRatio'), name)
  const text = maxLimitRequestRatio![name]
  const [least, most] = [quantityIn(min, name), quantityIn(max, name)]
  return [
    ...(compareQuantities(ratio, one) < 0 ? [invalid(place, text, `ratio ${text} is less than 1`)] : []),
    ...(least && most && isAbove(ratio, most, least)
      ? [invalid(place, text, `ratio ${text} is greater than max/min = ${shown(most, least)}`)]
      : []),
  ]
}

/** Whether a ratio is above that of two amounts; nothing is above a division by nothing. */
function isAbove(ratio: Quantity, most: Quantity, least: Quantity): boolean {
  return least.nanos !== 0n && Number(ratio.nanos) / Number(one.nanos) > Number(most.nanos) / Number(least.nanos)
}

function shown(most: Quantity, least: Quantity): string {
  return (Number(most.nanos) / Number(least.nanos)).toFixed(6)
}

/** Where no more can be promised than there is, limit and request are the same. */
function checkOvercommit(
  name: string,
  { type, default: limits, defaultRequest }: Item,
  { path, vendor }: { path: FieldPath; vendor: Vendor },
): FieldError[] {
  const [limit, request] = [quantityIn(limits, name), quantityIn(defaultRequest, name)]
  if (type === 'Pod' || canOvercommit(name, vendor) || limit === undefined || request === undefined) return []
  if (compareQuantities(limit, request) === 0) return []
  const text = `default value ${limits![name]} must equal to defaultRequest value ${defaultRequest![name]} in ${name}`
  return [invalid(at(child(path, 'defaultRequest'), name), defaultRequest![name], text)]
}
