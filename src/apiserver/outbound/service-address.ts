/**
 * Where a Service is, for this server itself. Nothing routes addresses of Services here, so it goes to what stands behind
 * one: an ExternalName as it is, else the target of the port on a ready address of its EndpointSlices, or of its
 * Endpoints where no slice has one. With several addresses each call takes another at random.
 */
import { isIP } from 'node:net'
import type { JsonObject } from '../../api/json/json.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import { withoutLeadingZeros } from '../../api/model/names.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { CallError } from './call-error.ts'

/** A Service and a port of it, as configurations name them. */
export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** A host and a port that can be called. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** What finding the address of a Service needs. */
export interface ServiceAddressParts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  /** Where this server listens: its own Service leads to itself. Undefined before it does. */
  readonly ownAddress: () => Address | undefined
}

interface Port {
  readonly name?: string
  readonly port?: number
  readonly protocol?: string
}

export type NoAddressReason = 'ServiceNotFound' | 'ServicePortError' | 'EndpointsNotFound' | 'MissingEndpoints'

/** There is nobody to ask, and why. */
export class NoServiceAddress extends CallError {
  readonly reason: NoAddressReason

  constructor(reason: NoAddressReason, message: string) {
    super('connection', message)
    this.reason = reason
  }
}

/** Throws NoServiceAddress where there is nobody to ask. */
export function serviceAddress(parts: ServiceAddressParts, service: ServiceReference): Address {
  const { vendor, lookup } = parts
  const { namespace, name, port } = service
  const own = namespace === 'default' && name === vendor.apiService ? parts.ownAddress() : undefined
  if (own !== undefined) return own
  const found = lookup.getCached({ group: 'core', plural: 'services' }, { namespace, name })
  if (found === undefined) throw new NoServiceAddress('ServiceNotFound', `service "${name}" not found`)
  const spec = (found.object as { spec?: { type?: string; externalName?: string; ports?: Port[] } }).spec ?? {}
  if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port }
  const wanted = spec.ports?.find((each) => each.port === port && isTcp(each))
  if (wanted === undefined) throw new NoServiceAddress('ServicePortError', `service "${name}" has no port ${port}`)
  const slices = slicesOf(parts, service)
  const endpoints = endpointsOf(lookup, service)
  const inSlices = slices.flatMap((slice) => addressesInSlice(slice, wanted.name ?? ''))
  const all = inSlices.length > 0 ? inSlices : addressesInEndpoints(endpoints ?? {}, wanted.name ?? '')
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
  const found = lookup.list({ group: 'discovery', plural: 'endpointslices' }, { namespace, label })
  return found.map(({ object }) => object as Slice)
}

function addressesInSlice({ addressType, endpoints = [], ports = [] }: Slice, port: string): Address[] {
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false)
  const hosts = ready.flatMap(({ addresses = [] }) => addresses.map(withoutLeadingZeros))
  return joined(addressType === 'FQDN' ? hosts.filter(isName) : hosts, ports, port)
}

/**
 * Whether a host is not an address in any spelling that resolvers read: 127.0.0.1, 127.1, 0x7f.1, 2130706433. A slice of names
 * could otherwise hold addresses that slices of addresses may not.
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

/** The addresses with the number of the port of this name: endpoints call a port as the Service does. */
function joined(hosts: readonly string[], ports: readonly Port[], name: string): Address[] {
  const port = ports.find((each) => (each.name ?? '') === name && isTcp(each))?.port
  return port === undefined ? [] : hosts.map((host) => ({ host, port }))
}
