/**
 * AdmissionControl: a built-in admission control, and whether it runs on the server that answers. It is shown
 * (`apiserver/resources/admission-controls.ts`) and never stored.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const spec = s.object(
  {
    position: field(1, s.int32(), { doc: 'The place of the control in the order in which controls run.' }),
    byDefault: field(2, s.boolean(), { zero: 'write', doc: 'Whether the control runs unless a flag disables it.' }),
  },
  { name: 'AdmissionControlSpec', doc: 'The control.' },
)

const status = s.object(
  {
    enabled: field(1, s.boolean(), { zero: 'write', doc: 'Whether the control runs on this server.' }),
    steps: field(2, s.list(s.string()), {
      doc: 'The steps that an enabled control takes part in: `mutate`, `validate`.',
    }),
  },
  { name: 'AdmissionControlStatus', doc: 'The state of a control on one server.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The control.' }),
  status: field(3, status, { zero: 'write', doc: 'Its state on the server that answered.' }),
}

export type AdmissionControl = ObjectOf<typeof fields>

const columns: readonly Column<AdmissionControl>[] = [
  nameColumn,
  column('Enabled', 'Whether the control runs.', (object) => String(object.status?.enabled ?? false)),
  column('Default', 'Whether it runs by default.', (object) => String(object.spec?.byDefault ?? false)),
  column('Steps', 'mutate, validate or both.', (object) => (object.status?.steps ?? []).join(',')),
]

export const admissionControl = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'AdmissionControl', plural: 'admissioncontrols', scope: 'Cluster' },
  doc: 'A built-in admission control, and whether it runs on the server that answers.',
  fields,
  life: { virtual: true, verbs: ['get', 'list'] },
  views: { columns },
})
