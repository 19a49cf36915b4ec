/** Provides the variables of metric expressions for a node. All measurements come from a single usage reading. */
import { CelError } from '../../../api/cel/values.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { asJson } from '../../../api/model/object.ts'
import type { NodeUsage, PodUsage } from '../../node-port/runtime.ts'
import { containerSubject, type Measurements, objectSubject } from './expression-functions.ts'
import type { MetricSubjects } from './metric-text.ts'

export interface MeasuredNode {
  readonly node: Node | undefined
  readonly pods: readonly Pod[]
  readonly usage: NodeUsage
  readonly now: number
}

/** Returns the variables available in each dimension. */
export function metricSubjects({ node, pods, usage, now }: MeasuredNode): MetricSubjects {
  const none = containerSubject({}, now)
  const byUid = new Map(usage.pods.map((each) => [each.uid, each]))
  const measured = objectSubject(asJson(node ?? {}), now, measurementsOf(pods, usage.pods))
  const scopes = pods.map((pod) => {
    const used = byUid.get(pod.metadata.uid ?? '')
    const subject = objectSubject(asJson(pod), now, measurementsOf([pod], used === undefined ? [] : [used]))
    return { now, node: measured, pod: subject, container: none, spec: pod.spec }
  })
  return {
    node: { now, node: measured, pod: none, container: none },
    pods: scopes,
    containers: scopes.flatMap(({ spec, ...scope }) =>
      (spec?.containers ?? []).map((container) => ({ ...scope, container: containerSubject(asJson(container), now) })),
    ),
  }
}

function measurementsOf(pods: readonly Pod[], used: readonly PodUsage[]): Measurements {
  const statuses = (name: string | undefined) =>
    pods.flatMap(({ status }) =>
      (status?.containerStatuses ?? []).filter((each) => name === undefined || each.name === name),
    )
  const sum = (name: string | undefined, field: 'cores' | 'coreSeconds' | 'memoryBytes') => {
    let total = 0
    for (const { containers } of used)
      for (const each of containers) if (name === undefined || each.name === name) total += each[field]
    return total
  }
  return {
    usage: (resource, name) => {
      if (resource !== 'cpu' && resource !== 'memory') throw new CelError('Usage supports only cpu and memory')
      return sum(name, resource === 'cpu' ? 'cores' : 'memoryBytes')
    },
    cumulativeUsage: (resource, name) => {
      if (resource !== 'cpu') throw new CelError('CumulativeUsage supports only cpu')
      return sum(name, 'coreSeconds')
    },
    startedContainers: () =>
      statuses(undefined).reduce(
        (total, { state, restartCount = 0 }) => total + restartCount + (state?.waiting === undefined ? 1 : 0),
        0,
      ),
    isReady: (name) => {
      const found = statuses(name)
      return found.length > 0 && found.every(({ ready }) => ready)
    },
    restartCount: (name) => statuses(name).reduce((total, { restartCount = 0 }) => total + restartCount, 0),
  }
}
