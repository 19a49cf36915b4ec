/** EndpointSlice: some of the endpoints behind a Service, all with addresses of one type and the same ports. */

import type { Steps } from '../../../base/concurrency/time-slice.ts'
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
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../model/names.ts'
import { vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext } from '../../schema/context.ts'
import { dropGated } from '../../schema/gated-fields.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { countsGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { joinSome } from '../join-some.ts'
import { checkEndpoint, type Endpoint, endpoint } from './types/endpoint.ts'

const maxEndpoints = 1000
const maxPorts = 20_000
const addressTypes = ['FQDN', 'IPv4', 'IPv6']

const portFields = {
  name: field(1, s.string(), { zero: 'keep', default: '', doc: 'Its name; each port has another one.' }),
  protocol: field(2, s.oneOf('SCTP', 'TCP', 'UDP'), {
    zero: 'keep',
    default: 'TCP',
    doc: 'TCP, the default, UDP or SCTP.',
  }),
  port: field(3, s.int32(), { zero: 'keep', doc: 'Its number; every port if unset.' }),
  appProtocol: field(4, s.string(), {
    zero: 'keep',
    doc: 'What is spoken there, such as `http` or `example.com/own`.',
  }),
}

type Port = InferFields<typeof portFields>

/** Versions differ in whether a port is owned as a whole. */
export const portOf = (options: { readonly atomic?: boolean }) =>
  s.object(portFields, { name: 'EndpointPort', doc: 'A port of the endpoints.', check: checkPort, ...options })

export const addressType = field(4, s.string(), {
  zero: 'write',
  published: 'required',
  doc: 'What its addresses are: IPv4, IPv6 or FQDN. Cannot change.',
})

const fields = {
  addressType,
  endpoints: field(2, s.list(endpoint), {
    zero: 'write',
    published: 'required',
    doc: 'The endpoints; at most 1000.',
  }),
  ports: field(3, s.list(portOf({ atomic: true })), {
    zero: 'write',
    published: 'optional',
    doc: 'The ports that each of them has.',
  }),
}

export type EndpointSlice = ObjectOf<typeof fields>

const maxShown = 3
const columns: readonly Column<EndpointSlice>[] = [
  nameColumn,
  column('AddressType', 'What its addresses are.', ({ addressType }) => addressType ?? ''),
  column('Ports', 'The ports.', ({ ports = [] }) => {
    const shown = ports.map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port)))
    return joinSome(shown, { most: maxShown }) || '<unset>'
  }),
  column('Endpoints', 'The addresses.', ({ endpoints = [] }) => {
    const shown = endpoints.flatMap(({ addresses = [] }) => addresses)
    return joinSome(shown, { most: maxShown }) || '<unset>'
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
  doc: 'Some of the endpoints behind a Service, with the same ports.',
  fields,
  rules: countsGeneration(counted, {
    prepareForCreate: (object, context) => {
      dropHints(object, context)
      dropTopology(object, undefined, context)
    },
    prepareForUpdate: (next, previous, context) => {
      dropHints(next, context)
      dropTopology(next, previous, context)
    },
    *validate({ endpoints = [], ports = [], addressType: type = '' }) {
      return [...checkAddressType(type), ...(yield* checkEndpoints(endpoints, type)), ...checkPorts(ports)]
    },
    validateUpdate: (next, previous) => immutableField('addressType', next.addressType, previous.addressType),
  }),
  views: { columns },
})

/** What the generation counts the changes of: labels say which Service the slice belongs to. */
function counted({ metadata, endpoints, ports }: EndpointSlice) {
  return [endpoints, ports, metadata.labels ?? {}]
}

/** Hints are a feature that is off. */
function dropHints({ endpoints = [] }: EndpointSlice, { onDropped }: PrepareContext): void {
  for (const [i, endpoint] of endpoints.entries())
    dropGated(endpoint, 'hints', { path: at('endpoints', i), feature: 'TopologyAwareHints', onDropped })
}

/**
 * Only the older version can set the topology. Endpoints that are written otherwise lose it, but keep the node that it
 * named.
 */
function dropTopology(next: EndpointSlice, previous: EndpointSlice | undefined, context: PrepareContext): void {
  const { endpoints = [] } = next
  if (context.through === 'discovery/v1beta1') return
  if (previous !== undefined && sameJson(endpoints, previous.endpoints)) return
  const hostname = vendorKey(context.vendor, 'hostname')
  const nodeOf = ({ deprecatedTopology }: Endpoint) => deprecatedTopology?.[hostname]
  const known = new Set((previous?.endpoints ?? []).map(nodeOf))
  for (const each of endpoints) {
    const node = nodeOf(each)
    const isKept = node !== undefined && known.has(node) && checkDnsSubdomain(node).length === 0
    if (each.nodeName === undefined && isKept) each.nodeName = node
    delete each.deprecatedTopology
  }
}

function checkAddressType(type: string): FieldError[] {
  const path = 'addressType'
  if (addressTypes.includes(type)) return []
  return [type === '' ? required(path) : notSupported(path, type, addressTypes)]
}

function* checkEndpoints(endpoints: readonly Endpoint[], type: string): Steps<FieldError[]> {
  const path = 'endpoints'
  if (endpoints.length > maxEndpoints) return [tooMany(path, endpoints.length, maxEndpoints)]
  const faults: FieldError[] = []
  for (const [i, each] of endpoints.entries()) {
    faults.push(...checkEndpoint(each, at(path, i), type))
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
