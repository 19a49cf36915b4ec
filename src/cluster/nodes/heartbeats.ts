/**
 * Registers the nodes of this process and sends their heartbeats. Renews each Lease every ten seconds, and reports the
 * Node status every five minutes and whenever the status has changed. The renewals of many nodes are spread over the
 * interval, which is longer if there are thousands of nodes.
 *
 * Like any node agent, a node registers only once. A deleted Node is not registered again until the next start, but
 * heartbeats resume if another client recreates it.
 */

import type { Lease } from '../../api/kinds/coordination/lease.ts'
import type { Node } from '../../api/kinds/core/node.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart, fromInformer, type Source } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { isConflict, isNotFound, StatusError } from '../../client/requests/status-error.ts'
import { publishDevices } from './devices/node-devices.ts'
import type { NodeOutages } from './failures/node-outages.ts'
import { type NodeDescription, nodeObject, nodeStatus } from './node-object.ts'
import type { NodeStages } from './stages/node-stages.ts'

export interface HeartbeatParts {
  readonly nodes: ReadonlyMap<string, NodeDescription>
  readonly informer: Informer<Node>
  /** Returns a client that authenticates as this node's agent. */
  readonly clientOf: (node: string) => Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly outages: Pick<NodeOutages, 'isUnreachable' | 'hasDiskPressure'>
  /** Stages for nodes. While a stage selects a node, the stage writes the node's status instead of the heartbeats. */
  readonly stages: Pick<NodeStages, 'step'>
  /** Additional sources of node names to reconcile. */
  readonly sources: readonly Source[]
}

const leaseNamespace = 'kube-node-lease'
const leaseSeconds = 40
/**
 * Interval between two renewals: usually ten seconds. With many nodes, the interval grows up to 25 seconds, to limit
 * all nodes together to 200 renewals per second. A node is considered lost after 40 seconds.
 */
const renewal = { usualMs: 10_000, maxMs: 25_000, perNodeMs: 5 }
const reportMs = 300_000
/**
 * Maximum number of concurrent writes. The number is high enough that no node is considered lost even if a write takes
 * seconds. Concurrent writes share commits.
 */
const concurrency = 128

/** What this process remembers about a node between heartbeats. */
interface State {
  isRegistered: boolean
  /** Whether this process has just created the Node, in which case no Lease exists yet. */
  isNew: boolean
  /** Whether the node has published its simulated devices. */
  hasPublished: boolean
  /** Time of the next Lease renewal, on the monotonic clock. */
  renewAt: number
  lease: Lease | undefined
}

export function heartbeatLoop(parts: HeartbeatParts): Loop {
  const began = parts.clock.monotonic()
  const { size } = parts.nodes
  const renewMs = Math.min(renewal.maxMs, Math.max(renewal.usualMs, renewal.perNodeMs * size))
  const states = new Map(
    [...parts.nodes.keys()].map((name, i) => [name, newState(began + renewMs * (0.5 + i / size / 2))]),
  )
  return {
    name: 'node-heartbeats',
    concurrency,
    sources: [
      atStart(...parts.nodes.keys()),
      fromInformer(parts.informer, ({ key }) => (parts.nodes.has(key) ? [key] : [])),
      ...parts.sources,
    ],
    reconcile: (name, signal) => beat(parts, { name, renewMs, state: states.get(name)! }, signal),
  }
}

/**
 * Returns the initial state of a node. Its second Lease renewal is due after a fraction of the interval that depends on
 * the node, so that the renewals of many nodes are spread out.
 */
function newState(firstRenewAt: number): BeatingState {
  return { isRegistered: false, isNew: false, hasPublished: false, renewAt: 0, lease: undefined, firstRenewAt }
}

type BeatingState = State & { readonly firstRenewAt: number }

interface Beating {
  readonly name: string
  readonly renewMs: number
  readonly state: BeatingState
}

