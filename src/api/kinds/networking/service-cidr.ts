/** ServiceCIDR: IP ranges from which Services get their cluster IPs. Its rules are not built yet. */
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { conditions } from '../meta/condition.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'

const spec = s.object(
  {
    cidrs: field(1, s.list(s.string()), {
      doc: 'IP ranges in CIDR notation, at most one per IP family. Immutable.',
    }),
  },
  { name: 'ServiceCIDRSpec', doc: 'Specification of a ServiceCIDR.' },
)

const status = s.object(
  { conditions: field(1, conditions, { doc: 'Conditions of the ServiceCIDR, such as Ready.' }) },
  { name: 'ServiceCIDRStatus', doc: 'Observed status of a ServiceCIDR.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'IP ranges.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status.' }),
}

export type ServiceCIDR = ObjectOf<typeof fields>

export const serviceCidr = defineKind({
  names: { group: 'networking', version: 'v1', kind: 'ServiceCIDR', plural: 'servicecidrs', scope: 'Cluster' },
  since: '1.33',
  doc: 'IP ranges from which Services get their cluster IPs.',
  fields,
  rules: specAndStatus<ServiceCIDR>({ newStatus: () => ({}) }),
  views: {
    columns: [
      nameColumn,
      column('CIDRs', 'IP ranges.', ({ spec: { cidrs = [] } = {} }: ServiceCIDR) => cidrs.join(',')),
      ageColumn,
    ],
    subresources: { status: plainStatus },
  },
})

export const serviceCidrV1beta1 = defineVersion(serviceCidr, {
  version: 'v1beta1',
  fields,
  since: '1.31',
  optIn: true,
})
