/**
 * The replicaset and replicationcontroller loops, which keep a specified number of identical pods running. They differ
 * only in the kind of the owner.
 *
 * A step claims the pods that the owner selects, creates missing pods in growing batches or deletes surplus pods (at
 * most 500 pods per step), and writes the status. The loop neither creates nor deletes pods until the informer has
 * delivered all earlier writes. The status counts created pods even before the informer delivers them.
 */

import type { ReplicaSet } from '../../../api/kinds/apps/replica-set.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ReplicationController } from '../../../api/kinds/core/replication-controller.ts'
import type { ObjectBase } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { SelectorObject } from '../../../api/selectors/label-selector.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, type ResourceType } from '../../../client/requests/resource-type.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { slowStart, writeAll } from './batches.ts'
import { claimObjects } from './claim-objects.ts'
import { firstToDelete } from './deletion-order.ts'
import { Expectations } from './expectations.ts'
import { afterRefusal, lookAgain, unlessConflict } from './outcomes.ts'
import { byController, controllerOf, type OwnerKind } from './ownership.ts'
import { createPod, deletePod, isNamespaceEnding, PodGoneError, podFromTemplate } from './pod-control.ts'
import { fromPods } from './pod-events.ts'
import { hasEnded, isActive, isTerminating, nextAvailableMs } from './pod-state.ts'
import { type ReplicaFailure, type ReplicaOwner, replicaStatus } from './replica-status.ts'
import { type SelectingOwners, selectingOwners } from './selecting-owners.ts'
import { StepSpacing } from './step-spacing.ts'

/** The clients and informers that the replicaset and replicationcontroller loops use. */
export interface ReplicaLoopParts<O extends ReplicaOwner> {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  /** Whether the status in the emulated version includes the number of terminating pods. */
  readonly reportsTerminating: boolean
  readonly owners: Informer<O>
  readonly pods: Informer<Pod>
}

/** Maximum number of pods created or deleted in one step. */
const maxBurst = 500

/** Creates the loop that keeps the desired number of pods for each ReplicaSet. */
export function replicaSetLoop(parts: ReplicaLoopParts<ReplicaSet>): Loop {
  const ownerKind = { group: 'apps', kind: 'ReplicaSet' }
  return replicaLoop(parts, {
    name: 'replicaset',
    type: kinds.ReplicaSet,
    ownerKind,
    selectorOf: ({ spec }) => spec?.selector,
  })
}

/** Creates the loop that keeps the desired number of pods for each ReplicationController. */
export function replicationControllerLoop(parts: ReplicaLoopParts<ReplicationController>): Loop {
  return replicaLoop(parts, {
    name: 'replicationcontroller',
    type: kinds.ReplicationController,
    ownerKind: { group: '', kind: 'ReplicationController' },
    selectorOf: ({ spec }) => ({ matchLabels: spec?.selector }),
  })
}

interface ReplicaKind<O extends ReplicaOwner> {
  readonly name: string
  readonly type: ResourceType<O>
  readonly ownerKind: OwnerKind
  readonly selectorOf: (owner: O) => SelectorObject | undefined
}

interface State<O extends ReplicaOwner> extends ReplicaLoopParts<O> {
  readonly type: ResourceType<O>
  readonly expectations: Expectations
  readonly spacing: StepSpacing
  readonly selecting: SelectingOwners<O>
}

function replicaLoop<O extends ReplicaOwner>(parts: ReplicaLoopParts<O>, kind: ReplicaKind<O>): Loop {
  const { owners, pods, clock } = parts
  const expectations = new Expectations(clock)
  const selecting = selectingOwners(owners, kind.selectorOf)
  const state: State<O> = { ...parts, type: kind.type, expectations, spacing: new StepSpacing(), selecting }
  return {
    name: kind.name,
    sources: [
      fromInformer(owners, ({ key, previous, object }) => {
        if (previous?.metadata.uid !== object?.metadata.uid) expectations.forget(previous?.metadata.uid ?? '')
        return [key]
      }),
      fromPods({ pods, ownerKind: kind.ownerKind, expectations, adopters: (pod) => selecting.of(pod) }),
    ],
    reconcile: async (key, signal) => {
      const owner = owners.get(nameOfKey(key))
      const spacedMs = state.spacing.waitMs(key)
      if (owner === undefined) return 'done'
      return spacedMs > 0 ? { afterMs: spacedMs } : await step(state, owner, { key, signal })
    },
  }
}

async function step<O extends ReplicaOwner>(
  state: State<O>,
  owner: O,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const { clock, spacing, expectations } = state
  // Check the expectations before listing the pods. Otherwise, a write that is delivered in between might be missing
  // from the list although it is no longer expected.
  const { uid = '' } = owner.metadata
  const expectedMs = expectations.waitMs(uid)
  const pendingBefore = expectations.pendingCreations(uid)
  const pods = await claimedPods(state, owner, signal)
  spacing.looked(key, pods.length)
  const mayWrite = expectedMs === 0 && owner.metadata.deletionTimestamp === undefined
  const slice = new TimeSlice()
  const { failure, created = 0 } = mayWrite ? await manage(state, { owner, pods, signal }) : {}
  // If there are many pods, the passes so far have taken a long time, so yield before the next pass.
  await slice.yieldIfDue()
  const now = clock.now()
  const facts = { failure, undelivered: pendingBefore + created, terminating: terminatingPods(state, owner), now }
  const isWritten = await writeStatus(state, owner, { status: replicaStatus(owner, pods, facts), signal })
  if (failure !== undefined) return afterRefusal(failure.error)
  return isWritten ? lookAgain(expectedMs, nextAvailableMs(pods, owner.spec?.minReadySeconds ?? 0, now)) : 'later'
}

