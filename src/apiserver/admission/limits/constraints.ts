/** Checks the constraints of a LimitRange. Each check returns an error text or undefined. */
import type { LimitRange } from '../../../api/kinds/core/limit-range.ts'
import type { ResourceList } from '../../../api/kinds/core/types/resource-list.ts'
import { quantityIn } from '../../../api/kinds/core/types/resources.ts'
import { compareQuantities, formatQuantity, type Quantity } from '../../../api/model/quantity.ts'

export type Bounds = NonNullable<NonNullable<LimitRange['spec']>['limits']>[number]

/** The resource requests and limits of a container or of a whole pod. */
export interface PodResources {
  readonly requests: ResourceList
  readonly limits: ResourceList
}

/** Returns a message for each constraint that a container or pod violates. */
export function breaksOf(bounds: Bounds, asked: PodResources): string[] {
  return [
    ...each(bounds.min, (name, bound) => belowLeast(bounds, [name, bound], asked)),
    ...each(bounds.max, (name, bound) => aboveMost(bounds, [name, bound], asked)),
    ...each(bounds.maxLimitRequestRatio, (name, bound) => tooFarApart(bounds, [name, bound], asked)),
  ]
}

/** Returns a message for each constraint that a claim violates. Claims have only requests, not limits. */
export function claimBreaksOf(bounds: Bounds, requests: ResourceList): string[] {
  return [
    ...each(bounds.min, (name, bound) => belowLeast(bounds, [name, bound], { requests, limits: {} })),
    ...each(bounds.max, (name, bound) => requestAboveMost(bounds, [name, bound], requests)),
  ]
}

type Bound = readonly [name: string, amount: Quantity]

function each(list: ResourceList = {}, ask: (name: string, bound: Quantity) => string | undefined): string[] {
  return Object.keys(list).flatMap((name) => ask(name, quantityIn(list, name)!) ?? [])
}

function belowLeast({ type }: Bounds, [name, bound]: Bound, { requests, limits }: PodResources): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(bound)}`
  const request = quantityIn(requests, name)
  const limit = quantityIn(limits, name)
  if (request === undefined) return `${rule}.  No request is specified`
  if (compareQuantities(request, bound) < 0) return `${rule}, but request is ${formatQuantity(request)}`
  const low = limit !== undefined && compareQuantities(limit, bound) < 0
  return low ? `${rule}, but limit is ${formatQuantity(limit)}` : undefined
}

function aboveMost(bounds: Bounds, [name, bound]: Bound, { requests, limits }: PodResources): string | undefined {
  const rule = `maximum ${name} usage per ${bounds.type} is ${formatQuantity(bound)}`
  const limit = quantityIn(limits, name)
  if (limit === undefined) return `${rule}.  No limit is specified`
  if (compareQuantities(limit, bound) > 0) return `${rule}, but limit is ${formatQuantity(limit)}`
  return Object.hasOwn(requests, name) ? requestAboveMost(bounds, [name, bound], requests) : undefined
}

function requestAboveMost({ type }: Bounds, [name, bound]: Bound, requests: ResourceList): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`
  const request = quantityIn(requests, name)
  if (request === undefined) return `${rule}.  No request is specified`
  return compareQuantities(request, bound) > 0 ? `${rule}, but request is ${formatQuantity(request)}` : undefined
}

const nanosInOne = 1_000_000_000n

function tooFarApart({ type }: Bounds, [name, bound]: Bound, { requests, limits }: PodResources): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(bound)}`
  const [request = 0n, limit = 0n] = [requests, limits].map((list) => quantityIn(list, name)?.nanos)
  if (request === 0n) return `${rule}, but no request is specified or request is 0`
  if (limit === 0n) return `${rule}, but no limit is specified or limit is 0`
  if (limit * nanosInOne <= bound.nanos * request) return undefined
  return `${rule}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(6)}`
}
