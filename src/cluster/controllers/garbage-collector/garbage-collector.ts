/**
 * Deletes objects whose owners are all gone, and ends deletions that wait for dependents, over all kinds of the server.
 *
 * - Background: an object is deleted when each of its owners is absent. Where one is left, references to absent owners
 *   are taken out.
 * - Foreground: an owner with the finalizer `foregroundDeletion` goes when no dependent that blocks it is left; its
 *   dependents are deleted as if it were gone already. Where objects wait for each other in a circle, one stops.
 * - Orphan: an owner with the finalizer `orphan` goes when no dependent names it any more.
 *
 * The graph only says what to look at. Each decision is made by the object as the server has it now, and then by its
 * owners as the server has them now (`live-owners.ts`). Each write carries the UID and version of the object, so that one
 * that comes late is refused, also after a restore of the store. What cannot be judged (an owner of a kind that is not
 * served or cannot be listed) is left alone. A step that is repeated, also by another process, does no harm.
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
  readonly gone: GoneOwners
  readonly search: DependentSearch
}

export function garbageCollectorLoop(parts: GarbageCollectorParts): Loop {
  const { client, clock, log } = parts
  const listeners = new Set<(uid: string) => void>()
  const gone = new GoneOwners(client, clock)
  const graph = new OwnerGraph({
    onAttention: (uid) => {
      for (const add of listeners) add(uid)
    },
    onGone: (node) => gone.note(node),
  })
  const types = new FollowedTypes({
    client,
    graph,
    onError: (what, error) =>
      log.error('the garbage collector cannot follow a type; it is tried again', { type: what, ...errorFields(error) }),
    onRelist: () => gone.forgetAll(),
    onIncomplete: (missing) =>
      log.warn('the garbage collector deletes nothing until it can list all types', { missing }),
  })
  const owners = new LiveOwners(client)
  const search = new DependentSearch(client)
  const collector = { ...parts, graph, types, owners, gone, search }
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
  // When the graph is complete again, everything in it is looked at.
  if (node?.type === undefined || !collector.types.isComplete) return 'done'
  try {
    if (node.waits === 'dependents orphaned') return await orphanDependents(collector, node, signal)
    if (node.waits === 'dependents deleted') return await endForeground(collector, node, signal)
    return node.waits === 'no' ? await judge(collector, node, signal) : 'done'
  } catch (error) {
    if (isConflict(error)) return 'later'
    if (!isNotFound(error)) throw error
    // It is gone, and its watch will say so; or its type is not served, perhaps only for a moment.
    collector.types.refreshSoon()
    return 'later'
  }
}

/** An object that the collector reads and writes: of the graph, or found by a search. */
type Target = Pick<OwnerNode, 'type' | 'namespace' | 'name' | 'uid'> | Dependent

/** The object as it is now; undefined where another has its name. Throws 404 where it is gone. */
async function readLive({ client }: Collector, target: Target, signal: AbortSignal): Promise<ObjectMeta | undefined> {
  const live = await getMetadata(client, target.type!, { ...placeOf(target), signal })
  return live.uid === target.uid ? live : undefined
}

function placeOf({ namespace, name }: Target) {
  return namespace === undefined ? { name } : { namespace, name }
}

interface Judged {
  readonly solid: OwnerReference[]
  readonly absent: OwnerReference[]
  /** Owners whose foreground deletion waits for their dependents. */
  readonly waiting: OwnerReference[]
}

/** Deletes an object that no owner keeps, or takes references out that keep nothing. */
async function judge(collector: Collector, node: OwnerNode, signal: AbortSignal): Promise<StepOutcome> {
  const live = await readLive(collector, node, signal)
  if (live === undefined || live.deletionTimestamp !== undefined) return 'done'
  const judged = await judgeOwners(collector, node, { references: live.ownerReferences ?? [], signal })
  if (judged === 'unknown' || judged === 'later') return judged === 'later' ? 'later' : 'done'
  if (judged.absent.length + judged.waiting.length === 0) return 'done'
  if (judged.solid.length > 0)
    await patchMetadata(collector, node, { live, change: { ownerReferences: judged.solid }, signal })
  else await remove(collector, node, { live, isWaitedFor: judged.waiting.length > 0, signal })
  return 'done'
}

