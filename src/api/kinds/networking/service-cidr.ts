/**
 * A ServiceCIDR contains the IP ranges from which Services get their cluster IPs. A range cannot change, but a range of
 * the other family can be added.
 */
import { at, type FieldError, invalid, required } from '../../model/field-error.ts'
import { parseRange } from '../../model/ip-range.ts'
import { checkCanonicalRange } from '../../model/strict-ip.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { conditions } from '../meta/condition.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'

const spec = s.object(
  {
    cidrs: field(1, s.list(s.string()), {
      doc: 'IP address ranges in CIDR notation. At most one range per IP family. Immutable.',
    }),
  },
  { name: 'ServiceCIDRSpec', doc: 'Specification of a ServiceCIDR.' },
)

const status = s.object(
  { conditions: field(1, conditions, { doc: 'Conditions of the ServiceCIDR, such as Ready.' }) },
  { name: 'ServiceCIDRStatus', doc: 'Observed status of a ServiceCIDR.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'IP address ranges.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the ServiceCIDR.' }),
}

export type ServiceCIDR = ObjectOf<typeof fields>

export const serviceCidr = defineKind({
  names: { group: 'networking', version: 'v1', kind: 'ServiceCIDR', plural: 'servicecidrs', scope: 'Cluster' },
  since: '1.33',
  doc: 'IP address ranges from which Services get their cluster IPs.',
  fields,
  rules: specAndStatus<ServiceCIDR>({
    newStatus: () => ({}),
    validate: ({ spec }) => checkRanges(spec?.cidrs ?? []),
    validateUpdate: ({ spec }, { spec: before }) => checkSameRanges(spec?.cidrs ?? [], before?.cidrs ?? []),
  }),
  views: {
    columns: [
      nameColumn,
      column('CIDRs', 'IP address ranges in CIDR notation.', ({ spec: { cidrs = [] } = {} }: ServiceCIDR) =>
        cidrs.join(','),
      ),
      ageColumn,
    ],
    subresources: { status: plainStatus },
  },
})

const path = 'spec.cidrs'
const maxRanges = 2

function checkRanges(ranges: readonly string[]): FieldError[] {
  if (ranges.length === 0) return [required(path, 'at least one range is required')]
  if (ranges.length > maxRanges) return [invalid(path, ranges, `may only hold up to ${maxRanges} values`)]
  const families = ranges.flatMap((text) => parseRange(text)?.family ?? [])
  if (ranges.length === maxRanges && new Set(families).size < maxRanges)
    return [invalid(path, ranges, 'may specify no more than one range for each IP family')]
  return ranges.flatMap((text, i) => checkCanonicalRange(text).map((fault) => invalid(at(path, i), text, fault)))
}

/** Rejects changes, except that a second range may be added if there is only one. */
function checkSameRanges(next: readonly string[], previous: readonly string[]): FieldError[] {
  const isExtended = previous.length === 1 && next.length === maxRanges
  if (next.length !== previous.length && !isExtended) return [invalid(path, next, 'field is immutable')]
  return previous.flatMap((text, i) => (next[i] === text ? [] : [invalid(at(path, i), next[i], 'field is immutable')]))
}

export const serviceCidrV1beta1 = defineVersion(serviceCidr, {
  version: 'v1beta1',
  fields,
  since: '1.31',
  optIn: true,
})
