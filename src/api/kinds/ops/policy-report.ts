/**
 * A PolicyReport contains the number of existing objects that a ValidatingAdmissionPolicy would reject.
 * `apiserver/resources/policy-reports.ts` computes it in the background. It is never stored.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const example = s.object(
  {
    object: field(1, s.string(), { doc: 'The object, in the form `resource.group namespace/name`.' }),
    message: field(2, s.string(), { doc: 'Message of the violation.' }),
  },
  { name: 'PolicyReportExample', doc: 'An object that violates the policy.' },
)

const status = s.object(
  {
    phase: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Progress of the report: `Pending`, `Running` or `Complete`.',
    }),
    checkedObjects: field(2, s.int32(), {
      zeroValue: 'write',
      doc: 'Number of objects for which the policy was evaluated.',
    }),
    violatingObjects: field(3, s.int32(), {
      zeroValue: 'write',
      doc: 'Number of objects that violate the policy, regardless of the actions of its bindings.',
    }),
    deniedObjects: field(4, s.int32(), {
      zeroValue: 'write',
      doc: 'Number of objects that a binding with the action `Deny` would reject.',
    }),
    examples: field(5, s.list(example), { doc: 'Objects that violate the policy. Only the first 20 are listed.' }),
    truncated: field(6, s.boolean(), { doc: 'Whether the policy matches more objects than one report checks.' }),
    completionTime: field(7, s.string(), { doc: 'Time at which the report was completed.' }),
  },
  { name: 'PolicyReportStatus', doc: 'Progress and results of the report.' },
)

const fields = {
  status: field(2, status, { zeroValue: 'write', doc: 'Progress and results of the report.' }),
}

/** A PolicyReport object. */
export type PolicyReport = ObjectOf<typeof fields>

const count = (value: number | undefined) => String(value ?? 0)

const columns: readonly Column<PolicyReport>[] = [
  nameColumn,
  column('Phase', 'Progress of the report.', ({ status }) => status?.phase ?? ''),
  column('Checked', 'Number of checked objects.', ({ status }) => count(status?.checkedObjects)),
  column('Violating', 'Number of objects that violate the policy.', ({ status }) => count(status?.violatingObjects)),
  column('Denied', 'Number of objects that the policy would reject.', ({ status }) => count(status?.deniedObjects)),
]

export const policyReport = defineKind({
  names: { group: 'ops', version: 'v1', kind: 'PolicyReport', plural: 'policyreports', scope: 'Cluster' },
  since: '1.30',
  doc: 'Reports how many existing objects a ValidatingAdmissionPolicy would reject. The report has the same name as the policy.',
  fields,
  lifecycle: { virtual: true, verbs: ['get', 'list'] },
  views: { columns },
})
