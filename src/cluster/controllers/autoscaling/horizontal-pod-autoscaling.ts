/**
 * Scales the targets of HorizontalPodAutoscalers to meet their metric targets: resource usage of pods, and metrics of
 * pods, other objects and external systems. All metrics come from the APIs of aggregated servers (`metrics-api.ts`). If
 * an API is unavailable, the condition ScalingActive reports the failure and the target is not scaled. Each autoscaler
 * is reconciled every 15 seconds by default.
 */

import { type Json, sameJson } from '../../../api/json/json.ts'
import type { HorizontalPodAutoscaler } from '../../../api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import type { Scale } from '../../../api/kinds/autoscaling/scale.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { type ApiObject, timestamp } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { everyOf, fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, objectKey, type ResourceType, subresource } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { ScaleTypes } from '../scale-types.ts'
import { AutoscalerStatus } from './autoscaler-status.ts'
import { adviceOf, type MetricAdvice } from './metric-advice.ts'
import { MetricError } from './metric-result.ts'
import { MetricsApi } from './metrics-api.ts'
import { numberOf, type Tolerance } from './resource-usage.ts'
import { type LimitAnswer, limitReplicas, type Moment } from './scaling-limits.ts'

export interface AutoscalingOptions {
  readonly periodMs: number
  /**
   * Scale-down stabilization window in milliseconds: replicas never drop below the highest recommendation in this
   * period.
   */
  readonly downscaleWindowMs: number
  /** Relative deviation from the target that is tolerated without scaling. */
  readonly tolerance: number
}

/** Defaults of the corresponding kube-controller-manager flags. */
export const defaultAutoscaling: AutoscalingOptions = {
  periodMs: 15_000,
  downscaleWindowMs: 5 * 60_000,
  tolerance: 0.1,
}

export interface AutoscalingParts extends AutoscalingOptions {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly autoscalers: Informer<HorizontalPodAutoscaler>
}

interface Memory {
  advice: readonly Moment[]
  changes: readonly Moment[]
}

interface State extends AutoscalingParts {
  readonly types: ScaleTypes
  /** Recommendations and scale changes, by autoscaler UID. */
  readonly memories: Map<string, Memory>
}

const rememberedMs = 60 * 60_000

