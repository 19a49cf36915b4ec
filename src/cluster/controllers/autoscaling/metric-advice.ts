/** Recommends a number of replicas from the metrics of an autoscaler: the highest number that any metric requires. */
import type { HorizontalPodAutoscaler } from '../../../api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import type { MetricSpec, MetricStatus } from '../../../api/kinds/autoscaling/metrics.ts'
import { MetricError, type MetricResult, type MetricSources } from './metric-result.ts'
import { externalMetric, objectMetric, podsMetric } from './named-metric.ts'
import { containerResourceMetric, resourceMetric } from './resource-metric.ts'

export interface MetricAdvice {
  readonly replicas: number
  /** Name of the metric that required the most replicas, as it appears in messages. */
  readonly metric: string
  readonly currentMetrics: readonly MetricStatus[]
}

/**
 * Returns the recommended number of replicas. Throws MetricError if no metric is available, or if a metric is missing
 * and the other metrics would scale down.
 */
export async function adviceOf({ spec }: HorizontalPodAutoscaler, sources: MetricSources): Promise<MetricAdvice> {
  const failures: MetricError[] = []
  const currentMetrics: MetricStatus[] = []
  let most: { replicas: number; metric: string } | undefined
  for (const metric of spec?.metrics ?? []) {
    try {
      const { name, replicas, status } = await adviceOfMetric(metric, sources)
      currentMetrics.push(status)
      if (most === undefined || replicas > most.replicas) most = { replicas, metric: name }
    } catch (error) {
      if (!(error instanceof MetricError)) throw error
      failures.push(error)
    }
  }
  if (most === undefined || (failures.length > 0 && most.replicas < sources.replicas))
    throw failures[0] ?? new MetricError('InvalidMetricSourceType', 'no metric to scale by is specified')
  return { ...most, currentMetrics }
}

async function adviceOfMetric(metric: MetricSpec, sources: MetricSources): Promise<MetricResult> {
  const { type = '', resource, containerResource, pods, object, external } = metric
  if (type === 'Resource' && resource !== undefined) return await resourceMetric(resource, sources)
  if (type === 'ContainerResource' && containerResource !== undefined)
    return await containerResourceMetric(containerResource, sources)
  if (type === 'Pods' && pods !== undefined) return await podsMetric(pods, sources)
  if (type === 'Object' && object !== undefined) return await objectMetric(object, sources)
  if (type === 'External' && external !== undefined) return await externalMetric(external, sources)
  throw new MetricError(`FailedGet${type}Metric`, `metrics of type ${type} are not supported`)
}
