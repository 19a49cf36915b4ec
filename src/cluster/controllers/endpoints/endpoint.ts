/**
 * Maintains the Endpoints of every Service with a selector: the addresses of its pods, grouped by ports, with ready and
 * unready addresses listed separately. Endpoints contain at most 1000 addresses. If a Service has more, an annotation
 * marks its Endpoints as truncated. Endpoints are deleted with their Service.
 */

import { type Json, sameJson } from '../../../api/json/json.ts'
import type { Endpoints } from '../../../api/kinds/core/endpoints.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, type ObjectName } from '../../../client/requests/resource-type.ts'
import { isConflict } from '../../../client/requests/status-error.ts'
import { isOutdated } from '../ignorable-create-error.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import type { PodSelection } from '../selected-pods.ts'
import { isNamespaceEnding } from '../workloads/pod-control.ts'
import { isReady } from '../workloads/pod-state.ts'
import {
  addressOf,
  counts,
  electionKey,
  familiesOf,
  hasPods,
  headlessLabel,
  hostnameOf,
  isHeadless,
  PodChanges,
  type PodPort,
  portsAt,
  selectionOf,
  targetOf,
} from './service-endpoints.ts'
import { TriggerTimes, withTriggerTime } from './trigger-times.ts'
import { type Subset, truncateSubsets } from './truncate-subsets.ts'

const maxAddresses = 1000

export interface EndpointParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly services: Informer<Service>
  readonly pods: Informer<Pod>
  readonly endpoints: Informer<Endpoints>
  /** Minimum time, in milliseconds, to batch pod changes. */
  readonly batchMs: number
}

interface State extends EndpointParts {
  readonly selection: PodSelection<Service>
  readonly changes: PodChanges
  readonly triggerTimes: TriggerTimes
}

type Address = NonNullable<Subset['addresses']>[number]

export function endpointLoop(parts: EndpointParts): Loop {
  const selection = selectionOf(parts.pods, parts.services)
  const changes = new PodChanges(parts.batchMs)
  const state = { ...parts, selection, changes, triggerTimes: new TriggerTimes() }
  return {
    name: 'endpoint',
    sources: [
      fromInformer(parts.services),
      changes.source(parts.pods, selection),
      fromInformer(parts.endpoints, leftoverKeys(parts.endpoints)),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

/**
 * Returns a function that yields the keys of Endpoints to check: Endpoints that exist at startup, because their Service
 * may have been deleted, and deleted Endpoints, which are recreated.
 */
function leftoverKeys(informer: Informer<Endpoints>) {
  let isListed = false
  void informer.synced.then(() => {
    isListed = true
  })
  return ({ key, object }: { readonly key: string; readonly object: Endpoints | undefined }) =>
    object === undefined || !isListed ? [key] : []
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const name = nameOfKey(key)
  const service = state.services.get(name)
  if (service === undefined) return await removeOrphan(state, name, signal)
  if (!hasPods(service)) return 'done'
  const pods = state.selection.podsOf(service)
  state.changes.counted(key, pods.length)
  const triggerTime = state.triggerTimes.next(key, service, pods)
  const subsets = await subsetsOf(service, pods)
  return await write(state, { ...wantedFor(state, service, subsets), triggerTime }, { service, signal })
}

async function removeOrphan(state: State, name: ObjectName, signal: AbortSignal): Promise<StepOutcome> {
  const key = `${name.namespace}/${name.name}`
  state.changes.gone(key)
  state.triggerTimes.forget(key)
  const orphan = state.endpoints.get(name)
  // Old clients store a leader-election record in Endpoints. Such Endpoints never belonged to a Service.
  if (orphan === undefined || orphan.metadata.annotations?.[electionKey(state.vendor)] !== undefined) return 'done'
  const preconditions = { uid: orphan.metadata.uid! }
  try {
    await ignoreNotFound(state.client.delete(kinds.Endpoints, name, { preconditions, signal }))
  } catch (error) {
    if (!isConflict(error)) throw error
  }
  return 'done'
}

/** Returns one subset per port set, sorted by ports. Addresses are sorted as strings. */
async function subsetsOf(service: Service, pods: readonly Pod[]): Promise<Subset[]> {
  const groups = new Map<string, { ports: PodPort[]; ready: Address[]; others: Address[] }>()
  const timeSlice = new TimeSlice()
  const publishAll = service.spec?.publishNotReadyAddresses ?? false
  const family = familiesOf(service)[0]!
  for (const pod of pods) {
    if (timeSlice.charge(20)) await timeSlice.yieldIfDue()
    const ip = counts(pod, { whileTerminating: publishAll }) ? addressOf(pod, family) : undefined
    const ports = portsAt(service, pod)
    if (ip === undefined || (ports.length === 0 && !isHeadlessWithoutPorts(service))) continue
    const key = JSON.stringify(ports)
    const group = groups.get(key) ?? { ports, ready: [], others: [] }
    groups.set(key, group)
    const list = publishAll || isReady(pod) ? group.ready : group.others
    list.push(addressAt(pod, service, ip))
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, ready, others }]) => ({
      ...(ready.length > 0 ? { addresses: ready.sort(byAddress) } : {}),
      ...(others.length > 0 ? { notReadyAddresses: others.sort(byAddress) } : {}),
      ...(ports.length > 0 ? { ports: ports.map(withoutEmptyName) } : {}),
    }))
}

