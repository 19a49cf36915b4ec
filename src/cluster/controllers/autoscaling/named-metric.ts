/**
 * Recommends a number of replicas from named metrics of the pods (Pods), of one object (Object) or of an external
 * system (External). The target is a total value or a value per pod.
 */

import type {
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
} from '../../../api/kinds/autoscaling/metrics.ts'
import { selectorText } from '../../../api/selectors/selector-text.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { isReady } from '../workloads/pod-state.ts'
import { MetricError, type MetricResult, type MetricSources, quantityOf } from './metric-result.ts'
import { isTolerated, numberOf, replicasFor } from './resource-usage.ts'

export async function podsMetric(
  { metric = {}, target = {} }: NonNullable<MetricSpec['pods']>,
  sources: MetricSources,
): Promise<MetricResult> {
  const { replicas, tolerance, now, api } = sources
  return await reporting('FailedGetPodsMetric', 'failed to get pods metric value', async () => {
    const usage = await api.ofPods(metric)
    if (usage.size === 0) throw new Error('no metrics returned from custom metrics API')
    const average = goalOf(target.averageValue)
    const pods = await sources.listPods()
    const answer = replicasFor({ pods, usage, resource: '', target: { average }, replicas, tolerance, now })
    const current = { averageValue: quantityOf(answer.average) }
    const status = { type: 'Pods', pods: { metric, current } } as MetricStatus
    return { name: `pods metric ${metric.name}`, replicas: answer.replicas, status }
  })
}

export async function objectMetric(
  { metric = {}, target = {}, describedObject = {} }: NonNullable<MetricSpec['object']>,
  sources: MetricSources,
): Promise<MetricResult> {
  return await reporting('FailedGetObjectMetric', 'failed to get object metric value', async () => {
    const value = await sources.api.ofObject(metric, describedObject)
    const { replicas, current } = await answerFor(value, target, sources)
    const status = { type: 'Object', object: { metric, describedObject, current } } as MetricStatus
    return { name: `${describedObject.kind} metric ${metric.name}`, replicas, status }
  })
}

export async function externalMetric(
  { metric = {}, target = {} }: NonNullable<MetricSpec['external']>,
  sources: MetricSources,
): Promise<MetricResult> {
  return await reporting('FailedGetExternalMetric', `failed to get external metric ${metric.name}`, async () => {
    const value = await sources.api.external(metric)
    const { replicas, current } = await answerFor(value, target, sources)
    const status = { type: 'External', external: { metric, current } } as MetricStatus
    return { name: `external metric ${metricLabel(metric)}`, replicas, status }
  })
}

function metricLabel({ name = '', selector = {} }: MetricIdentifier): string {
  const text = selectorText(selector)
  return text === '' ? name : `${name}(${text})`
}

async function reporting<T>(reason: string, what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new MetricError(reason, `${what}: ${messageOf(error)}`)
  }
}

/** Returns the recommendation for one value by comparing it with a total target or a target per pod. */
async function answerFor(value: number, target: MetricTarget, sources: MetricSources) {
  if (target.type === 'AverageValue') {
    const replicas = replicasPerPod(value, goalOf(target.averageValue), sources)
    return { replicas, current: { averageValue: quantityOf(value / Math.max(1, sources.replicas)) } }
  }
  const replicas = await replicasInAll(value / goalOf(target.value), sources)
  return { replicas, current: { value: quantityOf(value) } }
}

function replicasPerPod(value: number, average: number, { replicas, tolerance }: MetricSources): number {
  const ratio = value / (average * replicas)
  return isTolerated(ratio, tolerance) ? replicas : Math.ceil(value / average)
}

/**
 * Returns the new number of replicas. Applies the ratio only to the ready pods, because other pods do not share the
 * load yet.
 */
async function replicasInAll(ratio: number, { replicas, tolerance, listPods }: MetricSources): Promise<number> {
  if (replicas === 0) return Math.ceil(ratio)
  if (isTolerated(ratio, tolerance)) return replicas
  const pods = await listPods()
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length
  return Math.ceil(ratio * ready)
}

function goalOf(value: unknown): number {
  const goal = numberOf(value === undefined ? undefined : String(value))
  if (goal === undefined || !(goal > 0)) throw new Error('the target has no value above 0')
  return goal
}
