/**
 * An EndpointSlice contains a subset of the endpoints of a Service. All endpoints in a slice have the same address type
 * and the same ports.
 */

import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { sameJson } from '../../json/json.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../model/field-error.ts'
import { parseIp } from '../../model/ip-range.ts'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../model/names.ts'
import { checkCanonicalIp, ipWarnings } from '../../model/strict-ip.ts'
import { vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, isSince, type PrepareContext, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { type EmulatedVersion, isAtLeast } from '../../versions/emulated-version.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import type { Located } from '../core/types/strict-values.ts'
import { countsGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { joinSome } from '../join-some.ts'
import { checkEndpoint, type Endpoint, endpoint } from './types/endpoint.ts'

const maxEndpoints = 1000
const maxPorts = 20_000
const addressTypes = ['FQDN', 'IPv4', 'IPv6']

const portFields = {
  name: field(1, s.string(), {
    zeroValue: 'keep',
    default: '',
    doc: 'Name of the port, unique within the slice. Defaults to an empty name.',
  }),
  protocol: field(2, s.oneOf('SCTP', 'TCP', 'UDP'), {
    zeroValue: 'keep',
    default: 'TCP',
    doc: 'Transport protocol: `TCP` (the default), `UDP` or `SCTP`.',
  }),
  port: field(3, s.int32(), { zeroValue: 'keep', doc: 'Port number. If unset, the port matches all port numbers.' }),
  appProtocol: field(4, s.string(), {
    zeroValue: 'keep',
    doc: 'Application protocol of the port, such as `http` or `example.com/custom`.',
  }),
}

type Port = InferFields<typeof portFields>

/**
 * Returns the port type. `atomic` differs between versions: in v1, server-side apply treats each port as a single
 * field.
 */
export const portOf = (options: { readonly atomic?: boolean }) =>
  s.object(portFields, {
    name: 'EndpointPort',
    doc: 'A port that every endpoint in a slice exposes.',
    check: checkPort,
    ...options,
  })

export const addressType = field(4, s.string(), {
  zeroValue: 'write',
  published: 'required',
  doc: 'Type of the addresses: `IPv4`, `IPv6` or `FQDN`. Immutable.',
})

const fields = {
  addressType,
  endpoints: field(2, s.list(endpoint), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Endpoints in the slice. At most 1000 endpoints.',
  }),
  ports: field(3, s.list(portOf({ atomic: true })), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Ports that every endpoint in the slice exposes. Each port has a unique name.',
  }),
}

export type EndpointSlice = ObjectOf<typeof fields>

const maxShown = 3
const columns: readonly Column<EndpointSlice>[] = [
  nameColumn,
  column('AddressType', 'Type of the addresses: `IPv4`, `IPv6` or `FQDN`.', ({ addressType }) => addressType ?? ''),
  column('Ports', 'Ports that every endpoint in the slice has.', ({ ports = [] }) => {
    const shown = ports.map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port)))
    return joinSome(shown, { max: maxShown }) || '<unset>'
  }),
  column('Endpoints', 'Addresses of the endpoints.', ({ endpoints = [] }) => {
    const shown = endpoints.flatMap(({ addresses = [] }) => addresses)
    return joinSome(shown, { max: maxShown }) || '<unset>'
  }),
  ageColumn,
]

export const endpointSlice = defineKind({
  names: {
    group: 'discovery',
    version: 'v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    scope: 'Namespaced',
  },
  doc: "A subset of a Service's endpoints. All endpoints in a slice have the same address type and ports.",
  fields,
  rules: countsGeneration(generationFields, {
    prepareForCreate: (object, context) => dropTopology(object, undefined, context),
    prepareForUpdate: dropTopology,
    validate: ({ ports = [], addressType: type = '' }) => [...checkAddressType(type), ...checkPorts(ports)],
    *validateCreate(next, context) {
      return [...(yield* checkEndpoints(next, context)), ...checkSpelling(next, undefined, context)]
    },
    *validateUpdate(next, previous, context) {
      const isSame = isSince('1.33', context) && sameJson(next.endpoints, previous.endpoints)
      return [
        ...(isSame ? [] : yield* checkEndpoints(next, context)),
        ...immutableField('addressType', next.addressType, previous.addressType),
        ...checkSpelling(next, previous, context),
      ]
    },
    warnings: (next, _, context) => warningsFor(next, emulationOf(context).version),
  }),
  views: { columns },
})

