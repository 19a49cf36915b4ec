/** How many replicas the metrics of an autoscaler call for: the one that calls for most counts. */
import { isNotFound } from '../../client/status-error.ts'
import type { HorizontalPodAutoscaler } from '../../kinds/autoscaling/horizontal-pod-autoscaler.ts'
import type { Pod } from '../../kinds/core/pod.ts'
import { formatQuantity, parseQuantity } from '../../model/quantity.ts'
import { messageOf } from '../workloads/pod-control.ts'
import { type PodMetrics, replicasFor, type UsageAnswer, type UsageQuestion, usageOf } from './resource-usage.ts'

type Metric = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['metrics']>[number]
type SeenMetric = NonNullable<NonNullable<HorizontalPodAutoscaler['status']>['currentMetrics']>[number]
type Resource = NonNullable<Metric['resource']>

/** Why a metric says nothing, as a condition has it. */
export class MetricError extends Error {
  override readonly name = 'MetricError'
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

export interface MetricAdvice {
  readonly replicas: number
  /** The metric that it is by, for people. */
  readonly metric: string
  readonly seen: readonly SeenMetric[]
}

export interface MetricSources {
  readonly replicas: number
  readonly tolerance: number
  readonly now: number
  readonly listPods: () => Promise<readonly Pod[]>
  readonly listMetrics: () => Promise<readonly PodMetrics[]>
}

/** Throws MetricError where no metric says anything, or one does not and the others would take replicas away. */
export async function adviceOf({ spec }: HorizontalPodAutoscaler, sources: MetricSources): Promise<MetricAdvice> {
  const failures: MetricError[] = []
  const seen: SeenMetric[] = []
  let most: { replicas: number; metric: string } | undefined
  for (const metric of spec?.metrics ?? []) {
    try {
      const { name, answer, status } = await adviceOfMetric(metric, sources)
      seen.push(status)
      if (most === undefined || answer.replicas > most.replicas) most = { replicas: answer.replicas, metric: name }
    } catch (error) {
      if (!(error instanceof MetricError)) throw error
      failures.push(error)
    }
  }
  if (most === undefined || (failures.length > 0 && most.replicas < sources.replicas))
    throw failures[0] ?? new MetricError('InvalidMetricSourceType', 'there is no metric to scale by')
  return { ...most, seen }
}

async function adviceOfMetric({ type = '', resource }: Metric, sources: MetricSources) {
  if (type !== 'Resource' || resource === undefined)
    throw new MetricError(`FailedGet${type}Metric`, `metrics of the type ${type} are not read here; Resource is`)
  const metrics = await readMetrics(resource.name ?? '', sources)
  const question = questionOf(resource, sources)
  try {
    const usage = usageOf(metrics, question.resource)
    const answer = replicasFor({ ...question, pods: await sources.listPods(), usage })
    const byUtilization = 'utilization' in question.target
    const name = `${question.resource} resource${byUtilization ? ' utilization (percentage of request)' : ''}`
    return { name, answer, status: statusOf(resource, answer) }
  } catch (error) {
    throw new MetricError('FailedGetResourceMetric', `failed to get ${resource.name} utilization: ${messageOf(error)}`)
  }
}

async function readMetrics(resource: string, { listMetrics }: MetricSources): Promise<readonly PodMetrics[]> {
  const why = `unable to get metrics for resource ${resource}`
  try {
    const metrics = await listMetrics()
    if (metrics.length > 0) return metrics
  } catch (error) {
    const more = isNotFound(error) ? 'the server has no metrics API; register one with an APIService' : messageOf(error)
    throw new MetricError('FailedGetResourceMetric', `${why}: ${more}`)
  }
  throw new MetricError('FailedGetResourceMetric', `${why}: no metrics returned from resource metrics API`)
}

function questionOf(
  { name = '', target = {} }: Resource,
  sources: MetricSources,
): Omit<UsageQuestion, 'pods' | 'usage'> {
  const { replicas, tolerance, now } = sources
  const average = target.averageValue === undefined ? undefined : parseQuantity(String(target.averageValue))
  const wanted =
    average === undefined ? { utilization: target.averageUtilization ?? 80 } : { average: Number(average.nanos) / 1e9 }
  return { resource: name, target: wanted, replicas, tolerance, now }
}

function statusOf({ name = '' }: Resource, { average, utilization }: UsageAnswer): SeenMetric {
  const nanos = BigInt(Math.round(average * 1000)) * 1_000_000n
  const averageValue = formatQuantity({ nanos, form: name === 'cpu' ? 'decimal' : 'binary' })
  const current = { averageValue, ...(utilization === undefined ? {} : { averageUtilization: utilization }) }
  return { type: 'Resource', resource: { name, current } } as SeenMetric
}
