/**
 * Scale: how many replicas something has and shall have. It is a view of others' objects and is stored nowhere itself.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const spec = s.object(
  { replicas: field(1, s.int32(), { doc: 'The desired number of replicas.' }) },
  { name: 'ScaleSpec', doc: 'How many replicas are wanted.' },
)

const status = s.object(
  {
    replicas: field(1, s.int32(), { zero: 'write', published: 'required', doc: 'How many there are.' }),
    selector: field(2, s.string(), { doc: 'Which pods count, as a query writes it.' }),
  },
  { name: 'ScaleStatus', doc: 'How many replicas there are.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'How many replicas are wanted.' }),
  status: field(3, status, { zero: 'write', doc: 'How many there are. Read only.' }),
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
  doc: 'The actual and the desired number of replicas of an object.',
  fields,
  life: {
    virtual: true,
  },
})
