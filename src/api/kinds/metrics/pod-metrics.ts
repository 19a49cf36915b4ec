/**
 * PodMetrics is the resource usage of a pod's containers. The server requests the usage from the agent of the pod's
 * node on each read (`apiserver/resources/resource-metrics.ts`) and never stores it.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byName } from '../list-keys.ts'
import { measurementFields, sumOfUsage, usage } from './usage.ts'

const container = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the container.' }),
    usage: field(2, usage, { zeroValue: 'write', doc: 'Resources that the container uses.' }),
  },
  { name: 'ContainerMetrics', doc: 'Resource usage of a container.' },
)

const fields = {
  ...measurementFields,
  containers: field(4, s.list(container, byName), { zeroValue: 'write', doc: 'Resource usage of each container.' }),
}

export type PodMetrics = ObjectOf<typeof fields>

const columns: readonly Column<PodMetrics>[] = [
  nameColumn,
  column('CPU', 'CPU usage.', (pod) => sumOfUsage(usagesOf(pod), 'cpu')),
  column('Memory', 'Memory usage.', (pod) => sumOfUsage(usagesOf(pod), 'memory')),
  column('Window', 'Duration of the measurement.', ({ window = '' }) => window),
]

function usagesOf({ containers = [] }: PodMetrics) {
  return containers.map((each) => each.usage)
}

export const podMetrics = defineKind({
  names: { group: 'metrics', version: 'v1beta1', kind: 'PodMetrics', plural: 'pods', scope: 'Namespaced' },
  doc: 'Resource usage of the containers of a pod.',
  fields,
  lifecycle: { verbs: ['get', 'list'], virtual: true, jsonOnly: true },
  views: { columns },
})
