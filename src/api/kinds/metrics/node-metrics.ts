/**
 * NodeMetrics is the resource usage of a node. The server requests the usage from the node's agent on each read
 * (`apiserver/resources/resource-metrics.ts`) and never stores it.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { measurementFields, sumOfUsage, usage } from './usage.ts'

const fields = {
  ...measurementFields,
  usage: field(4, usage, { zeroValue: 'write', doc: 'Resources that the node uses, such as `cpu` and `memory`.' }),
}

export type NodeMetrics = ObjectOf<typeof fields>

const columns: readonly Column<NodeMetrics>[] = [
  nameColumn,
  column('CPU', 'CPU usage.', ({ usage: used }) => sumOfUsage([used], 'cpu')),
  column('Memory', 'Memory usage.', ({ usage: used }) => sumOfUsage([used], 'memory')),
  column('Window', 'Duration of the measurement.', ({ window = '' }) => window),
]

export const nodeMetrics = defineKind({
  names: { group: 'metrics', version: 'v1beta1', kind: 'NodeMetrics', plural: 'nodes', scope: 'Cluster' },
  doc: 'Resource usage of a node.',
  fields,
  lifecycle: { verbs: ['get', 'list'], virtual: true, jsonOnly: true },
  views: { columns },
})
