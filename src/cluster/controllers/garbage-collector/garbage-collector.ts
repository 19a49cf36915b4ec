/**
 * Deletes objects whose owners no longer exist, and completes deletions that wait for dependents, for all types that
 * the server serves.
 *
 * - Background: an object is deleted when all its owners are absent. If an owner remains, only the references to absent
 *   owners are removed.
 * - Foreground: an owner with the finalizer `foregroundDeletion` is deleted when no blocking dependent remains. Its
 *   dependents are deleted as if the owner were already absent. If objects block each other in a cycle, one of them
 *   stops blocking.
 * - Orphan: an owner with the finalizer `orphan` is deleted when no dependent references it.
 *
 * The graph only selects the objects to examine. Each decision is based on the current object and then on its current
 * owners, both read from the server (`live-owners.ts`). Each write carries the UID and resourceVersion of the object,
 * so that a late write is rejected, even after a restore of the store. If the collector cannot decide, for example
 * because the kind of an owner is not served, it keeps the object. Repeating a step, even in another process, is
 * harmless.
 */

import type { ObjectMeta, OwnerReference } from '../../../api/model/object.ts'
import { errorFields, type Log } from '../../../base/telemetry/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { Client } from '../../../client/requests/client.ts'
import { getMetadata } from '../../../client/requests/metadata-form.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { type Dependent, DependentSearch } from './dependent-search.ts'
import { FollowedTypes } from './followed-types.ts'
import { GoneOwners } from './gone-owners.ts'
import { LiveOwners, type OwnerState, saysAbsent } from './live-owners.ts'
import {
  circlesThrough,
  describes,
  foregroundFinalizer,
  OwnerGraph,
  type OwnerNode,
  orphanFinalizer,
  waitsOf,
} from './owner-graph.ts'

export interface GarbageCollectorParts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly recorder: EventRecorder
}

interface Collector extends GarbageCollectorParts {
  readonly graph: OwnerGraph
  readonly types: FollowedTypes
  readonly owners: LiveOwners
  readonly goneOwners: GoneOwners
  readonly search: DependentSearch
}

export function garbageCollectorLoop(parts: GarbageCollectorParts): Loop {
  const { client, clock, log } = parts
  const listeners = new Set<(uid: string) => void>()
  const goneOwners = new GoneOwners(client, clock)
  const graph = new OwnerGraph({
    onAttention: (uid) => {
      for (const add of listeners) add(uid)
    },
    onGone: (node) => goneOwners.note(node),
  })
  const types = new FollowedTypes({
    client,
    graph,
    onError: (what, error) =>
      log.error('garbage collector cannot list or watch a resource type; will retry', {
        type: what,
        ...errorFields(error),
      }),
    onRelist: () => goneOwners.forgetAll(),
    onIncomplete: (missing) => log.warn('garbage collector paused until it has listed all resource types', { missing }),
  })
  const owners = new LiveOwners(client)
  const search = new DependentSearch(client)
  const collector = { ...parts, graph, types, owners, goneOwners, search }
  return {
    name: 'garbagecollector',
    sources: [
      {
        feed: types,
        connect: (add) => {
          listeners.add(add)
          return () => listeners.delete(add)
        },
      },
    ],
    reconcile: (uid, signal) => reconcile(collector, uid, signal),
  }
}

async function reconcile(collector: Collector, uid: string, signal: AbortSignal): Promise<StepOutcome> {
  const node = collector.graph.get(uid)
  // Do nothing while the graph is incomplete. All objects are examined once it is complete.
  if (node?.type === undefined || !collector.types.isComplete) return 'done'
  try {
    if (node.waits === 'dependents orphaned') return await orphanDependents(collector, node, signal)
    if (node.waits === 'dependents deleted') return await endForeground(collector, node, signal)
    return node.waits === 'no' ? await judge(collector, node, signal) : 'done'
  } catch (error) {
    if (isConflict(error)) return 'later'
    if (!isNotFound(error)) throw error
    // A 404 means that the object was deleted, which the watch will report, or that its type is currently not served.
    collector.types.refreshSoon()
    return 'later'
  }
}

/** Identifies an object that the collector may update or delete. */
type Target = Pick<OwnerNode, 'type' | 'namespace' | 'name' | 'uid'> | Dependent

/**
 * Reads the object. Returns undefined if a different object now has the same name. Throws a 404 if no object has the
 * name.
 */
async function readLive({ client }: Collector, target: Target, signal: AbortSignal): Promise<ObjectMeta | undefined> {
  const live = await getMetadata(client, target.type!, { ...objectNameOf(target), signal })
  return live.uid === target.uid ? live : undefined
}

function objectNameOf({ namespace, name }: Target) {
  return namespace === undefined ? { name } : { namespace, name }
}

interface Judged {
  readonly solid: OwnerReference[]
  readonly absent: OwnerReference[]
  /** Owners whose foreground deletion waits for their dependents. */
  readonly waiting: OwnerReference[]
}

