/**
 * Maintains the status of PodDisruptionBudgets: the number of pods that may be evicted now. An eviction decrements that
 * number with a compare-and-set (`apiserver/resources/pod-eviction.ts`) and records the pod. From then on, the pod does
 * not count as healthy.
 *
 * The expected number of pods comes from their controllers: from informers for built-in kinds, and from the `scale`
 * subresource for others. Pods without a controller do not count.
 */

import { type Json, sameJson } from '../../api/json/json.ts'
import type { ReplicaSet } from '../../api/kinds/apps/replica-set.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/kinds/policy/pod-disruption-budget.ts'
import { groupOf } from '../../api/model/api-version.ts'
import { type ApiObject, type ObjectBase, type OwnerReference, timestamp } from '../../api/model/object.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { EventRecorder, Happening } from '../../client/informers/event-recorder.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey, subresource } from '../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../client/requests/status-error.ts'
import { type Counted, demandOf, disruptedPods, failedStatus, needsScale, statusOf } from './disruption-budget.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import { ScaleTypes } from './scale-types.ts'
import { PodSelection } from './selected-pods.ts'
import { controllerOf } from './workloads/ownership.ts'
import { StepSpacing } from './workloads/step-spacing.ts'

/** Any object with `spec.replicas`, such as a ReplicaSet. */
export type Scaled = ObjectBase & { readonly spec?: { readonly replicas?: number } }

export interface DisruptionParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly clock: Clock
  readonly budgets: Informer<PodDisruptionBudget>
  readonly pods: Informer<Pod>
  readonly replicaSets: Informer<ReplicaSet>
  /** Other built-in kinds that control pods or ReplicaSets. The keys are `group/Kind`. */
  readonly scaled: { readonly [kind: string]: Informer<Scaled> }
}

interface State extends DisruptionParts {
  readonly selection: PodSelection<PodDisruptionBudget>
  readonly spacing: StepSpacing
  readonly types: ScaleTypes
}

