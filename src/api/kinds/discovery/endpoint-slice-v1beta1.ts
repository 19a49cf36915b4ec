/**
 * EndpointSlice v1beta1 records the location of an endpoint in `topology`, a map keyed by node labels. The stored
 * version has separate fields for zone and node.
 */
import { defined } from '../../json/json.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { addressType, type EndpointSlice, endpointSlice, portOf } from './endpoint-slice.ts'
import { type Endpoint, hints, nodeName, sharedFields } from './types/endpoint.ts'

const endpointFields = {
  ...sharedFields,
  topology: field(5, s.map(s.string()), {
    doc: 'Location of the endpoint, keyed by node labels such as the zone and the host name.',
  }),
  nodeName,
  hints: field(7, hints, {
    gate: 'TopologyAwareHints',
    doc: 'Zones that should use the endpoint. Requires the TopologyAwareHints feature gate.',
  }),
}

type OlderEndpoint = InferFields<typeof endpointFields>

const endpoint = s.object(endpointFields, { name: 'Endpoint', doc: 'An endpoint of a Service.' })

const fields = {
  addressType,
  endpoints: field(2, s.list(endpoint), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Endpoints in the slice. At most 1000 endpoints.',
  }),
  ports: field(3, s.list(portOf({})), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Ports that every endpoint in the slice exposes. Each port has a unique name.',
  }),
}

type OlderSlice = ObjectOf<typeof fields>

export const endpointSliceV1beta1 = defineVersion(endpointSlice, {
  version: 'v1beta1',
  fields,
  until: '1.25',
  deprecated: { since: '1.21', instead: { group: 'discovery', version: 'v1', kind: 'EndpointSlice' } },
  fromStored: (object: EndpointSlice, vendor): OlderSlice => ({
    ...object,
    endpoints: (object.endpoints ?? []).map((each) => olderEndpoint(each, vendor)),
  }),
  toStored: (object: OlderSlice, vendor): EndpointSlice => ({
    ...object,
    endpoints: (object.endpoints ?? []).map((each) => storedEndpoint(each, vendor)),
  }),
})

function olderEndpoint({ deprecatedTopology, zone, ...rest }: Endpoint, vendor: Vendor): OlderEndpoint {
  const host = vendorKey(vendor, 'hostname')
  const zoneKey = vendorKey(vendor, 'zone', 'topology')
  const topology = {
    ...(rest.nodeName === undefined ? {} : { [host]: rest.nodeName }),
    ...deprecatedTopology,
    ...(zone === undefined ? {} : { [zoneKey]: zone }),
  }
  return { ...rest, ...(Object.keys(topology).length === 0 ? {} : { topology }) }
}

/**
 * Converts an endpoint to the stored form. Keeps the hostname in the topology only if it differs from the node name.
 */
function storedEndpoint({ topology = {}, ...rest }: OlderEndpoint, vendor: Vendor): Endpoint {
  const host = vendorKey(vendor, 'hostname')
  const zoneKey = vendorKey(vendor, 'zone', 'topology')
  const { [zoneKey]: zone, [host]: hostname, ...other } = topology
  const isOther = hostname !== undefined && hostname !== rest.nodeName
  const deprecatedTopology = isOther ? { ...other, [host]: hostname } : other
  return {
    ...rest,
    ...(Object.keys(deprecatedTopology).length === 0 ? {} : { deprecatedTopology }),
    ...defined({ zone }),
  }
}