/** Deletes an object that has no remaining owners. Otherwise removes its references to absent owners. */
async function judge(collector: Collector, node: OwnerNode, signal: AbortSignal): Promise<StepOutcome> {
  const live = await readLive(collector, node, signal)
  if (live === undefined || live.deletionTimestamp !== undefined) return 'done'
  const ownersByState = await classifyOwners(collector, node, { references: live.ownerReferences ?? [], signal })
  if (ownersByState === 'unknown' || ownersByState === 'later') return ownersByState === 'later' ? 'later' : 'done'
  if (ownersByState.absent.length + ownersByState.waiting.length === 0) return 'done'
  if (ownersByState.solid.length > 0)
    await patchMetadata(collector, node, { live, change: { ownerReferences: ownersByState.solid }, signal })
  else await remove(collector, node, { live, isWaitedFor: ownersByState.waiting.length > 0, signal })
  return 'done'
}

/**
 * Groups an object's owners by state. Returns `unknown` if an owner cannot be looked up, and `later` if the lookup
 * should be retried later.
 */
async function classifyOwners(
  collector: Collector,
  node: OwnerNode,
  { references, signal }: { references: readonly OwnerReference[]; signal: AbortSignal },
): Promise<Judged | 'unknown' | 'later'> {
  const ownersByState: Judged = { solid: [], absent: [], waiting: [] }
  for (const reference of references) {
    const verdict = await classifyOwner(collector, node, { reference, signal })
    if (verdict === 'unknown' || verdict === 'later') return verdict
    ownersByState[verdict].push(reference)
  }
  return ownersByState
}

/**
 * Determines the state of one owner. Trusts the graph only if the object is then kept. Before a deletion, reads the
 * owner from the server.
 */
async function classifyOwner(
  collector: Collector,
  node: OwnerNode,
  { reference, signal }: { reference: OwnerReference; signal: AbortSignal },
): Promise<keyof Judged | 'unknown' | 'later'> {
  const { graph, types, owners, recorder } = collector
  const { apiVersion, kind, name, uid } = reference
  const owner = graph.get(uid)
  const isDescribed = owner !== undefined && describes(node, { node: owner, apiVersion, kind, name, blocks: false })
  if (isDescribed && owner.waits !== 'dependents deleted') return 'solid'
  const type = types.typeOf(apiVersion, kind)
  if (owner?.type?.namespaced && owner.namespace !== node.namespace) reportNamespace(recorder, node, reference)
  if (type === undefined) return await classifyUnservedOwner(collector, node, { reference, signal })
  // A cluster-scoped dependent has no namespace in which to look up a namespaced owner.
  if (type.namespaced && node.namespace === undefined) return 'unknown'
  const namespace = type.namespaced ? node.namespace : undefined
  const state = await owners.stateOf({ type, namespace, name, uid }, signal)
  return state === 'unserved' ? await classifyUnservedOwner(collector, node, { reference, signal }) : verdictOf(state)
}

function verdictOf(state: Exclude<OwnerState, 'unserved'>): keyof Judged {
  if (state === 'absent') return 'absent'
  return state === 'dependents deleted' ? 'waiting' : 'solid'
}

/**
 * An owner of a kind that is not served counts as absent only if the owner was deleted together with the definition of
 * the kind.
 */
async function classifyUnservedOwner(
  { types, goneOwners }: Collector,
  { namespace }: OwnerNode,
  { reference, signal }: { reference: OwnerReference; signal: AbortSignal },
): Promise<'absent' | 'unknown' | 'later'> {
  if (!goneOwners.wasSeen(reference, namespace)) return 'unknown'
  if (await goneOwners.isUndefinedKind(reference, signal)) return 'absent'
  types.refreshSoon()
  return 'later'
}

/** Reports a reference to an owner in another namespace. Owners are looked up only in the dependent's namespace. */
function reportNamespace(recorder: EventRecorder, node: OwnerNode, { apiVersion, kind, name, uid }: OwnerReference) {
  const { kind: ownKind, group, version } = node.type!
  const object = {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind: ownKind,
    metadata: { ...objectNameOf(node), uid: node.uid },
  }
  const owner = `ownerRef [${apiVersion}/${kind}, namespace: ${node.namespace ?? ''}, name: ${name}, uid: ${uid}]`
  const message = `${owner} does not exist in namespace "${node.namespace ?? ''}"`
  recorder.record(object, { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message })
}

interface Removal {
  readonly live: ObjectMeta
  readonly isWaitedFor: boolean
  readonly signal: AbortSignal
}

/**
 * Deletes an object. The propagation policy follows the object's finalizers, or is Foreground if an owner waits for all
 * its descendants.
 */