export function disruptionLoop(parts: DisruptionParts): Loop {
  const { pods, budgets, client, clock } = parts
  const selection = new PodSelection(pods, budgets, ({ spec }) => spec?.selector)
  const state = { ...parts, selection, spacing: new StepSpacing(), types: new ScaleTypes(client, clock) }
  const owners: readonly Informer<Scaled>[] = [parts.replicaSets, ...Object.values(parts.scaled)]
  return {
    name: 'disruption',
    sources: [
      fromInformer(budgets),
      fromInformer(pods, (change) => selection.keysOf(change)),
      // The loop reads the owners of the pods while it reconciles a budget. A change to an owner does not trigger a
      // reconcile, because the owner then changes its pods, which does.
      ...owners.map((informer) => fromInformer(informer, () => [])),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const { clock, recorder, spacing } = state
  const budget = state.budgets.get(nameOfKey(key))
  if (budget === undefined) return 'done'
  const spacingMs = spacing.waitMs(key)
  if (spacingMs > 0) return { afterMs: spacingMs }
  const pods = state.selection.podsOf(budget)
  spacing.looked(key, pods.length)
  const record = (happening: Happening) => recorder.record(budget, happening)
  if (pods.length === 0) record({ type: 'Normal', reason: 'NoPods', message: 'No matching pods found' })
  const now = timestamp(clock.now())
  const disrupted = disruptedPods(budget, pods, clock.now())
  for (const pod of disrupted.overdue) {
    const message = `Pod was expected by PDB ${key} to be deleted but it wasn't`
    recorder.record(pod, { type: 'Warning', reason: 'NotDeleted', message })
  }
  try {
    const expected = needsScale(budget) ? await expectedScale(state, budget, { pods, signal }) : pods.length
    const counted: Counted = { demand: demandOf(budget, expected), disrupted: disrupted.pods, pods, now }
    if (!(await write(state, budget, { status: statusOf(budget, counted), signal }))) return 'later'
  } catch (error) {
    const message = `Failed to calculate the number of expected pods: ${messageOf(error)}`
    record({ type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message })
    await write(state, budget, { status: failedStatus(budget, messageOf(error), now), signal })
    if (error instanceof NoScaleError) return 'later'
    throw error
  }
  return disrupted.recheckMs === undefined ? 'done' : { afterMs: disrupted.recheckMs + 1000 }
}

/** Writes the status. Returns false if the budget has changed in the meantime. */
async function write(
  { client }: State,
  budget: PodDisruptionBudget,
  { status, signal }: { readonly status: PodDisruptionBudgetStatus; readonly signal: AbortSignal },
): Promise<boolean> {
  if (sameJson((budget.status ?? {}) as Json, status as Json)) return true
  try {
    await client.update(kinds.PodDisruptionBudget, { ...budget, status }, { subresource: 'status', signal })
    return true
  } catch (error) {
    if (isNotFound(error)) return true
    if (isConflict(error)) return false
    throw error
  }
}

/** Returns the total number of replicas that the controllers of these pods specify. */
async function expectedScale(
  state: State,
  budget: PodDisruptionBudget,
  { pods, signal }: { readonly pods: readonly Pod[]; readonly signal: AbortSignal },
): Promise<number> {
  const { namespace = '' } = budget.metadata
  const controllers = new Map<string, OwnerReference>()
  const unmanaged: string[] = []
  for (const pod of pods) {
    const owner = controllerOf(pod)
    if (owner === undefined) unmanaged.push(pod.metadata.name ?? '')
    else controllers.set(owner.uid, owner)
  }
  if (unmanaged.length > 0) {
    const message = `Pods selected by this PodDisruptionBudget are not managed by a controller: ${unmanaged.slice(0, 10).join(', ')}`
    state.recorder.record(budget, { type: 'Warning', reason: 'UnmanagedPods', message })
  }
  const replicas = new Map<string, number>()
  for (const owner of controllers.values()) {
    const scaleObject = await scaleOf(state, owner, { namespace, signal })
    if (scaleObject !== undefined) replicas.set(scaleObject.uid, scaleObject.replicas)
  }
  return [...replicas.values()].reduce((sum, each) => sum + each, 0)
}

/** Thrown if the controller of a pod has no scale subresource. */
class NoScaleError extends Error {
  override readonly name = 'NoScaleError'
}

interface Scale {
  readonly uid: string
  readonly replicas: number
}

/**
 * Returns the number of replicas that an owner specifies, or undefined if the owner no longer exists. Throws if the
 * owner has no scale subresource.
 */
async function scaleOf(
  state: State,
  owner: OwnerReference,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<Scale | undefined> {
  const { apiVersion, kind, name, uid } = owner
  const place = `${groupOf(apiVersion)}/${kind}`
  if (place === 'apps/ReplicaSet') {
    const set = state.replicaSets.get({ namespace, name })
    if (set === undefined || set.metadata.uid !== uid) return undefined
    const above = controllerOf(set)
    return above?.kind === 'Deployment' ? await scaleOf(state, above, { namespace, signal }) : replicasOf(set)
  }
  const cachedWorkload = state.scaled[place]?.get({ namespace, name })
  if (Object.hasOwn(state.scaled, place))
    return cachedWorkload?.metadata.uid === uid ? replicasOf(cachedWorkload) : undefined
  const type = await state.types.typeOf(owner, signal)
  if (type === undefined) throw new NoScaleError(`the server does not serve the kind ${kind} in ${apiVersion}`)
  const scale = subresource<ApiObject & Scaled>(type, 'scale')
  const scaleObject = await ignoreNotFound(state.client.get(scale, { namespace, name }, { signal }))
  if (scaleObject === undefined) throw new NoScaleError(`${kind} ${namespace}/${name} has no scale subresource`)
  return scaleObject.metadata.uid === uid ? replicasOf(scaleObject) : undefined
}

function replicasOf({ metadata, spec }: Scaled): Scale {
  return { uid: metadata.uid ?? '', replicas: spec?.replicas ?? 0 }
}
