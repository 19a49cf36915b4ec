/**
 * EndpointSlice as v1beta1 has it: the place of an endpoint is recorded in `topology`, a map by labels of nodes. Zone
 * and node have fields of their own in the stored version.
 */
import { defined } from '../../json/json.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { addressType, type EndpointSlice, endpointSlice, portOf } from './endpoint-slice.ts'
import { type Endpoint, hints, nodeName, sharedFields } from './types/endpoint.ts'

const endpointFields = {
  ...sharedFields,
  topology: field(5, s.map(s.string()), { doc: 'Its place, by labels of nodes such as zone and host name.' }),
  nodeName,
  hints: field(7, hints, { doc: 'The zones that it is best for. Not supported yet: it is dropped.' }),
}

type OlderEndpoint = InferFields<typeof endpointFields>

const endpoint = s.object(endpointFields, { name: 'Endpoint', doc: 'One of those behind a Service.' })

const fields = {
  addressType,
  endpoints: field(2, s.list(endpoint), {
    zero: 'write',
    published: 'required',
    doc: 'The endpoints; at most 1000.',
  }),
  ports: field(3, s.list(portOf({})), {
    zero: 'write',
    published: 'optional',
    doc: 'The ports that each of them has.',
  }),
}

type OlderSlice = ObjectOf<typeof fields>

export const endpointSliceV1beta1 = defineVersion(endpointSlice, {
  version: 'v1beta1',
  fields,
  deprecated: {
    since: 'v1.21',
    until: 'v1.25',
    instead: { group: 'discovery', version: 'v1', kind: 'EndpointSlice' },
  },
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
  const [host, zoneKey] = [vendorKey(vendor, 'hostname'), vendorKey(vendor, 'zone', 'topology')]
  const topology = {
    ...(rest.nodeName === undefined ? {} : { [host]: rest.nodeName }),
    ...deprecatedTopology,
    ...(zone === undefined ? {} : { [zoneKey]: zone }),
  }
  return { ...rest, ...(Object.keys(topology).length === 0 ? {} : { topology }) }
}

/** The host name stays where it is another one than the node's. */
function storedEndpoint({ topology = {}, ...rest }: OlderEndpoint, vendor: Vendor): Endpoint {
  const [host, zoneKey] = [vendorKey(vendor, 'hostname'), vendorKey(vendor, 'zone', 'topology')]
  const { [zoneKey]: zone, [host]: hostname, ...other } = topology
  const isOther = hostname !== undefined && hostname !== rest.nodeName
  const deprecatedTopology = isOther ? { ...other, [host]: hostname } : other
  return {
    ...rest,
    ...(Object.keys(deprecatedTopology).length === 0 ? {} : { deprecatedTopology }),
    ...defined({ zone }),
  }
}
