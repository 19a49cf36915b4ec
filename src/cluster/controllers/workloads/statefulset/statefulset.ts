/**
 * Runs the pods of StatefulSets, each with a stable name, ordinal and claims. A step creates, deletes or replaces pods
 * (`ordinals.ts`) and writes the status. Changes to the pods trigger the next step.
 *
 * Pods have fixed names and are deleted by UID. A step with stale data therefore never creates or deletes a pod twice:
 * the server rejects its writes, and the step is retried.
 */

import type { ControllerRevision } from '../../../../api/kinds/apps/controller-revision.ts'
import type { StatefulSet } from '../../../../api/kinds/apps/stateful-set.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { vendorKey } from '../../../../api/model/vendor.ts'
import type { Labels } from '../../../../api/selectors/label-selector.ts'
import type { Loop } from '../../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { nameOfKey } from '../../../../client/requests/resource-type.ts'
import { ignoreNotFound } from '../../ignore-not-found.ts'
import { claimObjects } from '../claim-objects.ts'
import { type History, syncHistory, truncateHistory } from '../controller-revisions.ts'
import { afterRefusal, lookAgain } from '../outcomes.ts'
import { byController } from '../ownership.ts'
import { fromPods } from '../pod-events.ts'
import { nextAvailableMs } from '../pod-state.ts'
import { sameStatus } from '../same-status.ts'
import { type SelectingOwners, selectingOwners } from '../selecting-owners.ts'
import { StepSpacing } from '../step-spacing.ts'
import { ordinalOf, revisionOf } from './identity.ts'
import { type Counts, countPods, move } from './ordinals.ts'
import type { SetStep, StatefulSetParts } from './parts.ts'
import { ClaimError } from './pod-writes.ts'

/** Creates the loop that runs the pods of StatefulSets. */
export function statefulSetLoop(parts: StatefulSetParts): Loop {
  const selecting = selectingOwners(parts.sets, ({ spec }) => spec?.selector)
  const spacing = new StepSpacing()
  const ownerKind = { group: 'apps', kind: 'StatefulSet' }
  return {
    name: 'statefulset',
    sources: [
      fromInformer(parts.sets),
      fromPods({ pods: parts.pods, ownerKind, adopters: (pod) => selecting.of(pod) }),
      // The loop only looks up claims and revisions, so their changes do not trigger a reconcile.
      fromInformer(parts.claims, () => []),
      fromInformer(parts.revisions, () => []),
    ],
    reconcile: async (key, signal) => {
      const set = parts.sets.get(nameOfKey(key))
      const spacedMs = spacing.waitMs(key)
      if (set === undefined) return 'done'
      if (spacedMs > 0) return { afterMs: spacedMs }
      try {
        const pods = await claimedPods(parts, set, { selecting, signal })
        spacing.looked(key, pods.length)
        return await reconcile(parts, set, { pods, selecting, signal })
      } catch (error) {
        if (error instanceof ClaimError) return 'later'
        return afterRefusal(error)
      }
    },
  }
}

interface Context {
  readonly selecting: SelectingOwners<StatefulSet>
  readonly signal: AbortSignal
}

/** Returns the pods that belong to the set. Ignores pods whose names do not match the set. */
async function claimedPods(
  { client, pods }: StatefulSetParts,
  owner: StatefulSet,
  { selecting, signal }: Context,
): Promise<Pod[]> {
  const { uid = '', namespace = '' } = owner.metadata
  const lookup = byController(pods)
  const candidates = [...lookup.controlledBy(namespace, uid), ...lookup.orphans(namespace)]
  const selects = (labels: Labels) => selecting.selects(owner, labels)
  const fits = (pod: Pod) => ordinalOf(owner, pod) !== undefined
  return await claimObjects(
    { client, type: kinds.Pod, owner, ownerType: kinds.StatefulSet, selects, fits, signal },
    candidates,
  )
}

async function reconcile(
  parts: StatefulSetParts,
  set: StatefulSet,
  { pods, selecting, signal }: Context & { readonly pods: readonly Pod[] },
): Promise<StepOutcome> {
  const history = await historyOf(parts, set, { selecting, signal })
  const all = [...history.others, history.present]
  const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? history.present
  const step: SetStep = { parts, set, signal, current, update: history.present }
  const counts = countPods(step, pods)
  const failure = await movesOf(step, pods, counts)
  await writeStatus(step, { counts, collisions: history.collisions, isWhole: failure === undefined })
  if (failure !== undefined) throw failure.error
  const { revisionHistoryLimit: limit = 10, minReadySeconds = 0 } = set.spec ?? {}
  const live = new Set([current.metadata.name, history.present.metadata.name, ...pods.map(revisionOf)])
  const isLive = ({ metadata }: ControllerRevision) => live.has(metadata.name)
  await truncateHistory({ client: parts.client, signal }, all, { limit, isLive })
  return lookAgain(nextAvailableMs(pods, minReadySeconds, parts.clock.now()))
}

/** Creates, deletes and replaces pods. Returns the error that interrupted this work, if any. */
async function movesOf(
  step: SetStep,
  pods: readonly Pod[],
  counts: Counts,
): Promise<{ readonly error: unknown } | undefined> {
  if (step.set.metadata.deletionTimestamp !== undefined) return undefined
  try {
    await move(step, pods, counts)
    return undefined
  } catch (error) {
    return { error }
  }
}

async function historyOf(
  { client, revisions, vendor }: StatefulSetParts,
  set: StatefulSet,
  { selecting, signal }: Context,
): Promise<History> {
  return await syncHistory({
    client,
    revisions,
    owner: set,
    ownerType: kinds.StatefulSet,
    signal,
    selects: (labels) => selecting.selects(set, labels),
    template: set.spec?.template ?? {},
    collisions: set.status?.collisionCount,
    hashLabel: vendorKey(vendor, 'hash', 'controller'),
  })
}

interface Findings {
  readonly counts: Counts
  readonly collisions: number | undefined
  /** Whether all pods were created, deleted and updated without a failure. */
  readonly isWhole: boolean
}

/** Writes the status. If the rollout is complete, the updated revision becomes the current revision. */
async function writeStatus(step: SetStep, { counts, collisions, isWhole }: Findings): Promise<void> {
  const { set, parts, signal, current, update } = step
  const { replicas, updatedReplicas, readyReplicas } = counts
  const rolls = set.spec?.updateStrategy?.type === 'RollingUpdate'
  const isOver = rolls && isWhole && updatedReplicas === replicas && readyReplicas === replicas
  const { conditions } = set.status ?? {}
  const collisionCount = collisions ?? set.status?.collisionCount ?? 0
  const status: StatefulSet['status'] = {
    ...counts,
    currentReplicas: Math.max(0, isOver ? updatedReplicas : counts.currentReplicas),
    observedGeneration: set.metadata.generation ?? 0,
    currentRevision: (isOver ? update : current).metadata.name ?? '',
    updateRevision: update.metadata.name ?? '',
    collisionCount,
    ...(conditions === undefined ? {} : { conditions }),
  }
  if (sameStatus(status, set.status ?? {})) return
  await ignoreNotFound(parts.client.update(kinds.StatefulSet, { ...set, status }, { subresource: 'status', signal }))
}
