/**
 * Formats the current and target values of metrics for a table, as in `40%/80%, <unknown>/1k (avg) + 1 more...`. Since
 * 1.29, the name of a resource precedes its values: `cpu: 40%/80%`.
 */
import { type MetricSpec, type MetricStatus, type MetricTarget, sourceField } from './metrics.ts'

const maxShownTargets = 2

/** Formats the current and the target value of one metric. */
export type TargetText = (spec: MetricSpec, status: MetricStatus | undefined) => string

export function describeTargets(
  specs: readonly MetricSpec[],
  statuses: readonly MetricStatus[],
  describe: TargetText,
): string {
  if (specs.length === 0) return '<none>'
  const texts = specs.slice(0, maxShownTargets).map((spec, i) => describe(spec, statuses[i]))
  const rest = specs.length - maxShownTargets
  return rest > 0 ? `${texts.join(', ')} + ${rest} more...` : texts.join(', ')
}

export function describeNamedTarget(spec: MetricSpec, status: MetricStatus | undefined): string {
  const source = sourceField(spec.type)
  const text = describeTarget(spec, status)
  return source === 'resource' || source === 'containerResource' ? `${spec[source]?.name ?? ''}: ${text}` : text
}

export function describeTarget(spec: MetricSpec, status: MetricStatus | undefined): string {
  const source = sourceField(spec.type)
  if (source === undefined) return '<unknown type>'
  const target = spec[source]?.target ?? {}
  const current = status?.[source]?.current ?? {}
  switch (source) {
    case 'pods':
      return pair(current.averageValue, target.averageValue)
    case 'resource':
    case 'containerResource':
      return target.averageValue === undefined
        ? pair(percent(current.averageUtilization), percent(target.averageUtilization), '<auto>')
        : pair(current.averageValue, target.averageValue)
    default:
      return describeValue(current, target)
  }
}

function describeValue(current: MetricTarget, target: MetricTarget): string {
  if (target.averageValue === undefined) return pair(current.value, target.value)
  return `${pair(current.averageValue, target.averageValue)} (avg)`
}

function percent(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${value}%`
}

function pair(current: string | undefined, target: string | undefined, unset = '0'): string {
  return `${current ?? '<unknown>'}/${target ?? unset}`
}