function isHeadlessWithoutPorts({ spec }: Service): boolean {
  return (spec?.ports ?? []).length === 0 && spec?.clusterIP === 'None'
}

function withoutEmptyName({ name, ...port }: PodPort) {
  return name === '' ? port : { name, ...port }
}

function addressAt(pod: Pod, service: Service, ip: string): Address {
  const hostname = hostnameOf(pod, service)
  const { nodeName } = pod.spec ?? {}
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName ? { nodeName } : {}),
    targetRef: targetOf(pod),
  }
}

function byAddress(a: Address, b: Address): number {
  const order = (x = '', y = '') => (x < y ? -1 : Number(x > y))
  return order(a.ip, b.ip) || order(a.targetRef?.uid, b.targetRef?.uid)
}

interface Wanted {
  readonly labels: Record<string, string>
  readonly subsets: readonly Subset[]
  readonly isTruncated: boolean
  readonly triggerTime: string | undefined
}

function wantedFor({ vendor }: State, service: Service, subsets: readonly Subset[]): Omit<Wanted, 'triggerTime'> {
  const { [headlessLabel(vendor)]: _, ...labels } = service.metadata.labels ?? {}
  const headless = isHeadless(service) ? { [headlessLabel(vendor)]: '' } : {}
  const cut = truncateSubsets(subsets, maxAddresses)
  return { labels: { ...labels, ...headless }, subsets: cut, isTruncated: cut !== subsets }
}

async function write(
  { client, recorder, vendor, endpoints: informer }: State,
  { labels, subsets, isTruncated, triggerTime }: Wanted,
  { service, signal }: { service: Service; signal: AbortSignal },
): Promise<StepOutcome> {
  const { namespace = '', name = '' } = service.metadata
  const before = informer.get({ namespace, name })
  const capacityKey = vendorKey(vendor, 'over-capacity', 'endpoints')
  const { [capacityKey]: capacity, ...others } = before?.metadata.annotations ?? {}
  const isSame =
    sameJson((before?.subsets ?? []) as Json, subsets as Json) &&
    sameJson(before?.metadata.labels ?? {}, labels) &&
    (capacity === 'truncated') === isTruncated
  if (before !== undefined && isSame) return 'done'
  const marked = isTruncated ? { ...others, [capacityKey]: 'truncated' } : others
  const annotations = withTriggerTime(marked, vendor, triggerTime)
  const metadata = { ...(before?.metadata ?? { namespace, name }), labels, annotations }
  const object: Endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: [...subsets] }
  try {
    await (before === undefined
      ? client.create(kinds.Endpoints, object, { signal })
      : client.update(kinds.Endpoints, object, { signal }))
    return 'done'
  } catch (error) {
    if (isNamespaceEnding(error)) return 'done'
    if (isOutdated(error)) return 'later'
    const reason = before === undefined ? 'FailedToCreateEndpoint' : 'FailedToUpdateEndpoint'
    const what = before === undefined ? 'create endpoint for' : 'update endpoint'
    const message = `Failed to ${what} service ${namespace}/${name}: ${messageOf(error)}`
    recorder.record(service, { type: 'Warning', reason, message })
    throw error
  }
}
