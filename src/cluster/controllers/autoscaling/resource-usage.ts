/**
 * Computes the resource usage of pods from the metrics API (`metrics` group, v1beta1), and the number of replicas that
 * the usage requires. For pods without metrics, assumes a usage that dampens scaling in both directions.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import { isTerminating } from '../workloads/pod-state.ts'

/** PodMetrics as a metrics server returns them: the usage of each container in a pod. */
export interface PodMetrics {
  readonly metadata: { readonly name?: string }
  readonly timestamp?: string
  readonly window?: string
  readonly containers?: readonly {
    readonly name?: string
    readonly usage?: { readonly [resource: string]: string }
  }[]
}

/** Returns the usage of a resource by pod name. Omits pods that have a container without a measurement. */
export function usageOf(metrics: readonly PodMetrics[], resource: string, container?: string): Map<string, number> {
  const usage = new Map<string, number>()
  for (const { metadata, containers = [] } of metrics) {
    const measured = container === undefined ? containers : containers.filter(({ name }) => name === container)
    const values = measured.map((each) => amountOf(each.usage, resource))
    if (values.length === 0 || values.includes(undefined)) continue
    usage.set(
      metadata.name ?? '',
      values.reduce((sum: number, value) => sum + value!, 0),
    )
  }
  return usage
}

/** Returns the amount of a resource. Ignores inherited properties, because a metric name can be any string. */
function amountOf(amounts: { readonly [resource: string]: string } = {}, resource: string): number | undefined {
  return Object.hasOwn(amounts, resource) ? numberOf(amounts[resource]) : undefined
}

/** Parses a quantity. Returns undefined if the text is not a quantity. */
export function numberOf(text: string | undefined): number | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text)
  return quantity === undefined ? undefined : Number(quantity.nanos) / 1e9
}

/** Returns the sum of the containers' requests, or undefined if a container has no request. */
function requestOf({ spec }: Pod, resource: string, container?: string): number | undefined {
  const containers = spec?.containers ?? []
  const counted = container === undefined ? containers : containers.filter(({ name }) => name === container)
  const values = counted.map(({ resources }) => amountOf(resources?.requests, resource))
  return values.includes(undefined) ? undefined : values.reduce((sum: number, value) => sum + value!, 0)
}

/** Relative deviations above (`up`) and below (`down`) the target that are tolerated without scaling. */
export interface Tolerance {
  readonly up: number
  readonly down: number
}

export function isTolerated(ratio: number, { up, down }: Tolerance): boolean {
  return ratio >= 1 - down && ratio <= 1 + up
}

/** The input for computing the number of replicas: pods, their current usage and the target usage. */
export interface UsageQuestion {
  readonly pods: readonly Pod[]
  readonly usage: ReadonlyMap<string, number>
  readonly resource: string
  readonly container?: string
  /** Target usage: a percentage of the requests, or an average value per pod. */
  readonly target: { readonly utilization: number } | { readonly average: number }
  readonly replicas: number
  readonly tolerance: Tolerance
  readonly now: number
}

export interface UsageAnswer {
  readonly replicas: number
  /** Observed usage: `utilization` as a percentage of the requests, and `average` as the average amount per pod. */
  readonly utilization?: number
  readonly average: number
}

/** Returns the number of replicas. Throws if the metrics are not sufficient to compute the number. */
export function replicasFor(question: UsageQuestion): UsageAnswer {
  const { pods, replicas, tolerance } = question
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  const { ready, missing, unready } = groupPods(question)
  const measured = new Map([...question.usage].filter(([name]) => ready.has(name)))
  if (measured.size === 0) throw new Error('did not receive metrics for any ready pods')
  const first = ratioOf(question, measured)
  const currentUsage = {
    average: first.average,
    ...(first.utilization === undefined ? {} : { utilization: first.utilization }),
  }
  const stay = { replicas, ...currentUsage }
  const countsUnready = unready.length > 0 && first.ratio > 1
  if (!countsUnready && missing.length === 0)
    return isTolerated(first.ratio, tolerance)
      ? stay
      : { ...currentUsage, replicas: Math.ceil(first.ratio * ready.size) }
  for (const pod of missing) measured.set(pod.metadata.name ?? '', first.ratio < 1 ? fullUse(question, pod) : 0)
  if (countsUnready) for (const pod of unready) measured.set(pod.metadata.name ?? '', 0)
  const { ratio } = ratioOf(question, measured)
  if (isTolerated(ratio, tolerance) || first.ratio < 1 !== ratio < 1) return stay
  const next = Math.ceil(ratio * measured.size)
  return ratio < 1 === next > replicas && next !== replicas ? stay : { ...currentUsage, replicas: next }
}

/** Returns the assumed usage of a pod without metrics: the target average, or the pod's full request. */
function fullUse({ target, resource, container }: UsageQuestion, pod: Pod): number {
  return 'average' in target ? target.average : (requestOf(pod, resource, container) ?? 0)
}

interface Ratio {
  readonly ratio: number
  readonly utilization?: number
  readonly average: number
}

function ratioOf({ pods, target, resource, container }: UsageQuestion, measured: ReadonlyMap<string, number>): Ratio {
  const used = [...measured.values()].reduce((sum, value) => sum + value, 0)
  const average = used / measured.size
  if ('average' in target) return { ratio: average / target.average, average }
  let requested = 0
  for (const pod of pods) {
    if (!measured.has(pod.metadata.name ?? '')) continue
    const request = requestOf(pod, resource, container)
    if (request === undefined) throw new Error(`missing request for ${resource}`)
    requested += request
  }
  if (requested === 0) throw new Error('no metrics returned matched known pods')
  const utilization = Math.floor((used * 100) / requested)
  return { ratio: utilization / target.utilization, utilization, average }
}

interface PodGroups {
  readonly ready: ReadonlySet<string>
  readonly missing: readonly Pod[]
  readonly unready: readonly Pod[]
}

function groupPods(question: UsageQuestion): PodGroups {
  const ready = new Set<string>()
  const missing: Pod[] = []
  const unready: Pod[] = []
  for (const pod of question.pods) {
    const { name = '' } = pod.metadata
    const phase = pod.status?.phase
    if (isTerminating(pod) || phase === 'Failed') continue
    if (phase === 'Pending') unready.push(pod)
    else if (!question.usage.has(name)) missing.push(pod)
    else if (question.resource === 'cpu' && isStarting(pod, question.now)) unready.push(pod)
    else ready.add(name)
  }
  return { ready, missing, unready }
}

const initializationMs = 5 * 60_000
const initialReadinessMs = 30_000

/** Whether a pod's CPU usage may still be inflated by its startup. */
function isStarting(pod: Pod, now: number): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')
  const started = Date.parse(pod.status?.startTime ?? '')
  if (ready === undefined || Number.isNaN(started)) return true
  if (ready.status !== 'False') return false
  if (started + initializationMs > now) return true
  return started + initialReadinessMs > Date.parse(ready.lastTransitionTime ?? '')
}
