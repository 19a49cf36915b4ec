/**
 * Deletes objects whose owners are all gone, and ends deletions that wait for dependents, over all kinds of the server.
 *
 * - Background: an object is deleted when each of its owners is absent. Where one is left, references to absent owners
 *   are taken out.
 * - Foreground: an owner with the finalizer `foregroundDeletion` goes when no dependent that blocks it is left; its
 *   dependents are deleted as if it were gone already. Where objects wait for each other in a circle, one stops.
 * - Orphan: an owner with the finalizer `orphan` goes when no dependent names it any more.
 *
 * The graph only says what to look at; each decision is made by the object as the server has it now, and each write
 * carries its UID and version, so that one that comes late is refused. What cannot be judged (an owner of a kind that is
 * not served or cannot be listed) is left alone. A step that is repeated, also by another process, does no harm.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/event-recorder.ts'
import { getMetadata } from '../../client/metadata-form.ts'
import { isConflict, isNotFound } from '../../client/status-error.ts'
import type { ObjectMeta, OwnerReference } from '../../model/object.ts'
import type { Loop } from '../../reconcile/loop.ts'
import type { StepOutcome } from '../../reconcile/work-queue.ts'
import { errorFields, type Log } from '../../telemetry/log.ts'
import { unlessGone } from '../unless-gone.ts'
import { AbsentOwners } from './absent-owners.ts'
import { FollowedTypes } from './followed-types.ts'
import {
  circlesThrough,
  describes,
  foregroundFinalizer,
  OwnerGraph,
  type OwnerNode,
  orphanFinalizer,
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
  readonly absent: AbsentOwners
  /** Since when the collector knows that an object orphans its dependents. */
  readonly orphaningSince: WeakMap<OwnerNode, number>
}

export function garbageCollectorLoop(parts: GarbageCollectorParts): Loop {
  const { client, clock, log } = parts
  const listeners = new Set<(uid: string) => void>()
  const absent = new AbsentOwners(client, clock)
  const graph = new OwnerGraph({
    onAttention: (uid) => {
      for (const add of listeners) add(uid)
    },
    onGone: ({ type, namespace, name, uid }) => void absent.noteAbsent({ type: type!, namespace, name, uid }),
  })
  const types = new FollowedTypes({
    client,
    graph,
    onError: (what, error) =>
      log.error('the garbage collector cannot follow a type; it is tried again', { type: what, ...errorFields(error) }),
    onIncomplete: (missing) =>
      log.warn('the garbage collector deletes nothing until it can list all types', { missing }),
  })
  const collector = { ...parts, graph, types, absent, orphaningSince: new WeakMap<OwnerNode, number>() }
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
    // It is gone, and its watch will say so; or its type is.
    collector.types.refreshSoon()
    return 'done'
  }
}

/** The object as it is now; undefined where another has its name. Throws 404 where it is gone. */
async function readLive({ client }: Collector, node: OwnerNode, signal: AbortSignal): Promise<ObjectMeta | undefined> {
  const live = await getMetadata(client, node.type!, { ...placeOf(node), signal })
  return live.uid === node.uid ? live : undefined
}

function placeOf({ namespace, name }: OwnerNode) {
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
  if (judged === undefined || judged.absent.length + judged.waiting.length === 0) return 'done'
  if (judged.solid.length > 0)
    await patchMetadata(collector, node, { live, change: { ownerReferences: judged.solid }, signal })
  else await remove(collector, node, { live, isWaitedFor: judged.waiting.length > 0, signal })
  return 'done'
}

/** What becomes of each owner; undefined where one of them cannot be judged. */
async function judgeOwners(
  collector: Collector,
  node: OwnerNode,
  { references, signal }: { references: readonly OwnerReference[]; signal: AbortSignal },
): Promise<Judged | undefined> {
  const judged: Judged = { solid: [], absent: [], waiting: [] }
  for (const reference of references) {
    const verdict = await judgeOwner(collector, node, { reference, signal })
    if (verdict === 'unknown') return undefined
    judged[verdict].push(reference)
  }
  return judged
}

