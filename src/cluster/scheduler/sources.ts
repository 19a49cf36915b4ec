/**
 * The objects that the scheduler watches. Each change can affect the model of the cluster, the Pods that need a node,
 * and the Pods that are waiting.
 */

import { sameJson } from '../../api/json/json.ts'
import type { Namespace } from '../../api/kinds/core/namespace.ts'
import type { Node } from '../../api/kinds/core/node.ts'
import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { PodDisruptionBudget } from '../../api/kinds/policy/pod-disruption-budget.ts'
import type { CSINode } from '../../api/kinds/storage/csi-node.ts'
import type { StorageClass } from '../../api/kinds/storage/storage-class.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import type { ChangeHandler, Informer, ObjectChange } from '../../client/informers/informer.ts'
import type { Feed } from '../../client/reconcile/sources.ts'
import type { Cluster } from './cluster.ts'
import type { DeviceWaiters } from './devices/binding-conditions.ts'
import type { DeviceSources } from './devices/inventory.ts'
import { happened } from './plugin.ts'
import { hasEnded, PodInfo } from './pod-info.ts'
import type { Profile } from './profile.ts'
import type { SchedulingQueue } from './queue.ts'
import type { ClaimWaiters } from './volume-writes.ts'
import type { WorkloadParts } from './workload-selector.ts'

/** The informers that the scheduler needs. */
export interface Followed extends WorkloadParts {
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  readonly namespaces: Informer<Namespace>
  readonly claims: Informer<PersistentVolumeClaim>
  readonly volumes: Informer<PersistentVolume>
  readonly classes: Informer<StorageClass>
  readonly csiNodes: Informer<CSINode>
  readonly budgets: Informer<PodDisruptionBudget>
  /** Undefined if the server does not support dynamic resource allocation. */
  readonly devices?: DeviceSources
}

/** The scheduler state that watch events update. */
export interface Follower {
  readonly cluster: Cluster
  readonly queue: SchedulingQueue
  readonly claimWaiters: ClaimWaiters
  readonly deviceWaiters: DeviceWaiters | undefined
  readonly profiles: ReadonlyMap<string, Profile>
}

/** Applies one watch event to the scheduler state. */
export type Change = () => void

interface FollowedSource {
  readonly feed: Feed
  /** Registers a receiver for all later changes. Returns a function that unregisters it. */
  readonly listen: (take: (change: Change) => void) => () => void
}

/**
 * Returns a source for each informer. A source only forwards changes. The scheduler applies them later in small steps,
 * because a list may contain many objects.
 */
export function sourcesOf(followed: Followed, follower: Follower): FollowedSource[] {
  const { queue } = follower
  const wakes = (bits: number) => () => queue.note(bits)
  return [
    from(followed.pods, (change) => applyPod(follower, change)),
    from(followed.nodes, (change) => queue.note(applyNode(follower, change))),
    from(followed.claims, ({ key }) => {
      follower.claimWaiters.notice(key)
      queue.note(happened.claimChanged)
    }),
    from(followed.volumes, wakes(happened.volumeChanged)),
    from(followed.classes, wakes(happened.classChanged)),
    from(followed.csiNodes, wakes(happened.csiNodeChanged)),
    ...deviceSources(followed, follower),
    ...[followed.namespaces, followed.budgets, followed.services].map(lookedUp),
    ...[followed.replicaSets, followed.statefulSets, followed.replicationControllers].map(lookedUp),
  ]
}

function deviceSources({ devices }: Followed, { queue, deviceWaiters }: Follower): FollowedSource[] {
  if (devices === undefined) return []
  const wake = () => queue.note(happened.deviceChanged)
  return [
    from(devices.resourceClaims, ({ key }) => {
      deviceWaiters?.notice(key)
      wake()
    }),
    from(devices.slices, wake),
    from(devices.deviceClasses, wake),
  ]
}

function from<T extends ObjectBase>(
  informer: Informer<T>,
  apply: (change: Parameters<ChangeHandler<T>>[0]) => void,
): FollowedSource {
  return { feed: informer, listen: (take) => informer.onChange((change) => take(() => apply(change))) }
}

/** Returns a source for objects that the scheduler only looks up. Their changes do not trigger a round. */
function lookedUp(feed: Feed): FollowedSource {
  return { feed, listen: () => () => {} }
}

function applyPod({ cluster, queue, profiles }: Follower, { key, object, previous }: ObjectChange<Pod>): void {
  if (object === undefined || hasEnded(object)) {
    const hadNode = cluster.nominationOf(key) !== undefined
    cluster.withdrawNomination(key)
    queue.remove(key)
    if (cluster.removePod(key) || hadNode) queue.note(happened.podGone)
    return
  }
  const pod = new PodInfo(object)
  if (pod.nodeName !== '') {
    if (cluster.setPod(pod)) queue.note(happened.podGone)
    cluster.withdrawNomination(key)
    queue.remove(key)
    if (isPlacedAnew(object, previous)) queue.note(happened.podPlaced)
    return
  }
  if (cluster.isAssumed(pod)) return
  if (cluster.removePod(key)) queue.note(happened.podGone)
  if (pod.isTerminating || isGated(object) || !profiles.has(pod.spec.schedulerName ?? '')) {
    queue.remove(key)
    cluster.withdrawNomination(key)
    return
  }
  // The watch may not have delivered this scheduler's own nomination yet, so an unchanged value in the event is
  // ignored.
  if (pod.nominatedNode !== (previous?.status?.nominatedNodeName ?? '')) cluster.nominate(pod, pod.nominatedNode)
  queue.set(pod, { isChanged: isChanged(object, previous) })
}

/**
 * Whether a scheduling gate prevents the Pod from being scheduled. Removing the last gate counts as a change that may
 * make the Pod schedulable.
 */
function isGated({ spec }: Pod): boolean {
  return (spec?.schedulingGates ?? []).length > 0
}

function isPlacedAnew({ metadata }: Pod, previous: Pod | undefined): boolean {
  if (previous?.spec?.nodeName === undefined) return true
  return !sameJson(previous.metadata.labels ?? {}, metadata.labels ?? {})
}

/** Whether a Pod update may affect scheduling. */
function isChanged({ metadata, spec, status }: Pod, previous: Pod | undefined): boolean {
  if (previous === undefined) return true
  return !(
    sameJson(previous.spec, spec) &&
    sameJson(previous.status?.resourceClaimStatuses, status?.resourceClaimStatuses) &&
    sameJson(previous.metadata.labels, metadata.labels) &&
    sameJson(previous.metadata.annotations, metadata.annotations)
  )
}

/** Applies a node change. Returns the changes that may make waiting Pods schedulable. */
function applyNode({ cluster }: Follower, { key, object, previous }: ObjectChange<Node>): number {
  if (object === undefined) {
    cluster.removeNode(key)
    return happened.nodeDeleted
  }
  cluster.setNode(key, object)
  return previous === undefined ? happened.nodeAdded : nodeChanges(previous, object)
}

function nodeChanges(before: Node, after: Node): number {
  let bits = 0
  if (!sameJson(before.status?.allocatable, after.status?.allocatable)) bits |= happened.nodeAllocatable
  if (!sameJson(before.metadata.labels, after.metadata.labels)) bits |= happened.nodeLabels
  const sameTaints = sameJson(before.spec?.taints, after.spec?.taints)
  if (!sameTaints || before.spec?.unschedulable !== after.spec?.unschedulable) bits |= happened.nodeTaints
  return bits
}
