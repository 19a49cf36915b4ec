/**
 * An AdmissionControl represents a built-in admission plugin and its state on the responding server, including whether
 * it is enabled. `apiserver/resources/admission-controls.ts` computes it on request. It is never stored.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const spec = s.object(
  {
    position: field(1, s.int32(), { doc: 'Position of the plugin in the execution order.' }),
    byDefault: field(2, s.boolean(), { zeroValue: 'write', doc: 'Whether the plugin is enabled by default.' }),
  },
  { name: 'AdmissionControlSpec', doc: 'Properties of an admission plugin.' },
)

const status = s.object(
  {
    enabled: field(1, s.boolean(), { zeroValue: 'write', doc: 'Whether the plugin is enabled on this server.' }),
    steps: field(2, s.list(s.string()), {
      doc: 'Admission phases in which the plugin runs if it is enabled: `mutate`, `validate` or both.',
    }),
  },
  { name: 'AdmissionControlStatus', doc: 'State of an admission plugin on one server.' },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    doc: 'Position of the plugin in the execution order, and whether the plugin is enabled by default.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'State of the plugin on the responding server.' }),
}

export type AdmissionControl = ObjectOf<typeof fields>

const columns: readonly Column<AdmissionControl>[] = [
  nameColumn,
  column('Enabled', 'Whether the plugin is enabled.', (object) => String(object.status?.enabled ?? false)),
  column('Default', 'Whether the plugin is enabled by default.', (object) => String(object.spec?.byDefault ?? false)),
  column('Steps', 'Admission phases in which the plugin runs: `mutate`, `validate` or both.', (object) =>
    (object.status?.steps ?? []).join(','),
  ),
]

export const admissionControl = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'AdmissionControl', plural: 'admissioncontrols', scope: 'Cluster' },
  doc: 'A built-in admission plugin, and its state on the responding server.',
  fields,
  lifecycle: { virtual: true, verbs: ['get', 'list'] },
  views: { columns },
})
