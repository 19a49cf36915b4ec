/**
 * An Endpoint is one backend of a Service. Versions record its location differently: the stored version has fields for
 * zone and node, and stores other entries of the v1beta1 `topology` map in `deprecatedTopology`.
 */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  maxFaults,
  required,
  tooMany,
} from '../../../model/field-error.ts'
import { checkReachableAddress } from '../../../model/ip-address.ts'
import { formatIp, type IpFamily, parseIp } from '../../../model/ip-range.ts'
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkIpAddress,
  checkLabelValue,
  type NameCheck,
} from '../../../model/names.ts'
import { checkCanonicalIp } from '../../../model/strict-ip.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkLabels } from '../../../selectors/label-rules.ts'
import { type EmulatedVersion, isAtLeast } from '../../../versions/emulated-version.ts'
import { objectReference } from '../../core/types/references.ts'
import { repeatedAt } from '../../core/types/repeated.ts'

const maxAddresses = 100
const maxTopology = 16

const conditions = s.object(
  {
    ready: field(1, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Whether the endpoint is ready to receive traffic. An unset value is treated as true.',
    }),
    serving: field(2, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Whether the endpoint can serve traffic, regardless of whether it is terminating. Defaults to the value of `ready`.',
    }),
    terminating: field(3, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Whether the endpoint is terminating. An unset value is treated as false.',
    }),
  },
  { name: 'EndpointConditions', doc: 'Observed conditions of an endpoint.' },
)

const zone = s.object(
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the zone.' }) },
  { name: 'ForZone', doc: 'A zone that should use the endpoint.' },
)

const node = s.object(
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the node.' }) },
  { name: 'ForNode', doc: 'A node that should use the endpoint.' },
)

const maxHints = 8

export const hints = s.object(
  {
    forZones: field(1, s.list(zone), { doc: 'Zones that should use the endpoint.' }),
    forNodes: field(2, s.list(node), {
      since: '1.33',
      gate: 'PreferSameTrafficDistribution',
      doc: 'Nodes that should use the endpoint. At most 8 nodes.',
    }),
  },
  {
    name: 'EndpointHints',
    doc: 'Hints about which zones and nodes should use an endpoint.',
    check: ({ forZones, forNodes }, path) => [
      ...checkHints(forZones, child(path, 'forZones'), checkLabelValue),
      ...checkHints(forNodes, child(path, 'forNodes'), checkDnsSubdomain),
    ],
  },
)

/** The leading fields of an endpoint, which are the same in all versions. */
export const sharedFields = {
  addresses: field(1, s.list(s.string(), { list: 'set' }), {
    zeroValue: 'write',
    published: 'required',
    doc: "Interchangeable addresses of the endpoint, all of the slice's address type. From 1 to 100 addresses.",
  }),
  conditions: field(2, conditions, {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Observed conditions of the endpoint.',
  }),
  hostname: field(3, s.string(), { zeroValue: 'keep', doc: 'Host name of the endpoint.' }),
  targetRef: field(4, objectReference, { doc: 'Object that provides the endpoint, usually a Pod.' }),
}

export const nodeName = field(6, s.string(), { zeroValue: 'keep', doc: 'Name of the node that hosts the endpoint.' })

const endpointFields = {
  ...sharedFields,
  deprecatedTopology: field(5, s.map(s.string()), {
    doc: 'Location of the endpoint, as written through v1beta1. Read-only in v1.',
  }),
  nodeName,
  zone: field(7, s.string(), { zeroValue: 'keep', doc: 'Name of the zone that contains the endpoint.' }),
  hints: field(8, hints, {
    gate: 'TopologyAwareHints',
    doc: 'Zones that should use the endpoint. Requires the TopologyAwareHints feature gate.',
  }),
}

export type Endpoint = InferFields<typeof endpointFields>

export const endpoint = s.object(endpointFields, {
  name: 'Endpoint',
  doc: 'An endpoint of a Service.',
})

function checkHints(
  hints: readonly { readonly name?: string }[] = [],
  path: FieldPath,
  check: NameCheck,
): FieldError[] {
  if (hints.length > maxHints) return [tooMany(path, hints.length, maxHints)]
  const names = hints.map(({ name = '' }) => name)
  const repeated = repeatedAt(names)
  return names.flatMap((name, i) => {
    const place = child(at(path, i), 'name')
    return repeated.has(i) ? [duplicate(place, name)] : check(name).map((fault) => invalid(place, name, fault))
  })
}

/** Validates an endpoint whose addresses have the given type: IPv4, IPv6 or FQDN. */
export function checkEndpoint(
  value: Endpoint,
  path: FieldPath,
  { type, version }: { readonly type: string; readonly version: EmulatedVersion },
): FieldError[] {
  const { addresses = [], nodeName, hostname, deprecatedTopology: topology = {} } = value
  const place = child(path, 'deprecatedTopology')
  const size = Object.keys(topology).length
  return [
    ...checkAddresses(addresses, child(path, 'addresses'), { type, version }),
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

function checkAddresses(
  addresses: readonly string[],
  path: FieldPath,
  { type, version }: { readonly type: string; readonly version: EmulatedVersion },
): FieldError[] {
  if (addresses.length === 0) return [required(path, 'must contain at least 1 address')]
  const check = checks.get(type) ?? (() => [])
  return [
    ...(addresses.length > maxAddresses ? [tooMany(path, addresses.length, maxAddresses)] : []),
    ...addresses.slice(0, maxAddresses + maxFaults).flatMap((address, i) => {
      if (address === '' && type === 'FQDN') return [required(at(path, i))]
      if (type === 'FQDN' || !isAtLeast(version, '1.33'))
        return check(address).map((fault) => invalid(at(path, i), address, fault))
      return checkFamily(address, { type, list: path, path: at(path, i) })
    }),
  ]
}

interface AddressPlace {
  readonly type: string
  /**
   * Path of the list that contains the address. Since 1.33, addresses of the wrong family are reported at this path.
   */
  readonly list: FieldPath
  /** Path of the address itself. */
  readonly path: FieldPath
}

/**
 * Validates the IP family of an address. Since 1.33, IPv6 addresses must be canonical, and an address of the wrong
 * family is reported for the list.
 */
function checkFamily(address: string, { type, list, path }: AddressPlace): FieldError[] {
  const spelling = type === 'IPv6' ? checkCanonicalIp(address) : checkIpAddress(address)
  if (spelling.length > 0) return spelling.map((fault) => invalid(path, address, fault))
  const isOther = parseIp(address)?.family !== type
  return [
    ...(isOther ? [invalid(list, address, `must be an ${type} address`)] : []),
    ...checkReachableAddress(formatIp(parseIp(address)!)).map((fault) => invalid(path, address, fault)),
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

/** Validates a domain name, which may end with a dot (the DNS root). */
function checkDomain(address: string): string[] {
  const name = address.endsWith('.') ? address.slice(0, -1) : address
  const faults = checkDnsSubdomain(name)
  if (faults.length > 0) return faults
  if (!name.includes('.')) return ['should be a domain with at least two segments separated by dots']
  return name.split('.').flatMap(checkDnsLabel)
}