async function judgeOwner(
  { graph, types, absent, recorder }: Collector,
  node: OwnerNode,
  { reference, signal }: { reference: OwnerReference; signal: AbortSignal },
): Promise<keyof Judged | 'unknown'> {
  const { apiVersion, kind, name, uid } = reference
  const owner = graph.get(uid)
  if (owner !== undefined && describes(node, { node: owner, apiVersion, kind, name, blocks: false }))
    return owner.waits === 'dependents deleted' ? 'waiting' : 'solid'
  const type = types.typeOf(apiVersion, kind)
  if (owner?.type?.namespaced && owner.namespace !== node.namespace) reportNamespace(recorder, node, reference)
  // Nobody can say in which namespace an owner of an object without one would be.
  if (type === undefined || (type.namespaced && node.namespace === undefined)) return 'unknown'
  const namespace = type.namespaced ? node.namespace : undefined
  return (await absent.isAbsent({ type, namespace, name, uid }, signal)) ? 'absent' : 'solid'
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
  if (live === undefined) return 'done'
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

/** Watches are independent of each other: a dependent from before the deletion is known after this time. */
const orphanSettleMs = 250
const orphansAtOnce = 16

/** Takes the references to an owner out of its dependents. When the last one is known to be gone, the owner may go. */
async function orphanDependents(collector: Collector, node: OwnerNode, signal: AbortSignal): Promise<StepOutcome> {
  const now = collector.clock.monotonic()
  const since = collector.orphaningSince.get(node) ?? now
  collector.orphaningSince.set(node, since)
  if (node.dependents !== undefined) {
    await disownAll(collector, node, signal)
    return 'done'
  }
  if (now - since < orphanSettleMs) return { afterMs: orphanSettleMs - (now - since) }
  const live = await readLive(collector, node, signal)
  const finalizers = (live?.finalizers ?? []).filter((name) => name !== orphanFinalizer)
  if (live !== undefined) await patchMetadata(collector, node, { live, change: { finalizers }, signal })
  return 'done'
}

/** One that refuses does not hold up the others. */
async function disownAll(collector: Collector, node: OwnerNode, signal: AbortSignal): Promise<void> {
  const dependents = [...(node.dependents ?? [])]
  const failures: unknown[] = []
  for (let i = 0; i < dependents.length; i += orphansAtOnce) {
    const some = dependents.slice(i, i + orphansAtOnce)
    const outcomes = await Promise.allSettled(some.map((each) => disown(collector, each, { node, signal })))
    for (const outcome of outcomes) if (outcome.status === 'rejected') failures.push(outcome.reason)
    signal.throwIfAborted()
  }
  if (failures.length > 0) throw failures.find((error) => !isConflict(error)) ?? failures[0]
}

async function disown(
  collector: Collector,
  dependent: OwnerNode,
  { node, signal }: { node: OwnerNode; signal: AbortSignal },
): Promise<void> {
  if (dependent.type === undefined) return
  const live = await unlessGone(readLive(collector, dependent, signal))
  const ownerReferences = (live?.ownerReferences ?? []).filter(({ uid }) => uid !== node.uid)
  if (live === undefined || ownerReferences.length === live.ownerReferences?.length) return
  await unlessGone(patchMetadata(collector, dependent, { live, change: { ownerReferences }, signal }))
}

interface MetadataPatch {
  /** What the change was decided by; the patch is refused where it is not so any more. */
  readonly live: ObjectMeta
  readonly change: Pick<ObjectMeta, 'ownerReferences'> | Pick<ObjectMeta, 'finalizers'>
  readonly signal: AbortSignal
}

async function patchMetadata(
  { client }: Collector,
  node: OwnerNode,
  { live: { uid, resourceVersion }, change, signal }: MetadataPatch,
): Promise<void> {
  const patch = { merge: { metadata: { uid, resourceVersion, ...change } } }
  await client.patch(node.type!, placeOf(node), { patch, signal })
}
