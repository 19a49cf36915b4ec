/**
 * Endpoint: one of those behind a Service. Versions differ in where they record its place: the stored one has fields
 * for zone and node, and what is left of the older `topology` map in `deprecatedTopology`.
 */
import { at, child, type FieldError, type FieldPath, invalid, maxFaults, required, tooMany } from '../../../model/field-error.ts'
import { checkReachableAddress } from '../../../model/ip-address.ts'
import { formatIp, type IpFamily, parseIp } from '../../../model/ip-range.ts'
import { checkLabels } from '../../../selectors/label-rules.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { objectReference } from '../../core/types/references.ts'

const maxAddresses = 100
const maxTopology = 16

const conditions = s.object(
  {
    ready: field(1, s.boolean(), { zero: 'keep', doc: 'Whether it can take requests; unset is as true.' }),
    serving: field(2, s.boolean(), { zero: 'keep', doc: 'The same, whether or not it is about to end.' }),
    terminating: field(3, s.boolean(), { zero: 'keep', doc: 'Whether it is about to end.' }),
  },
  { name: 'EndpointConditions', doc: 'How an endpoint is doing.' },
)

const zone = s.object(
  { name: field(1, s.string(), { zero: 'write', doc: 'The name of the zone.' }) },
  { name: 'ForZone', doc: 'A zone.' },
)

export const hints = s.object(
  { forZones: field(1, s.list(zone), { doc: 'The zones that it is to serve.' }) },
  { name: 'EndpointHints', doc: 'The zones that an endpoint is best for.' },
)

/** What all versions have before the fields in which they differ. */
export const sharedFields = {
  addresses: field(1, s.list(s.string(), { list: 'set' }), {
    zero: 'write',
    published: 'required',
    doc: 'Where it is, all meaning the same; at most 100.',
  }),
  conditions: field(2, conditions, { zero: 'write', published: 'optional', doc: 'How it is doing.' }),
  hostname: field(3, s.string(), { zero: 'keep', doc: 'The host name it goes by in DNS.' }),
  targetRef: field(4, objectReference, { doc: 'What answers there, such as a Pod.' }),
}

export const nodeName = field(6, s.string(), { zero: 'keep', doc: 'The node it is on.' })

const endpointFields = {
  ...sharedFields,
  deprecatedTopology: field(5, s.map(s.string()), {
    doc: 'Its place as the older version records it. Cannot be set here.',
  }),
  nodeName,
  zone: field(7, s.string(), { zero: 'keep', doc: 'The zone it is in.' }),
  hints: field(8, hints, { doc: 'The zones that it is best for. Not supported yet: it is dropped.' }),
}

export type Endpoint = InferFields<typeof endpointFields>

export const endpoint = s.object(endpointFields, {
  name: 'Endpoint',
  doc: 'One of those behind a Service.',
})

/** `type` is that of the addresses: IPv4, IPv6 or FQDN. */
export function checkEndpoint(value: Endpoint, path: FieldPath, type: string): FieldError[] {
  const { addresses = [], nodeName, hostname, deprecatedTopology: topology = {} } = value
  const place = child(path, 'deprecatedTopology')
  const size = Object.keys(topology).length
  return [
    ...checkAddresses(addresses, child(path, 'addresses'), type),
    ...(nodeName === undefined ? [] : checkDnsSubdomain(nodeName)).map((fault) =>
      invalid(child(path, 'nodeName'), nodeName, fault),
    ),
    ...(size > maxTopology ? [tooMany(place, size, maxTopology)] : []),
    ...checkLabels(topology, place),
    ...(hostname === undefined ? [] : checkDnsLabel(hostname)).map((fault) =>
      invalid(child(path, 'hostname'), hostname, fault),
    ),
  ]
}

function checkAddresses(addresses: readonly string[], path: FieldPath, type: string): FieldError[] {
  if (addresses.length === 0) return [required(path, 'must contain at least 1 address')]
  const check = checks.get(type) ?? (() => [])
  return [
    ...(addresses.length > maxAddresses ? [tooMany(path, addresses.length, maxAddresses)] : []),
    ...addresses.slice(0, maxAddresses + maxFaults).flatMap((address, i) => {
      if (address === '' && type === 'FQDN') return [required(at(path, i))]
      return check(address).map((fault) => invalid(at(path, i), address, fault))
    }),
  ]
}

const checks: ReadonlyMap<string, (address: string) => string[]> = new Map([
  ['IPv4', (address: string) => checkIp(address, 'IPv4')],
  ['IPv6', (address: string) => checkIp(address, 'IPv6')],
  ['FQDN', checkDomain],
])

function checkIp(address: string, family: IpFamily): string[] {
  const ip = parseIp(address)
  return [
    ...(ip?.family === family ? [] : [`must be a valid ${family} address`]),
    ...checkReachableAddress(ip === undefined ? address : formatIp(ip)),
  ]
}

/** The dot of the root may stand at the end. */
function checkDomain(address: string): string[] {
  const name = address.endsWith('.') ? address.slice(0, -1) : address
  const faults = checkDnsSubdomain(name)
  if (faults.length > 0) return faults
  if (!name.includes('.')) return ['should be a domain with at least two segments separated by dots']
  return name.split('.').flatMap(checkDnsLabel)
}