function terminatingPods<O extends ReplicaOwner>(
  { pods, reportsTerminating }: State<O>,
  { metadata: { namespace = '', uid = '' } }: O,
): number | undefined {
  if (!reportsTerminating) return undefined
  const controlled = byController(pods).controlledBy(namespace, uid)
  return controlled.filter((pod) => isTerminating(pod) && !hasEnded(pod)).length
}

async function claimedPods<O extends ReplicaOwner>(state: State<O>, owner: O, signal: AbortSignal): Promise<Pod[]> {
  const { client, pods, selecting, type: ownerType } = state
  const { uid = '', namespace = '' } = owner.metadata
  const lookup = byController(pods)
  const candidates = [...lookup.controlledBy(namespace, uid), ...lookup.orphans(namespace)].filter(isActive)
  const selects = (labels: ObjectBase['metadata']['labels']) => selecting.selects(owner, labels)
  return await claimObjects({ client, type: kinds.Pod, owner, ownerType, selects, signal }, candidates)
}

interface Present<O> {
  readonly owner: O
  readonly pods: readonly Pod[]
  readonly signal: AbortSignal
}

/**
 * The result of one step's writes: the number of created pods, and the reason why other pods could not be created or
 * deleted.
 */
interface Managed {
  readonly created?: number
  readonly failure?: ReplicaFailure | undefined
}

async function manage<O extends ReplicaOwner>(state: State<O>, present: Present<O>): Promise<Managed> {
  const { replicas = 1 } = present.owner.spec ?? {}
  const missing = replicas - present.pods.length
  if (missing > 0) return await createPods(state, present, Math.min(missing, maxBurst))
  return missing < 0 ? { failure: await deletePods(state, present, Math.min(-missing, maxBurst)) } : {}
}

async function createPods<O extends ReplicaOwner>(
  state: State<O>,
  { owner, signal }: Present<O>,
  count: number,
): Promise<Managed> {
  const { uid = '' } = owner.metadata
  const pod = podFromTemplate(owner.spec?.template, owner)
  state.expectations.expectCreations(uid, count)
  const outcome = await slowStart(count, async () => {
    await createPod(state, owner, { pod, signal })
  })
  state.expectations.settleCreation(uid, count - outcome.succeeded)
  const created = outcome.succeeded
  if (!('error' in outcome) || isNamespaceEnding(outcome.error)) return { created }
  return { created, failure: { reason: 'FailedCreate', error: outcome.error } }
}

async function deletePods<O extends ReplicaOwner>(
  state: State<O>,
  { owner, pods, signal }: Present<O>,
  count: number,
): Promise<ReplicaFailure | undefined> {
  const { expectations } = state
  const { uid = '' } = owner.metadata
  const surplus = await new TimeSlice().run(chooseSurplus(state, { owner, pods, signal }, count))
  const uidOf = (pod: Pod) => pod.metadata.uid ?? ''
  expectations.expectDeletions(uid, surplus.map(uidOf))
  const outcome = await writeAll(surplus.length, async (i) => {
    const pod = surplus[i]!
    try {
      await deletePod(state, owner, { pod, signal })
    } catch (error) {
      expectations.settleDeletion(uid, uidOf(pod))
      if (!(error instanceof PodGoneError)) throw error
    }
  })
  return 'error' in outcome ? { reason: 'FailedDelete', error: outcome.error } : undefined
}

function* chooseSurplus<O extends ReplicaOwner>(
  state: State<O>,
  { owner, pods }: Present<O>,
  count: number,
): Sliced<readonly Pod[]> {
  if (count >= pods.length) return pods
  const crowds = yield* crowdsOf(state, owner)
  const crowdOf = ({ spec }: Pod) => crowds.get(spec?.nodeName ?? '') ?? 0
  const context = { vendor: state.vendor, now: state.clock.now(), crowdOf }
  return yield* firstToDelete(pods, count, context)
}

/** Returns the number of active pods per node, of this owner and of other owners with the same controller. */
function* crowdsOf<O extends ReplicaOwner>({ owners, pods }: State<O>, owner: O): Sliced<Map<string, number>> {
  const controller = controllerOf(owner)
  const { namespace = '' } = owner.metadata
  const related = controller === undefined ? [owner] : byController(owners).controlledBy(namespace, controller.uid)
  const crowds = new Map<string, number>()
  for (const { metadata } of related) {
    for (const pod of byController(pods).controlledBy(namespace, metadata.uid ?? '')) {
      const node = pod.spec?.nodeName ?? ''
      if (isActive(pod)) crowds.set(node, (crowds.get(node) ?? 0) + 1)
    }
    yield
  }
  return crowds
}

/** Writes the status. Returns false if another client changed the object first. */
async function writeStatus<O extends ReplicaOwner>(
  { client, type }: State<O>,
  owner: O,
  { status, signal }: { readonly status: O['status'] | undefined; readonly signal: AbortSignal },
): Promise<boolean> {
  if (status === undefined) return true
  const update = client.update<O>(type, { ...owner, status } as O, { subresource: 'status', signal })
  return (await unlessConflict(ignoreNotFound(update).then(() => true))) ?? false
}
