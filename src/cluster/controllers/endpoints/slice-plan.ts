/**
 * Plans which slices to create, update and delete for the desired endpoints. Endpoints stay in their slice. New
 * endpoints go to slices that change anyway, then to an existing slice with room for all remaining endpoints, and
 * otherwise to new slices. Instead of creating a slice, the plan reuses one that would otherwise be deleted.
 */

import { type Json, sameJson } from '../../../api/json/json.ts'
import type { EndpointSlice } from '../../../api/kinds/discovery/endpoint-slice.ts'
import type { Endpoint } from '../../../api/kinds/discovery/types/endpoint.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { controllerReference } from '../workloads/ownership.ts'
import { type EndpointGroup, endpointKey, portsKey } from './desired-endpoints.ts'
import type { SliceOrigin } from './slice-metadata.ts'

export interface SlicePlanParts {
  readonly groups: ReadonlyMap<string, EndpointGroup>
  readonly origin: SliceOrigin
  /** Existing slices that belong to the owner. */
  readonly own: readonly EndpointSlice[]
  /** Slices of an earlier owner with the same name. The plan deletes these slices. */
  readonly foreign: readonly EndpointSlice[]
  readonly vendor: Vendor
  readonly family: string
  readonly maxPerSlice: number
}

export interface SlicePlan {
  readonly create: EndpointSlice[]
  readonly update: EndpointSlice[]
  readonly remove: EndpointSlice[]
}

/** A slice to be written, with its planned endpoints. */
interface Draft {
  /** The existing slice. Undefined for a new slice. */
  readonly slice?: EndpointSlice
  readonly endpoints: Endpoint[]
  changed: boolean
}

export async function planSlices(parts: SlicePlanParts): Promise<SlicePlan> {
  const { groups, own, foreign } = parts
  const byPorts = Map.groupBy(own, ({ ports }) => portsKey(ports ?? []))
  const unused = [...byPorts].flatMap(([key, slices]) => (groups.has(key) ? [] : slices))
  const create: EndpointSlice[] = []
  const update: EndpointSlice[] = []
  for (const [key, group] of groups) {
    const drafts = await draftsOf(parts, group, byPorts.get(key) ?? [])
    const used = drafts.filter(({ endpoints }, i) => endpoints.length > 0 || (group.endpoints.size === 0 && i === 0))
    unused.push(...drafts.flatMap((draft) => (used.includes(draft) ? [] : (draft.slice ?? []))))
    for (const draft of used) {
      if (draft.slice === undefined) create.push(sliceOf(parts, group, draft))
      else if (draft.changed) update.push(sliceOf(parts, group, draft))
    }
  }
  const reused = create.splice(0, Math.min(create.length, unused.length))
  update.push(...reused.map((slice) => inPlaceOf(unused.shift()!, slice)))
  return { create, update, remove: [...unused, ...foreign] }
}

/** Distributes the endpoints of a group over the existing slices and as few new slices as necessary. */
async function draftsOf(
  parts: SlicePlanParts,
  group: EndpointGroup,
  slices: readonly EndpointSlice[],
): Promise<Draft[]> {
  const { maxPerSlice: max } = parts
  const unplaced = new Map(group.endpoints)
  const drafts: Draft[] = []
  for (const slice of slices) drafts.push(await keepIn(slice, unplaced, parts.origin))
  for (const draft of drafts.filter(({ changed }) => changed).sort(fullestFirst)) fill(draft, unplaced, max)
  while (unplaced.size > 0) {
    const room = drafts.filter(({ changed, endpoints }) => !changed && endpoints.length + unplaced.size <= max)
    const draft = room.sort(fullestFirst)[0] ?? { endpoints: [], changed: true }
    if (draft.slice === undefined) drafts.push(draft)
    fill(draft, unplaced, max)
  }
  return drafts.length > 0 ? drafts : [{ endpoints: [], changed: true }]
}

/**
 * Keeps those endpoints of a slice that are still desired, and removes them from the set of endpoints that need a
 * slice.
 */
async function keepIn(slice: EndpointSlice, unplaced: Map<string, Endpoint>, origin: SliceOrigin): Promise<Draft> {
  const timeSlice = new TimeSlice()
  const endpoints: Endpoint[] = []
  let changed = !isDescribed(slice, origin)
  for (const present of slice.endpoints ?? []) {
    if (timeSlice.charge(20)) await timeSlice.yieldIfDue()
    const key = endpointKey(present)
    const desiredEndpoint = unplaced.get(key)
    changed ||= desiredEndpoint === undefined || !sameJson(desiredEndpoint as Json, present as Json)
    if (desiredEndpoint !== undefined) endpoints.push(desiredEndpoint)
    unplaced.delete(key)
  }
  return { slice, endpoints, changed }
}

/** Whether a slice has the desired labels and annotations. */
function isDescribed({ metadata }: EndpointSlice, { labels, annotations }: SliceOrigin): boolean {
  if (!sameJson(metadata.labels ?? {}, labels)) return false
  return annotations === undefined || sameJson(metadata.annotations ?? {}, annotations)
}

function fullestFirst(a: Draft, b: Draft): number {
  return b.endpoints.length - a.endpoints.length
}

function fill(draft: Draft, unplaced: Map<string, Endpoint>, max: number): void {
  for (const [key, endpoint] of unplaced) {
    if (draft.endpoints.length >= max) return
    draft.endpoints.push(endpoint)
    draft.changed = true
    unplaced.delete(key)
  }
}

function sliceOf({ origin, vendor, family }: SlicePlanParts, { ports }: EndpointGroup, draft: Draft): EndpointSlice {
  const { owner, labels, annotations } = origin
  const { namespace = '', name = '' } = owner.metadata
  const metadata = draft.slice?.metadata ?? {
    namespace,
    generateName: `${name}-`,
    ownerReferences: [controllerReference(owner)],
  }
  return {
    apiVersion: apiVersionOf(vendor, 'discovery', 'v1'),
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels: { ...labels }, ...(annotations && { annotations: { ...annotations } }) },
    addressType: family,
    endpoints: draft.endpoints,
    ports: [...ports],
  }
}

function inPlaceOf({ metadata }: EndpointSlice, slice: EndpointSlice): EndpointSlice {
  const { labels = {}, annotations = metadata.annotations ?? {} } = slice.metadata
  return { ...slice, metadata: { ...metadata, labels, annotations } }
}