async function beat(
  parts: HeartbeatParts,
  { name, renewMs, state }: Beating,
  signal: AbortSignal,
): Promise<StepOutcome> {
  // An unreachable node sends no heartbeats until its SimulationRule changes.
  if (parts.outages.isUnreachable(name)) return 'done'
  const client = parts.clientOf(name)
  const description = parts.nodes.get(name)!
  let node = parts.informer.get({ name })
  if (node === undefined && !state.isRegistered) {
    const registration = await register(parts, { client, description }, signal)
    node = registration.node
    state.isNew = registration.isNew
  }
  if (node === undefined) return 'done'
  state.isRegistered = true
  const stageMs = await parts.stages.step(node, signal)
  if (stageMs === undefined) await report(parts, { client, description, node }, signal)
  if (description.devices !== undefined && !state.hasPublished) {
    await publishDevices({ client, vendor: parts.vendor, node }, description.devices, signal)
    state.hasPublished = true
  }
  const now = parts.clock.monotonic()
  if (now >= state.renewAt) {
    const { isNew } = state
    // Reset this flag first. If creating the Lease fails because it already exists, the next attempt then reads it.
    state.isNew = false
    state.lease = await renew({ client, node, isNew, lease: state.lease, now: parts.clock.now() }, signal)
    state.renewAt = state.renewAt === 0 ? state.firstRenewAt : Math.max(state.renewAt, now - renewMs) + renewMs
  }
  const renewMsLeft = state.renewAt - parts.clock.monotonic()
  return { afterMs: Math.max(1, Math.min(renewMsLeft, stageMs ?? renewMsLeft)) }
}

interface Registration {
  readonly client: Client
  readonly description: NodeDescription
}

/** Creates the Node. If it already exists, returns the existing Node. */
async function register(
  { vendor, clock }: HeartbeatParts,
  { client, description }: Registration,
  signal: AbortSignal,
): Promise<{ readonly node: Node; readonly isNew: boolean }> {
  try {
    const node = await client.create(kinds.Node, nodeObject(description, vendor, clock.now()), { signal })
    return { node, isNew: true }
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
    return { node: await client.get(kinds.Node, { name: description.name }, { signal }), isNew: false }
  }
}

async function report(
  { clock, outages }: HeartbeatParts,
  { client, description, node }: Registration & { readonly node: Node },
  signal: AbortSignal,
): Promise<void> {
  const hasDiskPressure = outages.hasDiskPressure(description.name)
  const next = nodeStatus(description, { previous: node.status, now: clock.now(), hasDiskPressure })
  if (!isDue(node, next, clock.now())) return
  try {
    await client.update(kinds.Node, { ...node, status: next }, { subresource: 'status', signal })
  } catch (error) {
    // A conflict or a 404 means that the cache was stale. The node is reconciled again when the cache is updated.
    if (!isConflict(error) && !isNotFound(error)) throw error
  }
}

/** Whether the node must report its status, because the status has changed or the last report is too old. */
function isDue({ status = {} }: Node, next: Node['status'], now: number): boolean {
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  const age = now - Date.parse(ready?.lastHeartbeatTime ?? '')
  if (ready?.status !== 'True' || !(age < reportMs)) return true
  const reported = (from: Node['status']) =>
    JSON.stringify([
      from?.addresses,
      from?.daemonEndpoints,
      from?.conditions?.find(({ type }) => type === 'DiskPressure')?.status,
      sortedAmounts(from?.capacity),
      sortedAmounts(from?.allocatable),
    ])
  return reported(status) !== reported(next)
}

function sortedAmounts(amounts: { readonly [resource: string]: unknown } = {}): unknown[] {
  return Object.entries(amounts).sort(([a], [b]) => compareUtf8(a, b))
}

interface Renewal {
  readonly client: Client
  readonly node: Node
  /** The Lease that this process last wrote. */
  readonly lease: Lease | undefined
  /**
   * Whether this process has just created the Node. If true, the Lease is created without an attempt to read it first.
   */
  readonly isNew: boolean
  readonly now: number
}

async function renew({ client, node, lease, isNew, now }: Renewal, signal: AbortSignal): Promise<Lease> {
  const name = { namespace: leaseNamespace, name: node.metadata.name! }
  const currentLease = lease ?? (isNew ? undefined : await orMissing(client.get(kinds.Lease, name, { signal })))
  const spec = { holderIdentity: name.name, leaseDurationSeconds: leaseSeconds, renewTime: microTime(now) }
  try {
    if (currentLease !== undefined)
      return await client.update(kinds.Lease, { ...currentLease, spec: { ...currentLease.spec, ...spec } }, { signal })
  } catch (error) {
    // A conflict means that another client has changed the Lease. Read the Lease and retry. If the Lease was deleted,
    // create it again.
    if (isConflict(error)) return await renew({ client, node, isNew: false, lease: undefined, now }, signal)
    if (!isNotFound(error)) throw error
  }
  const owner = { apiVersion: 'v1', kind: 'Node', name: name.name, uid: node.metadata.uid! }
  return await client.create(kinds.Lease, { metadata: { ...name, ownerReferences: [owner] }, spec }, { signal })
}

async function orMissing<T>(lookup: Promise<T>): Promise<T | undefined> {
  try {
    return await lookup
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`
}
