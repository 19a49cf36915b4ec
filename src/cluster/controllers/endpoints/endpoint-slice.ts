/**
 * Maintains the EndpointSlices of every Service with a selector, for each IP family and each set of ports of its pods.
 * The loop changes as few slices as possible. The Service owns the slices, so deleting the Service deletes them.
 *
 * Because the server generates the names of slices, a repeated create would produce a duplicate. After a write, the
 * loop therefore writes no more slices for that Service until the watch has delivered the write (`slice-writes.ts`).
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import type { EndpointSlice } from '../../../api/kinds/discovery/endpoint-slice.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { batched, fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { isOutdated } from '../ignorable-create-error.ts'
import type { PodSelection } from '../selected-pods.ts'
import { isControlledBy } from '../workloads/ownership.ts'
import { isNamespaceEnding } from '../workloads/pod-control.ts'
import { desiredEndpoints } from './desired-endpoints.ts'
import { familiesOf, hasPods, PodChanges, selectionOf } from './service-endpoints.ts'
import { fromService, managedBy, serviceKey } from './slice-metadata.ts'
import { planSlices, type SlicePlan } from './slice-plan.ts'
import { carryOut, changedSlices, removeSlice, SliceWrites } from './slice-writes.ts'
import { TriggerTimes, withTriggerTime } from './trigger-times.ts'

export interface EndpointSliceParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly services: Informer<Service>
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  readonly slices: Informer<EndpointSlice>
  /** Minimum time, in milliseconds, to batch pod changes. */
  readonly batchMs: number
  readonly maxPerSlice: number
}

interface State extends EndpointSliceParts {
  readonly selection: PodSelection<Service>
  readonly changes: PodChanges
  readonly writes: SliceWrites
  readonly byService: Index<EndpointSlice>
  readonly triggerTimes: TriggerTimes
}

export function endpointSliceLoop(parts: EndpointSliceParts): Loop {
  const { pods, services, slices, vendor, clock } = parts
  const selection = selectionOf(pods, services)
  const changes = new PodChanges(parts.batchMs)
  const writes = new SliceWrites(clock)
  const keyOf = (slice: EndpointSlice) => serviceKey(slice, vendor, managedBy(vendor))
  const byService = slices.index((slice) => [keyOf(slice)])
  const state = { ...parts, selection, changes, writes, byService, triggerTimes: new TriggerTimes() }
  return {
    name: 'endpointslice',
    sources: [
      fromInformer(services),
      changes.source(pods, selection),
      // Node changes do not trigger a reconcile: a slice's zones are updated from the nodes only when the slice is
      // written.
      fromInformer(parts.nodes, () => []),
      batched(fromInformer(slices, changedSlices(writes, keyOf)), changes.pauseMs),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const service = state.services.get(nameOfKey(key))
  if (service === undefined) {
    state.changes.gone(key)
    state.writes.forget(key)
    state.triggerTimes.forget(key)
    return 'done'
  }
  if (!hasPods(service)) return 'done'
  const existing = state.byService.get(key)
  const waitMs = state.writes.waitMs(key, existing)
  // The watch normally delivers the missing write, which triggers another reconcile of the Service. The delay is a
  // fallback in case that event never arrives.
  if (waitMs > 0) return { afterMs: waitMs }
  const pods = state.selection.podsOf(service)
  state.changes.counted(key, pods.length)
  const triggerTime = state.triggerTimes.next(key, service, pods)
  try {
    for (const family of familiesOf(service))
      await reconcileFamily(state, { service, pods, existing, family, triggerTime, signal })
    const unserved = existing.filter(({ addressType = '' }) => !familiesOf(service).includes(addressType))
    for (const slice of unserved) await removeSlice(state, key, { slice, signal })
    return 'done'
  } catch (error) {
    if (isNamespaceEnding(error)) return 'done'
    if (isOutdated(error)) return 'later'
    const message = `Error updating Endpoint Slices for Service ${key}: ${messageOf(error)}`
    state.recorder.record(service, { type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message })
    throw error
  }
}

interface FamilyWork {
  readonly service: Service
  readonly pods: readonly Pod[]
  readonly existing: readonly EndpointSlice[]
  readonly family: string
  readonly triggerTime: string | undefined
  readonly signal: AbortSignal
}

async function reconcileFamily(state: State, work: FamilyWork): Promise<void> {
  const { service, pods, existing, family, triggerTime, signal } = work
  const { vendor, nodes, maxPerSlice } = state
  const ofFamily = existing.filter(({ addressType }) => addressType === family)
  const groups = await desiredEndpoints({ service, pods, nodes, family, vendor })
  const plan = await planSlices({
    groups,
    origin: fromService(service, vendor),
    vendor,
    maxPerSlice,
    family,
    own: ofFamily.filter((slice) => isControlledBy(slice, service)),
    foreign: ofFamily.filter((slice) => !isControlledBy(slice, service)),
  })
  const { namespace, name, deletionTimestamp } = service.metadata
  const isEnding = deletionTimestamp !== undefined
  await carryOut(state, `${namespace}/${name}`, { plan: timedPlan(plan, vendor, triggerTime), signal, isEnding })
}

/** Adds an annotation to the slices to be written: the time of the change that triggered the update. */
function timedPlan({ create, update, remove }: SlicePlan, vendor: Vendor, triggerTime: string | undefined): SlicePlan {
  const timed = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    metadata: { ...slice.metadata, annotations: withTriggerTime(slice.metadata.annotations, vendor, triggerTime) },
  })
  return { create: create.map(timed), update: update.map(timed), remove }
}
