/**
 * Endpoints: the addresses behind a Service, of the same name. Each subset is every address of it at every port of it;
 * what is not ready is listed apart.
 */
import { at, child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { checkReachableAddress } from '../../model/ip-address.ts'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../model/names.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { objectReference } from './types/references.ts'

const addressFields = {
  ip: field(1, s.string(), { zero: 'write', published: 'required', doc: 'The address; none of this host alone.' }),
  hostname: field(3, s.string(), { doc: 'The host name of it.' }),
  nodeName: field(4, s.string(), { zero: 'keep', doc: 'The node that it is on.' }),
  targetRef: field(2, objectReference, { doc: 'What answers there, such as a Pod.' }),
}

type Address = InferFields<typeof addressFields>

const address = s.object(addressFields, {
  name: 'EndpointAddress',
  doc: 'One address.',
  atomic: true,
  check: checkAddress,
})

const portFields = {
  name: field(1, s.string(), { doc: 'Its name in the Service; needed where there are several.' }),
  port: field(2, s.int32(), { zero: 'write', published: 'required', doc: 'The number.' }),
  protocol: field(3, s.string(), { default: 'TCP', doc: 'TCP, UDP or SCTP; TCP by default.' }),
  appProtocol: field(4, s.string(), {
    zero: 'keep',
    doc: 'What is spoken there, such as `example.com/own` or `http`.',
  }),
}

type Port = InferFields<typeof portFields>

const port = s.object(portFields, { name: 'core.v1.EndpointPort', doc: 'One port.', atomic: true, check: checkPort })

const subsetFields = {
  addresses: field(1, s.list(address), { doc: 'The addresses that requests are sent to.' }),
  notReadyAddresses: field(2, s.list(address), { doc: 'Where they may not go yet.' }),
  ports: field(3, s.list(port), { doc: 'The ports at each of the addresses.' }),
}

type Subset = InferFields<typeof subsetFields>

const subset = s.object(subsetFields, {
  name: 'EndpointSubset',
  doc: 'Addresses that have the same ports.',
  check: checkSubset,
})

const fields = {
  subsets: field(2, s.list(subset), { doc: 'All the addresses, by the ports that they have.' }),
}

export type Endpoints = ObjectOf<typeof fields>

const columns: readonly Column<Endpoints>[] = [
  nameColumn,
  column('Endpoints', 'The addresses that requests are sent to.', ({ subsets = [] }) => listed(subsets)),
  ageColumn,
]

export const endpoints = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Endpoints',
    plural: 'endpoints',
    shortNames: ['ep'],
    scope: 'Namespaced',
  },
  doc: 'The addresses behind a Service, of the same name.',
  fields,
  life: {
    createOnUpdate: true,
  },
  views: {
    columns,
  },
})

function checkSubset({ addresses = [], notReadyAddresses = [], ports = [] }: Subset, path: FieldPath): FieldError[] {
  const unnamed = ports.length < 2 ? [] : [...ports.entries()].filter(([, { name = '' }]) => name === '')
  return [
    ...(addresses.length + notReadyAddresses.length > 0
      ? []
      : [required(path, 'must specify `addresses` or `notReadyAddresses`')]),
    ...unnamed.map(([i]) => required(child(at(child(path, 'ports'), i), 'name'))),
  ]
}

function checkAddress({ ip = '', hostname = '', nodeName }: Address, path: FieldPath): FieldError[] {
  return [
    ...checkReachableAddress(ip).map((text) => invalid(child(path, 'ip'), ip, text)),
    ...(hostname === '' ? [] : checkDnsLabel(hostname)).map((text) => invalid(child(path, 'hostname'), hostname, text)),
    ...(nodeName === undefined ? [] : checkDnsSubdomain(nodeName)).map((text) =>
      invalid(child(path, 'nodeName'), nodeName, text),
    ),
  ]
}

const protocols = ['SCTP', 'TCP', 'UDP']

function checkPort({ name = '', port: number = 0, protocol = '', appProtocol }: Port, path: FieldPath): FieldError[] {
  return [
    ...(name === '' ? [] : checkDnsLabel(name)).map((text) => invalid(child(path, 'name'), name, text)),
    ...(number >= 1 && number <= 65535
      ? []
      : [invalid(child(path, 'port'), number, 'must be between 1 and 65535, inclusive')]),
    ...(protocols.includes(protocol) ? [] : [notSupported(child(path, 'protocol'), protocol, protocols)]),
    ...(appProtocol === undefined ? [] : checkQualifiedName(appProtocol)).map((text) =>
      invalid(child(path, 'appProtocol'), appProtocol, text),
    ),
  ]
}

const maxShown = 3

/** `10.0.0.1:80,10.0.0.2:80 + 3 more...`: the first, and how many there are besides. */
function listed(subsets: readonly Subset[]): string {
  if (subsets.length === 0) return '<none>'
  const shown: string[] = []
  let count = 0
  for (const { addresses = [], ports = [] } of subsets) {
    count += addresses.length * Math.max(ports.length, 1)
    for (const { port: number } of ports.length > 0 ? ports : [{ port: undefined }])
      for (const { ip = '' } of addresses.slice(0, maxShown - shown.length)) shown.push(place(ip, number))
  }
  return `${shown.join(',')}${count > shown.length ? ` + ${count - shown.length} more...` : ''}`
}

function place(ip: string, number: number | undefined): string {
  if (number === undefined) return ip
  return ip.includes(':') ? `[${ip}]:${number}` : `${ip}:${number}`
}
