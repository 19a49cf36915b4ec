/**
 * Recommends a number of replicas from Resource and ContainerResource metrics: the usage of the pods, compared with
 * their requests or with an average value.
 */

import type { MetricSpec, MetricStatus } from '../../../api/kinds/autoscaling/metrics.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { MetricError, type MetricResult, type MetricSources, quantityOf } from './metric-result.ts'
import {
  numberOf,
  type PodMetrics,
  replicasFor,
  type UsageAnswer,
  type UsageQuestion,
  usageOf,
} from './resource-usage.ts'

type Resource = NonNullable<MetricSpec['resource']>
type ContainerResource = NonNullable<MetricSpec['containerResource']>

export async function resourceMetric(resource: Resource, sources: MetricSources): Promise<MetricResult> {
  const { name, answer } = await usageMetric(resource, sources, 'FailedGetResourceMetric')
  const status = { type: 'Resource', resource: { name: resource.name, current: currentOf(resource, answer) } }
  return { name, replicas: answer.replicas, status: status as MetricStatus }
}

/** Recommends replicas like `resourceMetric`, but considers only one container of each pod. */
export async function containerResourceMetric(
  { container = '', ...resource }: ContainerResource,
  sources: MetricSources,
): Promise<MetricResult> {
  const reason = 'FailedGetContainerResourceMetric'
  const { name, answer } = await usageMetric({ ...resource, container }, sources, reason)
  const current = currentOf(resource, answer)
  const status = { type: 'ContainerResource', containerResource: { name: resource.name, container, current } }
  return { name, replicas: answer.replicas, status: status as MetricStatus }
}

async function usageMetric(
  resource: Resource & { readonly container?: string },
  sources: MetricSources,
  reason: string,
): Promise<{ readonly name: string; readonly answer: UsageAnswer }> {
  const metrics = await readMetrics({ resource: resource.name ?? '', reason }, sources)
  const question = questionOf(resource, sources)
  try {
    const usage = usageOf(metrics, question.resource, question.container)
    const answer = replicasFor({ ...question, pods: await sources.listPods(), usage })
    const byUtilization = 'utilization' in question.target
    const part = question.container === undefined ? 'resource' : 'container resource'
    return {
      name: `${question.resource} ${part}${byUtilization ? ' utilization (percentage of request)' : ''}`,
      answer,
    }
  } catch (error) {
    throw new MetricError(reason, `failed to get ${resource.name} utilization: ${messageOf(error)}`)
  }
}

async function readMetrics(
  { resource, reason }: { readonly resource: string; readonly reason: string },
  { api }: MetricSources,
): Promise<readonly PodMetrics[]> {
  const why = `unable to get metrics for resource ${resource}`
  const metrics = await api.usage().catch((error: unknown) => {
    throw new MetricError(reason, `${why}: ${messageOf(error)}`)
  })
  if (metrics.length === 0) throw new MetricError(reason, `${why}: no metrics returned from resource metrics API`)
  return metrics
}

function questionOf(
  { name = '', target = {}, container }: Resource & { readonly container?: string },
  { replicas, tolerance, now }: MetricSources,
): Omit<UsageQuestion, 'pods' | 'usage'> {
  const average = numberOf(target.averageValue === undefined ? undefined : String(target.averageValue))
  const targetValue = average === undefined ? { utilization: target.averageUtilization ?? 80 } : { average }
  const part = container === undefined ? {} : { container }
  return { resource: name, ...part, target: targetValue, replicas, tolerance, now }
}

function currentOf({ name = '' }: Resource, { average, utilization }: UsageAnswer) {
  const averageValue = quantityOf(average, name === 'cpu' ? 'decimal' : 'binary')
  return { averageValue, ...(utilization === undefined ? {} : { averageUtilization: utilization }) }
}
