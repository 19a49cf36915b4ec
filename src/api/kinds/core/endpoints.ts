/**
 * An Endpoints object contains the addresses behind the Service of the same name. A subset represents every combination
 * of its addresses and ports. Addresses that are not ready are in a separate list.
 */

import { at, child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { checkReachableAddress } from '../../model/ip-address.ts'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../model/names.ts'
import { ipWarnings } from '../../model/strict-ip.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { objectReference } from './types/references.ts'
import { type Located, strictIpFaults } from './types/strict-values.ts'

const addressFields = {
  ip: field(1, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'IP address of the endpoint. Must not be an unspecified, loopback or link-local address.',
  }),
  hostname: field(3, s.string(), { doc: 'Host name of the endpoint. Must be a DNS label.' }),
  nodeName: field(4, s.string(), { zeroValue: 'keep', doc: 'Name of the node that hosts the endpoint.' }),
  targetRef: field(2, objectReference, { doc: 'Object that provides the endpoint, usually a Pod.' }),
}

type Address = InferFields<typeof addressFields>

const address = s.object(addressFields, {
  name: 'EndpointAddress',
  doc: 'An IP address of an endpoint.',
  atomic: true,
  check: checkAddress,
})

const portFields = {
  name: field(1, s.string(), {
    doc: 'Name of the port, which must match a port name in the Service. Required if there is more than one port.',
  }),
  port: field(2, s.int32(), { zeroValue: 'write', published: 'required', doc: 'Port number, from 1 to 65535.' }),
  protocol: field(3, s.string(), { default: 'TCP', doc: 'Transport protocol: TCP, UDP or SCTP. Defaults to TCP.' }),
  appProtocol: field(4, s.string(), {
    zeroValue: 'keep',
    doc: 'Application protocol of the port, such as `http` or `example.com/my-protocol`.',
  }),
}

type Port = InferFields<typeof portFields>

const port = s.object(portFields, {
  name: 'core.v1.EndpointPort',
  doc: 'A port on which endpoints are available.',
  atomic: true,
  check: checkPort,
})

const subsetFields = {
  addresses: field(1, s.list(address), { doc: 'Addresses that are ready to receive traffic.' }),
  notReadyAddresses: field(2, s.list(address), { doc: 'Addresses that are not ready to receive traffic.' }),
  ports: field(3, s.list(port), { doc: 'Ports that are available at every address.' }),
}

type Subset = InferFields<typeof subsetFields>

const subset = s.object(subsetFields, {
  name: 'EndpointSubset',
  doc: 'A group of addresses that share the same ports.',
  check: checkSubset,
})

const fields = {
  subsets: field(2, s.list(subset), {
    doc: 'Groups of addresses and ports. Each address in a group serves each port in the same group.',
  }),
}

export type Endpoints = ObjectOf<typeof fields>

const columns: readonly Column<Endpoints>[] = [
  nameColumn,
  column('Endpoints', 'Addresses and ports that are ready to receive traffic.', ({ subsets = [] }) => listed(subsets)),
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
  doc: 'Addresses and ports of the pods behind the Service with the same name.',
  fields,
  rules: {
    validateCreate: (next, context) => strictIpFaults({ next: addressesOf(next) }, context),
    validateUpdate: (next, previous, context) =>
      strictIpFaults({ next: addressesOf(next), previous: addressesOf(previous) }, context),
    warnings: (next, _, context) =>
      isAtLeast(emulationOf(context).version, '1.33')
        ? addressesOf(next).flatMap(([path, ip]) => ipWarnings(path, ip))
        : [],
  },
  deprecated: { since: '1.33', instead: { group: 'discovery', version: 'v1', kind: 'EndpointSlice' } },
  lifecycle: {
    createOnUpdate: true,
  },
  views: {
    columns,
  },
})

function addressesOf({ subsets = [] }: Endpoints): Located[] {
  return subsets.flatMap((each, i) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((name) =>
      (each[name] ?? []).map(({ ip = '' }, j): Located => [`subsets[${i}].${name}[${j}].ip`, ip]),
    ),
  )
}

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

/** Formats the first addresses and the number of remaining addresses, as in `10.0.0.1:80,10.0.0.2:80 + 3 more...`. */
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
