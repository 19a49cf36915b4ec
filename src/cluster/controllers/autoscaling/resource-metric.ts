/**
 * Recommends a number of replicas from a metric of type Resource: the usage of pods, compared with their requests or an
 * average value.
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

export async function resourceMetric(resource: Resource, sources: MetricSources): Promise<MetricResult> {
  const metrics = await readMetrics(resource.name ?? '', sources)
  const question = questionOf(resource, sources)
  try {
    const usage = usageOf(metrics, question.resource)
    const answer = replicasFor({ ...question, pods: await sources.listPods(), usage })
    const byUtilization = 'utilization' in question.target
    const name = `${question.resource} resource${byUtilization ? ' utilization (percentage of request)' : ''}`
    return { name, replicas: answer.replicas, status: statusOf(resource, answer) }
  } catch (error) {
    throw new MetricError('FailedGetResourceMetric', `failed to get ${resource.name} utilization: ${messageOf(error)}`)
  }
}

async function readMetrics(resource: string, { api }: MetricSources): Promise<readonly PodMetrics[]> {
  const why = `unable to get metrics for resource ${resource}`
  const reason = 'FailedGetResourceMetric'
  const metrics = await api.usage().catch((error: unknown) => {
    throw new MetricError(reason, `${why}: ${messageOf(error)}`)
  })
  if (metrics.length === 0) throw new MetricError(reason, `${why}: no metrics returned from resource metrics API`)
  return metrics
}

function questionOf(
  { name = '', target = {} }: Resource,
  { replicas, tolerance, now }: MetricSources,
): Omit<UsageQuestion, 'pods' | 'usage'> {
  const average = numberOf(target.averageValue === undefined ? undefined : String(target.averageValue))
  const targetValue = average === undefined ? { utilization: target.averageUtilization ?? 80 } : { average }
  return { resource: name, target: targetValue, replicas, tolerance, now }
}

function statusOf({ name = '' }: Resource, { average, utilization }: UsageAnswer): MetricStatus {
  const averageValue = quantityOf(average, name === 'cpu' ? 'decimal' : 'binary')
  const current = { averageValue, ...(utilization === undefined ? {} : { averageUtilization: utilization }) }
  return { type: 'Resource', resource: { name, current } } as MetricStatus
}
