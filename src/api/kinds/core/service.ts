/**
 * A Service is a stable name and address for a set of pods. The server reserves each cluster IP and node port for a
 * single Service (see `reservations`).
 */
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind } from '../../schema/kind.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { loadBalancerWarnings } from './types/load-balancer-status.ts'
import { allocateAddresses, heldAddresses } from './types/service-addresses.ts'
import { checkServiceName } from './types/service-name.ts'
import { allocatePorts, heldPorts } from './types/service-ports.ts'
import { checkBalancerStatus, checkOneProtocol, checkService, checkSpelling } from './types/service-rules.ts'
import { type Service, serviceFields } from './types/service-spec.ts'
import { checkUpdate, prepareUpdate } from './types/service-update.ts'
import { serviceWarnings } from './types/service-warnings.ts'

const columns: readonly Column<Service>[] = [
  nameColumn,
  column('Type', 'Type of the Service, which determines how it is exposed.', ({ spec }) => spec?.type ?? ''),
  column(
    'Cluster-IP',
    'IP address of the Service inside the cluster.',
    ({ spec }) => spec?.clusterIPs?.[0] ?? '<none>',
  ),
  column('External-IP', 'External addresses of the Service.', externalAddresses),
  column('Port(s)', 'Ports of the Service, and their node ports.', listedPorts),
  ageColumn,
  column('Selector', 'Label selector for the pods behind the Service.', listedSelector, 1),
]

export const service = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    scope: 'Namespaced',
    nameFormat: checkServiceName,
  },
  doc: 'A stable name and address for a set of pods.',
  fields: serviceFields,
  rules: specAndStatus<Service>({
    newStatus: () => ({ loadBalancer: {} }),
    prepareForCreate: (object) => {
      const { clusterIP, clusterIPs = [] } = object.spec ?? {}
      if (object.spec && clusterIP && clusterIPs.length === 0) object.spec.clusterIPs = [clusterIP]
    },
    prepareForUpdate: prepareUpdate,
    validate: checkService,
    fillDefaults: fillModes,
    validateCreate: (object, context) => [
      ...checkOneProtocol(object.spec ?? {}, undefined, context),
      ...checkSpelling(object, undefined, context),
    ],
    validateUpdate: (next, previous, context) =>
      context.subresource === 'status'
        ? checkBalancerStatus(next, previous, context)
        : [
            ...checkUpdate(next, previous),
            ...checkOneProtocol(next.spec ?? {}, previous.spec ?? {}, context),
            ...checkSpelling(next, previous, context),
          ],
    warnings: serviceWarnings,
    statusWarnings: ({ status }, context) => loadBalancerWarnings(status?.loadBalancer, context),
  }),
  reservations: {
    reservationsOf: ({ spec = {} }) => [...heldAddresses(spec), ...heldPorts(spec)],
    allocate: ({ spec = {} }, previous, allocator) => {
      const faults = allocateAddresses(spec, previous?.spec, allocator)
      return faults.length > 0 ? faults : allocatePorts(spec, previous?.spec, allocator)
    },
  },
  lifecycle: {
    createOnUpdate: true,
    deleteAnswers: 'object',
  },
  views: {
    columns,
    selectable: ({ spec = {} }) => ({ 'spec.clusterIP': spec.clusterIP ?? '', 'spec.type': spec.type ?? '' }),
    selectableSince: '1.31',
    subresources: { status: plainStatus },
  },
})

/** Sets the default of `ipMode`, a field of load balancer addresses that was added in 1.29. */
function fillModes({ spec, status }: Service, context: RuleContext): void {
  if (spec?.type !== 'LoadBalancer' || !emulationOf(context).gates.has('LoadBalancerIPMode')) return
  for (const each of status?.loadBalancer?.ingress ?? []) if (each.ip) each.ipMode ??= 'VIP'
}

function externalAddresses({ spec = {}, status }: Service): string {
  const { type, externalIPs = [], externalName = '' } = spec
  if (type === 'ExternalName') return externalName
  const balancers = type === 'LoadBalancer' ? (status?.loadBalancer?.ingress ?? []) : []
  const places = new Set(balancers.map(({ ip, hostname }) => ip || hostname || '').filter((place) => place !== ''))
  const all = [...[...places].sort(), ...externalIPs]
  if (all.length > 0) return all.join(',')
  return type === 'LoadBalancer' ? '<pending>' : '<none>'
}

/** Formats the ports of a Service, for example as `80/TCP,443:30443/TCP`. */
function listedPorts({ spec = {} }: Service): string {
  const { ports = [] } = spec
  if (ports.length === 0) return '<none>'
  return ports.map(({ port, nodePort, protocol }) => `${nodePort ? `${port}:${nodePort}` : port}/${protocol}`).join(',')
}

function listedSelector({ spec = {} }: Service): string {
  const labels = Object.entries(spec.selector ?? {}).map(([key, value]) => `${key}=${value}`)
  return labels.length === 0 ? '<none>' : labels.sort().join(',')
}