/** What becomes of each owner; `unknown` where one of them cannot be judged, `later` where it cannot yet. */
async function judgeOwners(
  collector: Collector,
  node: OwnerNode,
  { references, signal }: { references: readonly OwnerReference[]; signal: AbortSignal },
): Promise<Judged | 'unknown' | 'later'> {
  const judged: Judged = { solid: [], absent: [], waiting: [] }
  for (const reference of references) {
    const verdict = await judgeOwner(collector, node, { reference, signal })
    if (verdict === 'unknown' || verdict === 'later') return verdict
    judged[verdict].push(reference)
  }
  return judged
}

/** By the graph alone where that keeps the object; whatever may delete it is read from the server. */
async function judgeOwner(
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
  if (type === undefined) return await judgeUnserved(collector, node, { reference, signal })
  // Nobody can say in which namespace an owner of an object without one would be.
  if (type.namespaced && node.namespace === undefined) return 'unknown'
  const namespace = type.namespaced ? node.namespace : undefined
  const state = await owners.stateOf({ type, namespace, name, uid }, signal)
  return state === 'unserved' ? await judgeUnserved(collector, node, { reference, signal }) : verdictOf(state)
}

function verdictOf(state: Exclude<OwnerState, 'unserved'>): keyof Judged {
  if (state === 'absent') return 'absent'
  return state === 'dependents deleted' ? 'waiting' : 'solid'
}

/** An owner whose kind is not served is absent only if it went together with its definition. */
async function judgeUnserved(
  { types, gone }: Collector,
  { namespace }: OwnerNode,
  { reference, signal }: { reference: OwnerReference; signal: AbortSignal },
): Promise<'absent' | 'unknown' | 'later'> {
  if (!gone.wasSeen(reference, namespace)) return 'unknown'
  if (await gone.isUndefinedKind(reference, signal)) return 'absent'
  types.refreshSoon()
  return 'later'
}

/** Owners are looked for in the namespace of the dependent only. */
function reportNamespace(recorder: EventRecorder, node: OwnerNode, { apiVersion, kind, name, uid }: OwnerReference) {
  const { kind: ownKind, group, version } = node.type!
  const object = {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind: ownKind,
    metadata: { ...placeOf(node), uid: node.uid },
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

/** As the object itself asks by its finalizers; in the foreground where an owner waits for all that is below it. */
async function remove(collector: Collector, node: OwnerNode, { live, isWaitedFor, signal }: Removal): Promise<void> {
  const { finalizers = [], uid, resourceVersion } = live
  const propagationPolicy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer) || (isWaitedFor && node.dependents !== undefined)
      ? 'Foreground'
      : 'Background'
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! }
  await collector.client.delete(node.type!, placeOf(node), { propagationPolicy, preconditions, signal })
}

/** Lets an owner go that no dependent blocks, or that waits for an object that waits for it. */
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
 * Takes the references to an owner out of its dependents: those in the graph, and then those that a search finds besides.
 * After that the owner may go. It is read before the search: a restore meanwhile makes its version invalid.
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

/** One that refuses does not hold up the others. */
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

/** Does nothing where the owner is not being deleted any more, as after a restore. */
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

/** Undefined where the object does not exist. Throws where its type is not served: then nobody knows. */
async function unlessAbsent<T>(answer: Promise<T>, { name }: Target): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (!saysAbsent(error, name)) throw error
    return undefined
  }
}

interface MetadataPatch {
  /** What the change was decided by; the patch is refused where it is not so any more. */
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
  await client.patch(target.type!, placeOf(target), { patch, signal })
}
