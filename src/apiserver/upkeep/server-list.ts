/**
 * Publishes the addresses of the API servers in the Endpoints and EndpointSlices of their Service. Writes only objects
 * that have changed.
 */

import type { JsonObject } from '../../api/json/json.ts'
import { parseIp } from '../../api/model/ip-range.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import type { ServerPlace } from './live-servers.ts'
import { changeFields, createMissing } from './own-objects.ts'

const namespace = 'default'

export async function listServers(catalogue: Catalogue, vendor: Vendor, places: readonly ServerPlace[]): Promise<void> {
  const endpoints = catalogue.stored('core', 'endpoints')
  const slices = catalogue.stored('discovery', 'endpointslices')
  await Promise.all([
    endpoints && writeEndpoints(endpoints, vendor, places),
    slices && writeSlices(slices, vendor, places),
  ])
}

async function writeEndpoints(resource: Resource, vendor: Vendor, places: readonly ServerPlace[]): Promise<void> {
  const name = { namespace, name: vendor.apiService }
  // Prevents the mirroring controller from creating EndpointSlices for these Endpoints.
  const labels = { [vendorKey(vendor, 'skip-mirror', 'endpointslice')]: 'true' }
  const subsets = groupsOf(places).map(({ port, ips }) => ({
    addresses: ips.map((ip) => ({ ip })),
    ports: portsOf(port),
  }))
  await createMissing(resource, name, { metadata: { labels }, subsets })
  await changeFields(resource, name, { subsets })
}

/**
 * Writes one EndpointSlice per address family and port. Most clusters need only one slice. A slice that is no longer
 * needed is emptied.
 */
async function writeSlices(resource: Resource, vendor: Vendor, places: readonly ServerPlace[]): Promise<void> {
  const label = vendorKey(vendor, 'service-name')
  const labels = { [label]: vendor.apiService }
  const requiredSlices = slicesOf(vendor, places)
  for (const { name, ...fields } of requiredSlices) {
    await createMissing(resource, { namespace, name }, { metadata: { labels }, ...fields })
    await changeFields(resource, { namespace, name }, fields)
  }
  const names = new Set(requiredSlices.map(({ name }) => name))
  const ours = [...resource.cache.slices({ namespace })]
    .flat()
    .filter(({ selectable }) => selectable.labels?.[label] === vendor.apiService)
  for (const { name } of ours)
    if (!names.has(name)) await changeFields(resource, { namespace, name }, { endpoints: [] })
}

/**
 * Returns the EndpointSlices. The first IPv4 slice is named `orch` and the first IPv6 slice `orch-ipv6`. The names of
 * slices for other ports contain the port, as in `orch-7443`.
 */
function slicesOf({ apiService }: Vendor, places: readonly ServerPlace[]): (JsonObject & { name: string })[] {
  return (['IPv4', 'IPv6'] as const).flatMap((family) => {
    const base = family === 'IPv4' ? apiService : `${apiService}-ipv6`
    const own = places.filter(({ ip }) => parseIp(ip)?.family === family)
    return groupsOf(own).map(({ port, ips }, i) => ({
      name: i === 0 ? base : `${base}-${port}`,
      addressType: family,
      endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ports: portsOf(port),
    }))
  })
}

/** Groups addresses by port. Keeps the order of the list. */
function groupsOf(places: readonly ServerPlace[]): { port: number; ips: string[] }[] {
  const ports = [...new Set(places.map(({ port }) => port))]
  return ports.map((port) => ({ port, ips: places.filter((place) => place.port === port).map(({ ip }) => ip) }))
}

function portsOf(port: number): JsonObject[] {
  return [{ name: 'https', port, protocol: 'TCP' }]
}