/**
 * Requires IPv4 addresses in canonical form, except for addresses that the stored slice already has. IPv6 addresses are
 * always required to be canonical.
 */
function checkSpelling(next: EndpointSlice, previous: EndpointSlice | undefined, context: RuleContext): FieldError[] {
  if (next.addressType !== 'IPv4' || !emulationOf(context).gates.has('StrictIPCIDRValidation')) return []
  const stored = new Set(previous === undefined ? [] : addressesOf(previous).map(([, ip]) => ip))
  return addressesOf(next)
    .filter(([, ip]) => !stored.has(ip) && parseIp(ip) !== undefined)
    .flatMap(([path, ip]) => checkCanonicalIp(ip).map((fault) => invalid(path, ip, fault)))
}

function warningsFor(slice: EndpointSlice, version: EmulatedVersion): string[] {
  if (slice.addressType === 'FQDN')
    return isAtLeast(version, '1.27') ? ['addressType: endpoints of type FQDN are deprecated'] : []
  return isAtLeast(version, '1.33') ? addressesOf(slice).flatMap(([path, ip]) => ipWarnings(path, ip)) : []
}

function addressesOf({ endpoints = [] }: EndpointSlice): Located[] {
  return endpoints.flatMap(({ addresses = [] }, i) =>
    addresses.map((ip, j): Located => [`endpoints[${i}].addresses[${j}]`, ip]),
  )
}

/**
 * Returns the parts of a slice whose changes increment its generation. Labels are included, because they assign the
 * slice to a Service.
 */
function generationFields({ metadata, endpoints, ports }: EndpointSlice) {
  return [endpoints, ports, metadata.labels ?? {}]
}

/**
 * Drops the topology, which only v1beta1 can set. A write through any other version moves a known node name from the
 * topology to `nodeName`.
 */
function dropTopology(next: EndpointSlice, previous: EndpointSlice | undefined, context: PrepareContext): void {
  const { endpoints = [] } = next
  if (context.through === 'discovery/v1beta1') return
  if (previous !== undefined && sameJson(endpoints, previous.endpoints)) return
  const hostname = vendorKey(context.vendor, 'hostname')
  const nodeOf = ({ deprecatedTopology }: Endpoint) => deprecatedTopology?.[hostname]
  const previousNodes = new Set((previous?.endpoints ?? []).map(nodeOf))
  for (const each of endpoints) {
    const node = nodeOf(each)
    const isKept = node !== undefined && previousNodes.has(node) && checkDnsSubdomain(node).length === 0
    if (each.nodeName === undefined && isKept) each.nodeName = node
    delete each.deprecatedTopology
  }
}

function checkAddressType(type: string): FieldError[] {
  const path = 'addressType'
  if (addressTypes.includes(type)) return []
  return [type === '' ? required(path) : notSupported(path, type, addressTypes)]
}

function* checkEndpoints(
  { endpoints = [], addressType: type = '' }: EndpointSlice,
  context: RuleContext,
): Sliced<FieldError[]> {
  const { version } = emulationOf(context)
  const path = 'endpoints'
  if (endpoints.length > maxEndpoints) return [tooMany(path, endpoints.length, maxEndpoints)]
  const faults: FieldError[] = []
  for (const [i, each] of endpoints.entries()) {
    faults.push(...checkEndpoint(each, at(path, i), { type, version }))
    yield
  }
  return faults
}

function checkPorts(ports: readonly Port[]): FieldError[] {
  if (ports.length > maxPorts) return [tooMany('ports', ports.length, maxPorts)]
  const names = ports.map(({ name }) => name)
  return [...repeatedAt(names)].map((i) => duplicate(child(at('ports', i), 'name'), names[i]!))
}

function checkPort({ name = '', appProtocol }: Port, path: FieldPath): FieldError[] {
  const nameFaults = name === '' ? [] : checkDnsLabel(name)
  const protocolFaults = appProtocol === undefined ? [] : checkQualifiedName(appProtocol)
  return [
    ...nameFaults.map((fault) => invalid(child(path, 'name'), name, fault)),
    ...protocolFaults.map((fault) => invalid(child(path, 'appProtocol'), appProtocol, fault)),
  ]
}
