/**
 * A Scale contains the desired and the observed number of replicas of an object. Scale is the type of the `scale`
 * subresource and is never stored.
 */
import { ageColumn, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { countColumn } from '../pod-templates.ts'

const spec = s.object(
  { replicas: field(1, s.int32(), { doc: 'Desired number of replicas.' }) },
  { name: 'ScaleSpec', doc: 'Desired scale of a workload.' },
)

const status = s.object(
  {
    replicas: field(1, s.int32(), { zeroValue: 'write', published: 'required', doc: 'Observed number of replicas.' }),
    selector: field(2, s.string(), {
      doc: "Label selector for the workload's pods, in string form.",
    }),
  },
  { name: 'ScaleStatus', doc: 'Observed scale of a workload.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired scale of the workload.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed scale of the workload. Read-only.' }),
}

export type Scale = ObjectOf<typeof fields>

export const scale = defineKind({
  names: {
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    plural: 'scales',
    scope: 'Namespaced',
  },
  doc: 'Desired and observed number of replicas of a workload.',
  fields,
  lifecycle: {
    virtual: true,
  },
  views: {
    columns: [
      { ...nameColumn, format: '' },
      countColumn('Desired', 'Desired number of replicas.', ({ spec }: Scale) => spec?.replicas),
      countColumn('Available', 'Observed number of replicas.', ({ status }: Scale) => status?.replicas),
      ageColumn,
    ],
  },
})
