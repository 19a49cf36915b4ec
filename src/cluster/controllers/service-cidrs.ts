/**
 * Marks ServiceCIDRs as ready, and delays the deletion of ServiceCIDRs that are in use. A terminating ServiceCIDR is
 * not ready, so Services get no more addresses from it. The loop removes the finalizer of a terminating ServiceCIDR
 * once no IPAddress belongs to that ServiceCIDR alone. The loop waits at least a few seconds after the delete request,
 * because API servers may still commit addresses that they allocated before the request.
 */
import type { IPAddress } from '../../api/kinds/networking/ip-address.ts'
import type { ServiceCIDR } from '../../api/kinds/networking/service-cidr.ts'
import { type IpRange, isWithin, parseIp, parseRange } from '../../api/model/ip-range.ts'
import { timestamp } from '../../api/model/object.ts'
import type { Clock } from '../../base/time/clock.ts'
import { changeObject } from '../../client/informers/change-object.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import type { Client } from '../../client/requests/client.ts'
import type { ResourceType } from '../../client/requests/resource-type.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface ServiceCidrParts {
  readonly client: Client
  readonly clock: Clock
  readonly ranges: Informer<ServiceCIDR>
  readonly addresses: ResourceType<IPAddress>
  readonly finalizer: string
}

const backoff = { firstMs: 100, longestMs: 5_000 }
const graceMs = 10_000

export function serviceCidrLoop(parts: ServiceCidrParts): Loop {
  return {
    name: 'service-cidr-controller',
    sources: [fromInformer(parts.ranges)],
    backoff,
    reconcile: async (name, signal) => {
      const range = parts.ranges.get({ name })
      return range === undefined ? 'done' : await reconcile(parts, range, signal)
    },
  }
}

async function reconcile(parts: ServiceCidrParts, range: ServiceCIDR, signal: AbortSignal): Promise<StepOutcome> {
  const { finalizers = [], deletionTimestamp } = range.metadata
  const isProtected = finalizers.includes(parts.finalizer)
  if (deletionTimestamp === undefined) {
    if (!isProtected) await setFinalizer(parts, range, signal)
    await setReady(parts, range, { ready: { status: 'True', reason: '', message: 'The ServiceCIDR is ready' }, signal })
    return 'done'
  }
  if (!isProtected) return 'done'
  const message = 'IPAddresses belong to the ServiceCIDR; delete them, or create another ServiceCIDR that contains them'
  await setReady(parts, range, { ready: { status: 'False', reason: 'Terminating', message }, signal })
  if (parts.clock.now() < Date.parse(deletionTimestamp) + graceMs) return 'later'
  if (await isUsed(parts, range, signal)) return 'later'
  await setFinalizer(parts, range, signal)
  return 'done'
}

/**
 * Whether an IPAddress belongs to this ServiceCIDR and to no other ServiceCIDR that will remain. Lists the IPAddresses
 * in pages.
 */
async function isUsed(
  { client, ranges, addresses }: ServiceCidrParts,
  range: ServiceCIDR,
  signal: AbortSignal,
): Promise<boolean> {
  const own = rangesOf(range)
  const others = [...ranges.objects()]
    .filter(({ metadata: { name, deletionTimestamp } }) => {
      return name !== range.metadata.name && deletionTimestamp === undefined
    })
    .flatMap(rangesOf)
  const isOnlyHere = ({ metadata: { name = '' } }: IPAddress) => {
    const ip = parseIp(name)
    const isIn = (each: IpRange) => ip !== undefined && isWithin(ip, each)
    return own.some(isIn) && !others.some(isIn)
  }
  for await (const { items } of client.pages(addresses, { signal })) if (items.some(isOnlyHere)) return true
  return false
}

function rangesOf({ spec }: ServiceCIDR): IpRange[] {
  return (spec?.cidrs ?? []).flatMap((text) => parseRange(text) ?? [])
}

/** Adds the finalizer to a ServiceCIDR, or removes the finalizer from a terminating ServiceCIDR. */
async function setFinalizer({ client, ranges, finalizer }: ServiceCidrParts, range: ServiceCIDR, signal: AbortSignal) {
  const { uid, name = '' } = range.metadata
  const change = (object: ServiceCIDR): ServiceCIDR | undefined => {
    const { finalizers = [], deletionTimestamp } = object.metadata
    const others = finalizers.filter((each) => each !== finalizer)
    const desired = deletionTimestamp === undefined ? [...others, finalizer] : others
    if (object.metadata.uid !== uid || desired.length === finalizers.length) return undefined
    return { ...object, metadata: { ...object.metadata, finalizers: desired } }
  }
  await ignoreNotFound(changeObject(client, ranges.type, { name: { name }, change, signal }))
}

interface Ready {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

async function setReady(
  { client, ranges, clock }: ServiceCidrParts,
  { metadata: { uid, name = '' } }: ServiceCIDR,
  { ready, signal }: { ready: Ready; signal: AbortSignal },
): Promise<void> {
  const change = (object: ServiceCIDR): ServiceCIDR | undefined => {
    const conditions = object.status?.conditions ?? []
    const before = conditions.find(({ type }) => type === 'Ready')
    if (object.metadata.uid !== uid || before?.status === ready.status) return undefined
    const condition = { type: 'Ready', ...ready, lastTransitionTime: timestamp(clock.now()) }
    return { ...object, status: { conditions: [...conditions.filter((each) => each !== before), condition] } }
  }
  await ignoreNotFound(changeObject(client, ranges.type, { name: { name }, subresource: 'status', change, signal }))
}
