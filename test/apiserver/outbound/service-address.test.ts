/** Tests resolving a Service through its EndpointSlices and Endpoints. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListQuery, Lookup, ObjectName, StoredObject, StoredType } from '../../../src/api/model/lookup.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { serviceAddress } from '../../../src/apiserver/outbound/service-address.ts'

const reference = { namespace: 'n', name: 's', port: 443 }

/** Returns a lookup that finds these objects, keyed by plural name. All of the objects are in the namespace `n`. */
function lookupOf(objects: { readonly [plural: string]: readonly object[] }): Lookup {
  const all = ({ plural }: StoredType): StoredObject[] =>
    (objects[plural] ?? []).map((object) => ({ key: '', revision: 1, object: object as ApiObject }))
  return {
    getCached: (type: StoredType, { name }: ObjectName) =>
      all(type).find(({ object }) => object.metadata.name === name),
    list: (type: StoredType, { label }: ListQuery) =>
      all(type).filter(({ object }) => object.metadata.labels?.[label!.key] === label!.value),
  } as unknown as Lookup
}

function addressIn(objects: { readonly [plural: string]: readonly object[] }, port = 443) {
  const parts = { vendor: vendorOf('orch'), lookup: lookupOf(objects), ownAddress: () => ({ host: 'here', port: 1 }) }
  return serviceAddress(parts, { ...reference, port })
}

const service = { metadata: { name: 's' }, spec: { clusterIP: 'None', ports: [{ name: 'https', port: 443 }] } }
const labels = { 'orch.io/service-name': 's' }
const slice = (ready: boolean | undefined, address: string) => ({
  metadata: { name: address, labels },
  endpoints: [{ addresses: [address], conditions: ready === undefined ? {} : { ready } }],
  ports: [{ name: 'https', port: 8443 }],
})
const endpoints = {
  metadata: { name: 's' },
  subsets: [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ name: 'https', port: 9443 }] }],
}

test('a Service resolves to a ready endpoint address and the port with the same name', () => {
  const endpointslices = [slice(false, '10.0.0.1'), slice(undefined, '10.0.0.2')]
  assert.deepEqual(addressIn({ services: [service], endpointslices, endpoints: [endpoints] }), {
    host: '10.0.0.2',
    port: 8443,
  })
})

test('Endpoints are used if no EndpointSlice has a ready address', () => {
  const endpointslices = [slice(false, '10.0.0.1')]
  const address = addressIn({ services: [service], endpointslices, endpoints: [endpoints] })
  assert.deepEqual(address, { host: '10.0.0.9', port: 9443 })
})

test('the error explains why a Service has no address', () => {
  assert.throws(() => addressIn({}), /service "s" not found/)
  assert.throws(() => addressIn({ services: [service] }, 80), /service "s" has no port 80/)
  assert.throws(() => addressIn({ services: [service] }), /service "s" has no ready address for port 443/)
})

test('an ExternalName Service resolves to its external name, and the Service of the API server resolves to this server', () => {
  const external = { metadata: { name: 's' }, spec: { type: 'ExternalName', externalName: 'a.example.com' } }
  assert.deepEqual(addressIn({ services: [external] }, 8443), { host: 'a.example.com', port: 8443 })
  const parts = { vendor: vendorOf('orch'), lookup: lookupOf({}), ownAddress: () => ({ host: 'here', port: 1 }) }
  assert.deepEqual(serviceAddress(parts, { namespace: 'default', name: 'orch', port: 443 }), { host: 'here', port: 1 })
})

test('an FQDN EndpointSlice cannot contain IP addresses in any notation', () => {
  const names = (...addresses: string[]) => ({
    metadata: { name: 'names', labels },
    addressType: 'FQDN',
    endpoints: [{ addresses }],
    ports: [{ name: 'https', port: 8443 }],
  })
  const spellings = ['169.254.169.254', '127.0.0.1.', '127.1', '0x7f.1', '2130706433', '10.0.0.0x1', '010.0.0.1', '::1']
  for (const address of spellings) {
    const objects = { services: [service], endpointslices: [names(address)] }
    assert.throws(() => addressIn(objects), /has no ready address/, address)
  }
  const mixed = { services: [service], endpointslices: [names('10.0.0.1', 'a.example.com')] }
  assert.deepEqual(addressIn(mixed), { host: 'a.example.com', port: 8443 })
})
