/**
 * An Ingress routes external HTTP requests to Services by host and path. The ingress class names the responsible
 * controller, which reports the external addresses in `status`.
 */

import { type FieldError, invalid } from '../../model/field-error.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import {
  balancerIps,
  ingressLoadBalancerStatus,
  loadBalancerStatus,
  loadBalancerWarnings,
} from '../core/types/load-balancer-status.ts'
import { strictIpFaults } from '../core/types/strict-values.ts'
import { joinSome } from '../join-some.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { ingressSpec } from './types/ingress-spec.ts'

const status = s.object(
  {
    loadBalancer: field(1, ingressLoadBalancerStatus, {
      earlier: { until: '1.26', schema: loadBalancerStatus },
      zeroValue: 'write',
      published: 'optional',
      doc: 'External addresses of the load balancer that serves the Ingress.',
    }),
  },
  { name: 'IngressStatus', doc: 'Observed status of an Ingress.' },
)

const fields = {
  spec: field(2, ingressSpec, {
    zeroValue: 'write',
    doc: 'Desired routing, with rules, a default backend and TLS settings.',
  }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status, reported by the ingress controller.' }),
}

export type Ingress = ObjectOf<typeof fields>

const columns: readonly Column<Ingress>[] = [
  nameColumn,
  column('Class', 'Name of the IngressClass.', ({ spec }) => spec?.ingressClassName ?? '<none>'),
  column('Hosts', 'Host names that the rules match.', hostsOf),
  column('Address', 'External addresses of the Ingress.', addressesOf),
  column('Ports', 'Ports on which the Ingress accepts traffic.', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80')),
  ageColumn,
]

export const ingress = defineKind({
  names: {
    group: 'networking',
    version: 'v1',
    kind: 'Ingress',
    plural: 'ingresses',
    shortNames: ['ing'],
    scope: 'Namespaced',
    faultGroup: { name: 'extensions', until: '1.29' },
  },
  doc: 'Rules that route external HTTP requests to Services by host and path.',
  fields,
  rules: specAndStatus<Ingress>({
    newStatus: () => ({ loadBalancer: {} }),
    generation: ({ spec }) => spec,
    validateCreate: (object, context) => checkOneClass(object, context),
    validateUpdate: (next, previous, context) =>
      strictIpFaults(
        { next: balancerIps(next.status?.loadBalancer), previous: balancerIps(previous.status?.loadBalancer) },
        context,
      ),
    warnings: warningsFor,
    statusWarnings: ({ status }, context) => loadBalancerWarnings(status?.loadBalancer, context),
  }),
  views: {
    columns,
    subresources: { status: plainStatus },
  },
})

const maxHosts = 3

function hostsOf({ spec }: Ingress): string {
  const rules = spec?.rules ?? []
  const hosts = rules.flatMap(({ host = '' }) => (host === '' ? [] : [host]))
  return joinSome(hosts, { max: maxHosts, total: rules.length }) || '*'
}

function classKey(vendor: Vendor): string {
  return vendorKey(vendor, 'ingress.class')
}

function warningsFor({ metadata, spec }: Ingress, _: Ingress | undefined, context: RuleContext): string[] {
  const key = classKey(context.vendor)
  const isOldStyle = Object.hasOwn(metadata.annotations ?? {}, key) && spec?.ingressClassName === undefined
  return isOldStyle && isAtLeast(emulationOf(context).version, '1.24')
    ? [`annotation "${key}" is deprecated; use spec.ingressClassName instead`]
    : []
}

function addressesOf({ status }: Ingress): string {
  const points = status?.loadBalancer?.ingress ?? []
  return [...new Set(points.flatMap(({ ip, hostname }) => ip || hostname || []))].sort().join()
}

/** Rejects an Ingress whose class annotation and class field differ. Before 1.24, only one of the two may be set. */
function checkOneClass({ metadata, spec }: Ingress, context: RuleContext): FieldError[] {
  const key = classKey(context.vendor)
  const annotation = metadata.annotations?.[key]
  if (annotation === undefined || spec?.ingressClassName === undefined) return []
  if (isAtLeast(emulationOf(context).version, '1.24'))
    return annotation === spec.ingressClassName
      ? []
      : [invalid(`annotations.${key}`, annotation, 'must equal `ingressClassName` if both are set')]
  return [invalid(`annotations.${key}`, annotation, 'can not be set when the class field is also set')]
}
