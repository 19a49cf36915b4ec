/**
 * Runs one pod on every eligible node for each DaemonSet. A step creates missing pods and deletes surplus pods. If no
 * pods are missing or surplus, the step continues the rolling update. Finally, the step writes the status. The loop
 * writes no pods until the informer has delivered all earlier writes.
 */

import { sameJson } from '../../../../api/json/json.ts'
import type { ControllerRevision } from '../../../../api/kinds/apps/controller-revision.ts'
import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import type { Node } from '../../../../api/kinds/core/node.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { Labels } from '../../../../api/selectors/label-selector.ts'
import type { Loop } from '../../../../client/reconcile/loop.ts'
import { fromInformer, type Source } from '../../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { nameOfKey, objectKey } from '../../../../client/requests/resource-type.ts'
import { claimObjects } from '../claim-objects.ts'
import { type History, syncHistory, truncateHistory } from '../controller-revisions.ts'
import { Expectations } from '../expectations.ts'
import { afterRefusal, lookAgain } from '../outcomes.ts'
import { byController } from '../ownership.ts'
import { fromPods } from '../pod-events.ts'
import { nextAvailableMs } from '../pod-state.ts'
import { type SelectingOwners, selectingOwners } from '../selecting-owners.ts'
import { StepSpacing } from '../step-spacing.ts'
import { coverageMoves } from './coverage.ts'
import { FailedPods } from './failed-pods.ts'
import type { DaemonSetParts, DaemonSetState, DaemonStep } from './parts.ts'
import { type Fitness, fitnessFor, targetNode } from './placement.ts'
import { hashLabel, makeMoves } from './pod-writes.ts'
import { limitsOf, rollingMoves } from './rolling.ts'
import { writeStatus } from './status.ts'

/** Creates the loop that runs one pod of each DaemonSet on every eligible node. */
export function daemonSetLoop(parts: DaemonSetParts): Loop {
  const { sets, pods, revisions, clock } = parts
  const expectations = new Expectations(clock)
  const selecting = selectingOwners(sets, ({ spec }) => spec?.selector)
  const spacing = new StepSpacing()
  const state: DaemonSetState = { ...parts, expectations, failed: new FailedPods(clock) }
  const ownerKind = { group: 'apps', kind: 'DaemonSet' }
  return {
    name: 'daemonset',
    sources: [
      fromInformer(sets, ({ key, previous, object }) => {
        if (previous?.metadata.uid !== object?.metadata.uid) expectations.forget(previous?.metadata.uid ?? '')
        return [key]
      }),
      fromPods({ pods, ownerKind, expectations, adopters: (pod) => selecting.of(pod) }),
      fromNodes(parts),
      // The loop only looks up revisions, so their changes do not trigger a reconcile.
      fromInformer(revisions, () => []),
    ],
    reconcile: async (key, signal) => {
      const set = sets.get(nameOfKey(key))
      if (set === undefined || set.metadata.deletionTimestamp !== undefined) return 'done'
      const spacedMs = spacing.waitMs(key)
      if (spacedMs > 0) return { afterMs: spacedMs }
      spacing.looked(key, parts.nodes.size)
      try {
        return await reconcile(state, set, { selecting, signal })
      } catch (error) {
        return afterRefusal(error)
      }
    },
  }
}

/**
 * Triggers a reconcile of all DaemonSets when a node is added or deleted, or when the labels or taints of a node
 * change.
 */
function fromNodes({ nodes, sets }: DaemonSetParts): Source {
  const isSame = (a: Node, b: Node) =>
    sameJson(a.metadata.labels ?? {}, b.metadata.labels ?? {}) && sameJson(a.spec?.taints ?? [], b.spec?.taints ?? [])
  return fromInformer(nodes, ({ previous, object }) =>
    previous !== undefined && object !== undefined && isSame(previous, object)
      ? []
      : [...sets.objects()].map(objectKey),
  )
}

interface Context {
  readonly selecting: SelectingOwners<DaemonSet>
  readonly signal: AbortSignal
}