export function autoscalingLoop(parts: AutoscalingParts): Loop {
  const { client, clock, periodMs } = parts
  const state: State = { ...parts, types: new ScaleTypes(client, clock), memories: new Map() }
  const all = () => Array.from(parts.autoscalers.objects(), objectKey)
  return {
    name: 'horizontalpodautoscaling',
    sources: [
      fromInformer(parts.autoscalers, ({ key, object, previous }) => {
        if (object === undefined) state.memories.delete(previous?.metadata.uid ?? '')
        // A change to only the status, for example by this loop, does not trigger a reconcile.
        return sameJson((previous?.spec ?? null) as Json, (object?.spec ?? null) as Json) ? [] : [key]
      }),
      everyOf(periodMs, all),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const autoscaler = state.autoscalers.get(nameOfKey(key))
  if (autoscaler === undefined) return 'done'
  const status = new AutoscalerStatus(autoscaler, timestamp(state.clock.now()))
  await scaleTarget(state, status, signal)
  if (sameJson((autoscaler.status ?? {}) as Json, status.value as Json)) return 'done'
  try {
    await state.client.update(
      kinds.HorizontalPodAutoscaler,
      { ...autoscaler, status: status.value },
      { subresource: 'status', signal },
    )
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
  return 'done'
}

/** The object to scale: its type, which has a scale subresource, and the Scale object as last read. */
interface Target {
  readonly type: ResourceType<Scale & ApiObject>
  readonly scale: Scale & ApiObject
}

async function scaleTarget(state: State, status: AutoscalerStatus, signal: AbortSignal): Promise<void> {
  const target = await targetOf(state, status, signal)
  if (target === undefined) return
  const current = target.scale.spec?.replicas ?? 0
  status.set({ currentReplicas: current })
  const decision = await decide(state, status, { target, signal })
  if (decision === undefined) return
  status.set({ desiredReplicas: decision.replicas })
  if (decision.replicas !== current) await rescale(state, status, { target, decision, signal })
}

async function targetOf(state: State, status: AutoscalerStatus, signal: AbortSignal): Promise<Target | undefined> {
  const { metadata, spec } = status.autoscaler
  const { name = '', ...reference } = spec?.scaleTargetRef ?? {}
  try {
    const scaleType = await state.types.typeOf(reference, signal)
    if (scaleType === undefined) throw new Error(`no matches for kind "${reference.kind}" in "${reference.apiVersion}"`)
    const type = subresource<Scale & ApiObject>(scaleType, 'scale')
    const scale = await state.client.get(type, { namespace: metadata.namespace ?? '', name }, { signal })
    const message = "the HPA controller was able to get the target's current scale"
    status.condition('AbleToScale', 'True', { reason: 'SucceededGetScale', message })
    return { type, scale }
  } catch (error) {
    const reason = 'FailedGetScale'
    const message = `the HPA controller was unable to get the target's current scale: ${messageOf(error)}`
    status.condition('AbleToScale', 'False', { reason, message })
    state.recorder.record(status.autoscaler, { type: 'Warning', reason, message: messageOf(error) })
    return undefined
  }
}

interface Decision {
  readonly replicas: number
  readonly why: string
}

async function decide(
  state: State,
  status: AutoscalerStatus,
  { target, signal }: { readonly target: Target; readonly signal: AbortSignal },
): Promise<Decision | undefined> {
  const { minReplicas: min = 1, maxReplicas: max = 1 } = status.autoscaler.spec ?? {}
  const current = target.scale.spec?.replicas ?? 0
  if (current === 0 && min !== 0) {
    const message = 'scaling is disabled since the replica count of the target is zero'
    status.condition('ScalingActive', 'False', { reason: 'ScalingDisabled', message })
    return { replicas: 0, why: '' }
  }
  if (current > max) return { replicas: max, why: 'Current number of replicas above Spec.MaxReplicas' }
  if (current < min) return { replicas: min, why: 'Current number of replicas below Spec.MinReplicas' }
  const advice = await adviceFor(state, status, { target, signal })
  if (advice === undefined) return undefined
  const limited = limit(state, status, { advised: advice.replicas, current })
  const why = limited.replicas > current ? `${advice.metric} above target` : 'All metrics below target'
  return { replicas: limited.replicas, why }
}

async function adviceFor(
  state: State,
  status: AutoscalerStatus,
  { target, signal }: { readonly target: Target; readonly signal: AbortSignal },
): Promise<MetricAdvice | undefined> {
  const { client, vendor, clock, tolerance, types } = state
  const { autoscaler } = status
  const { namespace = '' } = autoscaler.metadata
  const labelSelector = target.scale.status?.selector ?? ''
  const api = new MetricsApi({ client, vendor, types, namespace, podSelector: labelSelector, signal })
  try {
    if (labelSelector === '') throw new MetricError('InvalidSelector', "the HPA target's scale is missing a selector")
    const advice = await adviceOf(autoscaler, {
      replicas: target.scale.spec?.replicas ?? 0,
      tolerance: toleranceOf(autoscaler, tolerance),
      now: clock.now(),
      api,
      listPods: async () => (await client.list<Pod>(kinds.Pod, { namespace, labelSelector, signal })).items,
    })
    const message = `the HPA was able to successfully calculate a replica count from ${advice.metric}`
    status.condition('ScalingActive', 'True', { reason: 'ValidMetricFound', message })
    status.set({ currentMetrics: [...advice.currentMetrics] })
    return advice
  } catch (error) {
    const reason = error instanceof MetricError ? error.reason : 'FailedGetResourceMetric'
    const message = `the HPA was unable to compute the replica count: ${messageOf(error)}`
    status.condition('ScalingActive', 'False', { reason, message })
    state.recorder.record(autoscaler, { type: 'Warning', reason, message: messageOf(error) })
    return undefined
  }
}

/** Returns the tolerance in the autoscaler's behavior, or the default tolerance. */
function toleranceOf({ spec }: HorizontalPodAutoscaler, otherwise: number): Tolerance {
  const of = (rules: { readonly tolerance?: unknown } | undefined) =>
    numberOf(rules?.tolerance === undefined ? undefined : String(rules.tolerance)) ?? otherwise
  return { up: of(spec?.behavior?.scaleUp), down: of(spec?.behavior?.scaleDown) }
}

/** Limits how far the number of replicas may move toward the recommendation in one step. */
function limit(
  state: State,
  status: AutoscalerStatus,
  { advised, current }: { readonly advised: number; readonly current: number },
): LimitAnswer {
  const { spec = {}, metadata } = status.autoscaler
  const { minReplicas: min = 1, maxReplicas: max = 1, behavior } = spec
  const now = state.clock.now()
  const memory = memoryOf(state, metadata.uid ?? '')
  const { downscaleWindowMs } = state
  const answer = limitReplicas({ current, advised, min, max, behavior, ...memory, downscaleWindowMs, now })
  memory.advice = [...memory.advice, { at: now, replicas: advised }]
  const ready = answer.isStabilized
    ? {
        reason: 'ScaleDownStabilized',
        message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
      }
    : { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
  status.condition('AbleToScale', 'True', ready)
  if (answer.limitedBy === undefined) {
    const message = 'the desired count is within the acceptable range'
    status.condition('ScalingLimited', 'False', { reason: 'DesiredWithinRange', message })
  } else {
    const message = `the desired replica count is limited to ${answer.replicas}`
    status.condition('ScalingLimited', 'True', { reason: answer.limitedBy, message })
  }
  return answer
}

function memoryOf({ memories, clock }: State, uid: string): Memory {
  const scalingMemory = memories.get(uid) ?? { advice: [], changes: [] }
  const isRecent = ({ at }: Moment) => at > clock.now() - rememberedMs
  const memory = { advice: scalingMemory.advice.filter(isRecent), changes: scalingMemory.changes.filter(isRecent) }
  memories.set(uid, memory)
  return memory
}

async function rescale(
  state: State,
  status: AutoscalerStatus,
  { target: { type, scale }, decision, signal }: { target: Target; decision: Decision; signal: AbortSignal },
): Promise<void> {
  const { client, recorder, clock } = state
  const { replicas, why } = decision
  const { autoscaler } = status
  try {
    await client.update(type, { ...scale, spec: { ...scale.spec, replicas } }, { signal })
  } catch (error) {
    const message = `the HPA controller was unable to update the target scale: ${messageOf(error)}`
    status.condition('AbleToScale', 'False', { reason: 'FailedUpdateScale', message })
    const text = `New size: ${replicas}; reason: ${why}; error: ${messageOf(error)}`
    return recorder.record(autoscaler, { type: 'Warning', reason: 'FailedRescale', message: text })
  }
  const memory = memoryOf(state, autoscaler.metadata.uid ?? '')
  memory.changes = [...memory.changes, { at: clock.now(), replicas: replicas - (scale.spec?.replicas ?? 0) }]
  const message = `the HPA controller was able to update the target scale to ${replicas}`
  status.condition('AbleToScale', 'True', { reason: 'SucceededRescale', message })
  status.set({ lastScaleTime: timestamp(clock.now()) })
  const text = `New size: ${replicas}; reason: ${why}`
  recorder.record(autoscaler, { type: 'Normal', reason: 'SuccessfulRescale', message: text })
}
