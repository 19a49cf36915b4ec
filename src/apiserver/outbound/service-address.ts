/**
 * Resolves a Service to an address for calls from this server. The server cannot reach cluster IPs and therefore
 * connects to an endpoint directly. For an ExternalName Service, the address is the external name. For other Services,
 * the result is the target port of a ready address in the EndpointSlices, or in the Endpoints if no slice contains a
 * ready address. If there are several addresses, each call chooses one at random.
 */
import { isIP } from 'node:net'
import type { JsonObject } from '../../api/json/json.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import { withoutLeadingZeros } from '../../api/model/names.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { CallError } from '../../wire/http/client/call-error.ts'

/** A Service and one of its ports, as named in a webhook configuration. */
export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** A host and port to connect to. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Dependencies for resolving a Service: the stored objects, and the address of this server. */
export interface ServiceAddressParts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  /**
   * Returns the server's own listening address, or undefined before the server listens. This server's own Service
   * resolves to this address.
   */
  readonly ownAddress: () => Address | undefined
}

interface Port {
  readonly name?: string
  readonly port?: number
  readonly protocol?: string
}

export type NoAddressReason = 'ServiceNotFound' | 'ServicePortError' | 'EndpointsNotFound' | 'MissingEndpoints'

/** Thrown if a Service has no address to connect to. `reason` says why. */
export class NoServiceAddress extends CallError {
  readonly reason: NoAddressReason

  constructor(reason: NoAddressReason, message: string) {
    super('connection', message)
    this.reason = reason
  }
}

/** Returns an address of a Service. Throws NoServiceAddress if no address is available. */
export function serviceAddress(parts: ServiceAddressParts, service: ServiceReference): Address {
  const { vendor, lookup } = parts
  const { namespace, name, port } = service
  const own = namespace === 'default' && name === vendor.apiService ? parts.ownAddress() : undefined
  if (own !== undefined) return own
  const storedService = lookup.getCached({ group: 'core', plural: 'services' }, { namespace, name })
  if (storedService === undefined) throw new NoServiceAddress('ServiceNotFound', `service "${name}" not found`)
  const spec = (storedService.object as { spec?: { type?: string; externalName?: string; ports?: Port[] } }).spec ?? {}
  if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port }
  const servicePort = spec.ports?.find((each) => each.port === port && isTcp(each))
  if (servicePort === undefined) throw new NoServiceAddress('ServicePortError', `service "${name}" has no port ${port}`)
  const slices = slicesOf(parts, service)
  const endpoints = endpointsOf(lookup, service)
  const inSlices = slices.flatMap((slice) => addressesInSlice(slice, servicePort.name ?? ''))
  const all = inSlices.length > 0 ? inSlices : addressesInEndpoints(endpoints ?? {}, servicePort.name ?? '')
  const chosen = all[Math.floor(Math.random() * all.length)]
  if (chosen !== undefined) return chosen
  const reason = slices.length === 0 && endpoints === undefined ? 'EndpointsNotFound' : 'MissingEndpoints'
  throw new NoServiceAddress(reason, `service "${name}" has no ready address for port ${port}`)
}

function isTcp({ protocol = 'TCP' }: Port): boolean {
  return protocol === 'TCP'
}

type Slice = ApiObject & {
  addressType?: string
  endpoints?: { addresses?: string[]; conditions?: { ready?: boolean } }[]
  ports?: Port[]
}

function slicesOf({ vendor, lookup }: ServiceAddressParts, { namespace, name }: ServiceReference): Slice[] {
  const label = { key: vendorKey(vendor, 'service-name'), value: name }
  const storedService = lookup.list({ group: 'discovery', plural: 'endpointslices' }, { namespace, label })
  return storedService.map(({ object }) => object as Slice)
}

function addressesInSlice({ addressType, endpoints = [], ports = [] }: Slice, port: string): Address[] {
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false)
  const hosts = ready.flatMap(({ addresses = [] }) => addresses.map(withoutLeadingZeros))
  return joined(addressType === 'FQDN' ? hosts.filter(isName) : hosts, ports, port)
}

/**
 * Returns whether the host is a DNS name rather than an IP address. Unusual notations that resolvers accept, such as
 * 127.1, 0x7f.1 and 2130706433, count as IP addresses. This prevents FQDN slices from containing addresses that are
 * forbidden in slices of IP addresses.
 */
function isName(host: string): boolean {
  const lastLabel = host.replace(/\.$/, '').split('.').at(-1) ?? ''
  return isIP(host) === 0 && !/^(?:\d+|0x[0-9a-f]*)$/i.test(lastLabel)
}

interface Endpoints {
  readonly subsets?: { addresses?: (JsonObject & { ip?: string })[]; ports?: Port[] }[]
}

function endpointsOf(lookup: Lookup, { namespace, name }: ServiceReference): Endpoints | undefined {
  return lookup.getCached({ group: 'core', plural: 'endpoints' }, { namespace, name })?.object as Endpoints | undefined
}

function addressesInEndpoints({ subsets = [] }: Endpoints, port: string): Address[] {
  return subsets.flatMap(({ addresses = [], ports = [] }) => {
    const hosts = addresses.map(({ ip = '' }) => withoutLeadingZeros(ip))
    return joined(hosts, ports, port)
  })
}

/**
 * Returns an address for each host, with the port that has the given name. Returns no addresses if there is no TCP port
 * with this name.
 */
function joined(hosts: readonly string[], ports: readonly Port[], name: string): Address[] {
  const port = ports.find((each) => (each.name ?? '') === name && isTcp(each))?.port
  return port === undefined ? [] : hosts.map((host) => ({ host, port }))
}