async function remove(collector: Collector, node: OwnerNode, { live, isWaitedFor, signal }: Removal): Promise<void> {
  const { finalizers = [], uid, resourceVersion } = live
  const propagationPolicy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer) || (isWaitedFor && node.dependents !== undefined)
      ? 'Foreground'
      : 'Background'
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! }
  await collector.client.delete(node.type!, objectNameOf(node), { propagationPolicy, preconditions, signal })
}

/**
 * Deletes an owner if nothing blocks its foreground deletion anymore. If objects wait for each other in a cycle, stops
 * one of them from blocking.
 */
async function endForeground(collector: Collector, node: OwnerNode, signal: AbortSignal): Promise<StepOutcome> {
  const inCircles = new Set(circlesThrough(node).map((owner) => owner.node.uid))
  if (node.blocking > 0 && inCircles.size === 0) return 'done'
  const live = await readLive(collector, node, signal)
  if (live === undefined || waitsOf(live) !== 'dependents deleted') return 'done'
  if (node.blocking === 0) {
    const finalizers = (live.finalizers ?? []).filter((name) => name !== foregroundFinalizer)
    await patchMetadata(collector, node, { live, change: { finalizers }, signal })
    return 'done'
  }
  const ownerReferences = (live.ownerReferences ?? []).map((reference) =>
    inCircles.has(reference.uid) ? { ...reference, blockOwnerDeletion: false } : reference,
  )
  await patchMetadata(collector, node, { live, change: { ownerReferences }, signal })
  return 'done'
}

const orphansAtOnce = 16

/**
 * Removes the references to an owner from its dependents: first from the dependents in the graph, then from those found
 * by a search. Then removes the owner's finalizer. The owner is read before the search, so that a restore of the store
 * in between invalidates its resourceVersion.
 */
async function orphanDependents(collector: Collector, node: OwnerNode, signal: AbortSignal): Promise<StepOutcome> {
  if (node.dependents !== undefined) {
    await disownAll(collector, node, { dependents: [...node.dependents], signal })
    return 'done'
  }
  const live = await readLive(collector, node, signal)
  if (live === undefined || waitsOf(live) !== 'dependents orphaned') return 'done'
  await disownAll(collector, node, { dependents: await collector.search.find(node, signal), signal })
  const finalizers = (live.finalizers ?? []).filter((name) => name !== orphanFinalizer)
  await patchMetadata(collector, node, { live, change: { finalizers }, signal })
  return 'done'
}

/**
 * Removes the reference to an owner from all dependents. A failure for one dependent does not affect the other
 * dependents.
 */
async function disownAll(
  collector: Collector,
  owner: OwnerNode,
  { dependents, signal }: { dependents: readonly Target[]; signal: AbortSignal },
): Promise<void> {
  const failures: unknown[] = []
  for (let i = 0; i < dependents.length; i += orphansAtOnce) {
    const some = dependents.slice(i, i + orphansAtOnce)
    const outcomes = await Promise.allSettled(some.map((each) => disown(collector, each, { owner, signal })))
    for (const outcome of outcomes) if (outcome.status === 'rejected') failures.push(outcome.reason)
    signal.throwIfAborted()
  }
  if (failures.length > 0) throw failures.find((error) => !isConflict(error)) ?? failures[0]
}

/**
 * Removes the owner reference from one dependent, unless the owner is no longer terminating, for example after a
 * restore.
 */
async function disown(
  collector: Collector,
  dependent: Target,
  { owner, signal }: { owner: OwnerNode; signal: AbortSignal },
): Promise<void> {
  if (dependent.type === undefined || owner.type === undefined) return
  const { type, namespace, name, uid } = owner
  const live = await unlessAbsent(readLive(collector, dependent, signal), dependent)
  const ownerReferences = (live?.ownerReferences ?? []).filter((reference) => reference.uid !== uid)
  if (live === undefined || ownerReferences.length === live.ownerReferences?.length) return
  const state = await collector.owners.stateOf({ type, namespace, name, uid }, signal)
  if (state !== 'dependents orphaned' && state !== 'absent') return
  await unlessAbsent(patchMetadata(collector, dependent, { live, change: { ownerReferences }, signal }), dependent)
}

/**
 * Returns the response, or undefined if the object does not exist. Throws if its type is not served, because the object
 * may then still exist.
 */
async function unlessAbsent<T>(answer: Promise<T>, { name }: Target): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (!saysAbsent(error, name)) throw error
    return undefined
  }
}

interface MetadataPatch {
  /** Metadata on which the change is based. The patch fails if the object has changed since then. */
  readonly live: ObjectMeta
  readonly change: Pick<ObjectMeta, 'ownerReferences'> | Pick<ObjectMeta, 'finalizers'>
  readonly signal: AbortSignal
}

async function patchMetadata(
  { client }: Collector,
  target: Target,
  { live: { uid, resourceVersion }, change, signal }: MetadataPatch,
): Promise<void> {
  const patch = { merge: { metadata: { uid, resourceVersion, ...change } } }
  await client.patch(target.type!, objectNameOf(target), { patch, signal })
}