async function reconcile(state: DaemonSetState, set: DaemonSet, context: Context): Promise<StepOutcome> {
  const { signal } = context
  const history = await historyOf(state, set, context)
  // Check the expectations before listing the pods. Otherwise, a write that is delivered in between might be missing
  // from the list although it is no longer expected.
  const expectedMs = state.expectations.waitMs(set.metadata.uid ?? '')
  const pods = await claimedPods(state, set, context)
  const step: DaemonStep = {
    state,
    set,
    signal,
    hash: history.present.metadata.labels?.[hashLabel] ?? '',
    nodes: nodesFor(state, set),
    byNode: sortedByNode(pods),
  }
  const outcome = expectedMs === 0 ? await moves(step) : {}
  if (expectedMs === 0) await cleanUp(step, history, pods)
  await writeStatus(step, { isObserved: expectedMs === 0, collisions: history.collisions })
  if ('error' in outcome) throw outcome.error
  const { minReadySeconds = 0 } = set.spec ?? {}
  return lookAgain(expectedMs, outcome.againMs, nextAvailableMs(pods, minReadySeconds, state.clock.now()))
}

/**
 * Creates and deletes pods so that every eligible node has exactly one pod. If no pods are missing or surplus,
 * continues the update.
 */
async function moves(step: DaemonStep): Promise<{ readonly againMs?: number; readonly error?: unknown }> {
  const rolls = step.set.spec?.updateStrategy?.type !== 'OnDelete'
  const limits = limitsOf(step)
  const { againMs, ...coverage } = coverageMoves(step, { surge: rolls && limits.maxSurge > 0 })
  const again = againMs === undefined ? {} : { againMs }
  const isCovered = coverage.lacking.length + coverage.surplus.length === 0
  const plannedMoves = isCovered && rolls ? rollingMoves(step, limits) : coverage
  try {
    await makeMoves(step, plannedMoves)
    return again
  } catch (error) {
    return { ...again, error }
  }
}

function nodesFor({ nodes, vendor }: DaemonSetState, set: DaemonSet): Map<string, Fitness> {
  const fitnessOf = fitnessFor(vendor, set)
  return new Map([...nodes.objects()].map((node) => [node.metadata.name ?? '', fitnessOf(node)]))
}

/** Returns the pods by node, in order. Ignores pods without a target node, because other controllers delete them. */
function sortedByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const placed = pods.filter((pod) => targetNode(pod) !== undefined)
  const byNode = Map.groupBy(placed, (pod) => targetNode(pod)!)
  for (const group of byNode.values()) group.sort(byPlaceAndAge)
  return byNode
}

function byPlaceAndAge(a: Pod, b: Pod): number {
  const waits = ({ spec }: Pod) => Number((spec?.nodeName ?? '') === '')
  const first = a.metadata.creationTimestamp ?? ''
  const second = b.metadata.creationTimestamp ?? ''
  if (waits(a) !== waits(b)) return waits(a) - waits(b)
  if (first !== second) return first < second ? -1 : 1
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}

async function claimedPods({ client, pods }: DaemonSetState, owner: DaemonSet, context: Context): Promise<Pod[]> {
  const { selecting, signal } = context
  const { uid = '', namespace = '' } = owner.metadata
  const lookup = byController(pods)
  const candidates = [...lookup.controlledBy(namespace, uid), ...lookup.orphans(namespace)]
  const selects = (labels: Labels) => selecting.selects(owner, labels)
  return await claimObjects({ client, type: kinds.Pod, owner, ownerType: kinds.DaemonSet, selects, signal }, candidates)
}

async function historyOf(
  { client, revisions }: DaemonSetState,
  set: DaemonSet,
  { selecting, signal }: Context,
): Promise<History> {
  return await syncHistory({
    client,
    revisions,
    owner: set,
    ownerType: kinds.DaemonSet,
    signal,
    hashLabel,
    selects: (labels) => selecting.selects(set, labels),
    template: set.spec?.template ?? {},
    collisions: set.status?.collisionCount,
  })
}

async function cleanUp({ state, set, signal }: DaemonStep, { others }: History, pods: readonly Pod[]): Promise<void> {
  const { revisionHistoryLimit: limit = 10 } = set.spec ?? {}
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[hashLabel]))
  const isLive = ({ metadata }: ControllerRevision) => live.has(metadata.labels?.[hashLabel])
  await truncateHistory({ client: state.client, signal }, others, { limit, isLive })
}
