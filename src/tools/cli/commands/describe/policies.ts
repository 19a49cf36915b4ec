/** Descriptions of resource quotas, limit ranges, pod disruption budgets, priority classes and autoscalers. */

import type { HorizontalPodAutoscaler } from '../../../../api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import type { LimitRange } from '../../../../api/kinds/core/limit-range.ts'
import type { ResourceQuota } from '../../../../api/kinds/core/resource-quota.ts'
import type { PodDisruptionBudget } from '../../../../api/kinds/policy/pod-disruption-budget.ts'
import type { PriorityClass } from '../../../../api/kinds/scheduling/priority-class.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { conditionsText, head, lines, selectorText, table, timeText } from './parts.ts'

/** Describes a resource quota. `lead` is the indentation of each line. */
export function quotaText({ metadata, status, spec }: ResourceQuota, lead = ''): string {
  const { hard = spec?.hard ?? {}, used = {} } = status ?? {}
  const rows = Object.keys(hard)
    .sort(compareUtf8)
    .map((name) => [name, used[name] ?? '0', hard[name]!])
  const scopes = spec?.scopes?.length ? spec.scopes.join(', ') : undefined
  const first = lines({ Name: metadata.name, Scopes: scopes }, lead)
  return `${first}${table(['Resource', 'Used', 'Hard'], rows, lead)}`
}

export function describeQuota(quota: ResourceQuota): string {
  const text = quotaText(quota)
  return text.replace('\n', `\nNamespace:\t${quota.metadata.namespace}\n`)
}

const limitHeadings = [
  ...['Type', 'Resource', 'Min', 'Max', 'Default Request', 'Default Limit', 'Max Limit/Request Ratio'],
]

export function limitText({ spec }: LimitRange, lead = ''): string {
  const rows = (spec?.limits ?? []).flatMap(({ type = '', ...limits }) => {
    const kinds = [limits.min, limits.max, limits.defaultRequest, limits.default, limits.maxLimitRequestRatio]
    const names = new Set(kinds.flatMap((each) => Object.keys(each ?? {})))
    return [...names].sort(compareUtf8).map((name) => [type, name, ...kinds.map((each) => each?.[name] ?? '-')])
  })
  return table(limitHeadings, rows, lead)
}

export function describeLimits(limits: LimitRange): string {
  const { name, namespace } = limits.metadata
  return `${lines({ Name: name, Namespace: namespace })}${limitText(limits)}`
}

export function describeBudget(budget: PodDisruptionBudget): string {
  const { metadata, spec = {}, status } = budget
  const counts = {
    'Allowed disruptions': status?.disruptionsAllowed ?? 0,
    Current: status?.currentHealthy ?? 0,
    Desired: status?.desiredHealthy ?? 0,
    Total: status?.expectedPods ?? 0,
  }
  return [
    lines({
      Name: metadata.name,
      Namespace: metadata.namespace,
      'Min available': spec.minAvailable,
      'Max unavailable': spec.maxUnavailable,
      Selector: selectorText(spec.selector),
    }),
    `Status:\n${lines(counts, '    ')}`,
  ].join('')
}

export function describePriorityClass(priority: PriorityClass): string {
  return [
    head(priority),
    lines({
      Value: priority.value ?? 0,
      GlobalDefault: priority.globalDefault ?? false,
      PreemptionPolicy: priority.preemptionPolicy,
      Description: priority.description ?? '',
    }),
  ].join('')
}

/**
 * Describes an autoscaler of any API version: shows the fields that all versions share, and the metrics of later
 * versions.
 */
export function describeAutoscaler(scaler: HorizontalPodAutoscaler): string {
  const { metadata, spec = {}, status } = scaler
  const { kind = '', name = '' } = spec.scaleTargetRef ?? {}
  const metrics = (spec.metrics ?? []).map((metric, i) => metricText(metric, status?.currentMetrics?.[i]))
  return [
    head(scaler),
    lines({ CreationTimestamp: timeText(metadata.creationTimestamp), Reference: `${kind}/${name}` }),
    metrics.length === 0 ? '' : `Metrics:\t( current / target )\n${metrics.join('')}`,
    lines({
      'Min replicas': spec.minReplicas ?? '<unset>',
      'Max replicas': spec.maxReplicas ?? 0,
    }),
    behaviorText(spec.behavior),
    lines({ [`${kind} pods`]: `${status?.currentReplicas ?? 0} current / ${status?.desiredReplicas ?? 0} desired` }),
    conditionsText(status?.conditions),
  ].join('')
}

type Metric = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['metrics']>[number]
type CurrentMetric = NonNullable<NonNullable<HorizontalPodAutoscaler['status']>['currentMetrics']>[number]

/**
 * Formats a metric with its current and target values, for example `resource cpu on pods (as a percentage of request):
 * 40% / 80%`.
 */
function metricText(metric: Metric, current: CurrentMetric | undefined): string {
  const line = (title: string, now: Amount | undefined, target: Amount | undefined) =>
    `  ${title}:\t${amountText(now)} / ${amountText(target)}\n`
  const { resource, containerResource, pods, object, external } = metric
  const share = (target: Amount | undefined) =>
    target?.averageUtilization === undefined ? '' : '  (as a percentage of request)'
  if (resource !== undefined)
    return line(
      `resource ${resource.name} on pods${share(resource.target)}`,
      current?.resource?.current,
      resource.target,
    )
  if (containerResource !== undefined) {
    const { name, container, target } = containerResource
    const title = `resource ${name} of container ${container} on pods${share(target)}`
    return line(title, current?.containerResource?.current, target)
  }
  if (pods !== undefined) return line(`"${pods.metric?.name}" on pods`, current?.pods?.current, pods.target)
  if (object !== undefined) {
    const { kind = '', name = '' } = object.describedObject ?? {}
    return line(`"${object.metric?.name}" on ${kind}/${name}`, current?.object?.current, object.target)
  }
  return line(`"${external?.metric?.name}" (external metric)`, current?.external?.current, external?.target)
}

type Behavior = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['behavior']>

function behaviorText(behavior: Behavior | undefined): string {
  if (behavior === undefined) return ''
  const side = (title: string, rules: Behavior['scaleUp']) => {
    if (rules === undefined) return ''
    const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [] } = rules
    const policyLines = policies.map(
      ({ type, value, periodSeconds }) => `      - Type: ${type}\tValue: ${value}\tPeriod: ${periodSeconds} seconds\n`,
    )
    const window = seconds === undefined ? '' : `    Stabilization Window: ${seconds} seconds\n`
    const selection = `    Select Policy: ${selectPolicy ?? 'Max'}\n`
    return `  ${title}:\n${window}${selection}${policyLines.length === 0 ? '' : `    Policies:\n${policyLines.join('')}`}`
  }
  return `Behavior:\n${side('Scale Up', behavior.scaleUp)}${side('Scale Down', behavior.scaleDown)}`
}

type Amount = { averageUtilization?: number; averageValue?: string; value?: string }

/** Formats a target value, which is a percentage such as `80%` or a quantity. */
function amountText(target: Amount | undefined): string {
  if (target?.averageUtilization !== undefined) return `${target.averageUtilization}%`
  return target?.averageValue ?? target?.value ?? '<unknown>'
}
