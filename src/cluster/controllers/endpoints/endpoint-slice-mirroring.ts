/**
 * Mirrors user-managed Endpoints of Services without a selector into EndpointSlices, so that clients only need to read
 * slices. The Endpoints own the slices. The slices are deleted with the Endpoints, with the Service, or when the
 * Service gets a selector.
 *
 * Endpoints with the label `skip-mirror`, and Endpoints that store a leader-election record, are not mirrored. At most
 * `maxPerSubset` addresses of each subset are mirrored, ready addresses first. An Event reports the number of skipped
 * addresses.
 */

import type { Endpoints } from '../../../api/kinds/core/endpoints.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import type { EndpointSlice } from '../../../api/kinds/discovery/endpoint-slice.ts'
import type { Endpoint } from '../../../api/kinds/discovery/types/endpoint.ts'
import { formatIp, parseIp } from '../../../api/model/ip-range.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
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
import { isControlledBy } from '../workloads/ownership.ts'
import { isNamespaceEnding } from '../workloads/pod-control.ts'
import { type EndpointGroup, endpointKey, portsKey } from './desired-endpoints.ts'
import { electionKey, type PodPort } from './service-endpoints.ts'
import { fromEndpoints, mirroredBy, serviceKey } from './slice-metadata.ts'
import { planSlices } from './slice-plan.ts'
import { carryOut, changedSlices, removeSlice, SliceWrites } from './slice-writes.ts'

export interface MirroringParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly services: Informer<Service>
  readonly endpoints: Informer<Endpoints>
  readonly slices: Informer<EndpointSlice>
  /** Minimum time, in milliseconds, to batch Endpoints changes. */
  readonly batchMs: number
  readonly maxPerSubset: number
}

interface State extends MirroringParts {
  readonly writes: SliceWrites
  readonly byService: Index<EndpointSlice>
}

export function endpointSliceMirroringLoop(parts: MirroringParts): Loop {
  const { slices, vendor, clock } = parts
  const writes = new SliceWrites(clock)
  const keyOf = (slice: EndpointSlice) => serviceKey(slice, vendor, mirroredBy(vendor))
  const byService = slices.index((slice) => [keyOf(slice)])
  const pauseMs = () => parts.batchMs
  return {
    name: 'endpointslicemirroring',
    sources: [
      fromInformer(parts.services),
      batched(fromInformer(parts.endpoints), pauseMs),
      batched(fromInformer(slices, changedSlices(writes, keyOf)), pauseMs),
    ],
    reconcile: (key, signal) => reconcile({ ...parts, writes, byService }, key, signal),
  }
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const name = nameOfKey(key)
  const endpoints = state.endpoints.get(name)
  const existing = state.byService.get(key)
  const waitMs = state.writes.waitMs(key, existing)
  // The watch normally delivers the missing write, which triggers another reconcile of the Service. The delay is a
  // fallback in case that event never arrives.
  if (waitMs > 0) return { afterMs: waitMs }
  try {
    if (endpoints !== undefined && isMirrored(state, endpoints, state.services.get(name)))
      await mirror(state, endpoints, { existing, signal })
    else for (const slice of existing) await removeSlice(state, key, { slice, signal })
    return 'done'
  } catch (error) {
    if (isNamespaceEnding(error)) return 'done'
    if (isOutdated(error)) return 'later'
    throw error
  }
}

function isMirrored({ vendor }: State, { metadata }: Endpoints, service: Service | undefined): boolean {
  if (service === undefined || Object.keys(service.spec?.selector ?? {}).length > 0) return false
  if (metadata.labels?.[vendorKey(vendor, 'skip-mirror', 'endpointslice')] === 'true') return false
  return metadata.annotations?.[electionKey(vendor)] === undefined
}

async function mirror(
  state: State,
  endpoints: Endpoints,
  { existing, signal }: { existing: readonly EndpointSlice[]; signal: AbortSignal },
): Promise<void> {
  const { vendor, maxPerSubset } = state
  const { namespace, name, deletionTimestamp } = endpoints.metadata
  const copied = await copyOf(endpoints, maxPerSubset)
  reportSkipped(state, endpoints, copied.skipped)
  for (const family of families) {
    const ofFamily = existing.filter(({ addressType }) => addressType === family)
    const plan = await planSlices({
      groups: copied.groups[family],
      origin: fromEndpoints(endpoints, vendor),
      vendor,
      family,
      maxPerSlice: maxPerSubset,
      own: ofFamily.filter((slice) => isControlledBy(slice, endpoints)),
      foreign: ofFamily.filter((slice) => !isControlledBy(slice, endpoints)),
    })
    await carryOut(state, `${namespace}/${name}`, { plan, signal, isEnding: deletionTimestamp !== undefined })
  }
}

const families = ['IPv4', 'IPv6'] as const
type Family = (typeof families)[number]
type Groups = Map<string, EndpointGroup>
type Subset = NonNullable<Endpoints['subsets']>[number]
type Address = NonNullable<Subset['addresses']>[number]

/** Groups the endpoints of all subsets by IP family and ports. Also counts the skipped addresses. */
async function copyOf(
  { subsets = [] }: Endpoints,
  maxPerSubset: number,
): Promise<{ groups: Record<Family, Groups>; skipped: number }> {
  const groups: Record<Family, Groups> = { IPv4: new Map(), IPv6: new Map() }
  const timeSlice = new TimeSlice()
  let skipped = 0
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [...addresses.map(asEndpoint({ ready: true })), ...notReadyAddresses.map(asEndpoint({ ready: false }))]
    skipped += Math.max(0, all.length - maxPerSubset)
    for (const { family, endpoint } of all.slice(0, maxPerSubset)) {
      if (timeSlice.charge(20)) await timeSlice.yieldIfDue()
      addTo(groups[family], ports.map(asPort), endpoint)
    }
  }
  return { groups, skipped }
}

function addTo(groups: Groups, ports: readonly PodPort[], endpoint: Endpoint): void {
  const key = portsKey(ports)
  const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() }
  groups.set(key, group)
  group.endpoints.set(endpointKey(endpoint), endpoint)
}

function asEndpoint(
  conditions: NonNullable<Endpoint['conditions']>,
): (address: Address) => { family: Family; endpoint: Endpoint } {
  return ({ ip = '', hostname, nodeName, targetRef }) => {
    const parsed = parseIp(ip)
    const endpoint: Endpoint = {
      addresses: [parsed === undefined ? ip : formatIp(parsed)],
      conditions,
      ...(hostname ? { hostname } : {}),
      ...(targetRef === undefined ? {} : { targetRef }),
      ...(nodeName === undefined ? {} : { nodeName }),
    }
    return { family: parsed?.family ?? 'IPv4', endpoint }
  }
}

type EndpointPort = NonNullable<Subset['ports']>[number]

function asPort({ name = '', port = 0, protocol = 'TCP', appProtocol }: EndpointPort): PodPort {
  const podProtocol = protocol as PodPort['protocol']
  return { name, port, protocol: podProtocol, ...(appProtocol === undefined ? {} : { appProtocol }) }
}

function reportSkipped({ recorder, maxPerSubset }: State, endpoints: Endpoints, skipped: number): void {
  if (skipped === 0) return
  const message = `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
  recorder.record(endpoints, { type: 'Warning', reason: 'TooManyAddressesToMirror', message })
}
