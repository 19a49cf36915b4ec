/** Tests EndpointSlice: addresses by type, ports, limits, the topology of v1beta1, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { endpointSlice } from '../../../src/api/kinds/discovery/endpoint-slice.ts'
import { endpointSliceV1beta1 } from '../../../src/api/kinds/discovery/endpoint-slice-v1beta1.ts'
import { type ApiObject, asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy, ruleContext, updateBy } from './rules.ts'

const ten = { addresses: ['10.0.0.1'] }

test('unset fields of an EndpointSlice are set to their defaults', () => {
  const { object, faults } = create({ endpoints: [ten], ports: [{}] })
  assert.deepEqual(faults, [])
  const { endpoints, ports, metadata } = asJson(object)
  assert.deepEqual([endpoints, ports], [[{ ...ten, conditions: {} }], [{ name: '', protocol: 'TCP' }]])
  assert.deepEqual(metadata, { name: 's', generation: 1 })
})

const addresses: { readonly [type: string]: { readonly good: readonly string[]; readonly bad: readonly string[] } } = {
  IPv4: {
    good: ['10.0.0.1', '010.0.0.1', '::ffff:10.0.0.1', '224.0.1.1'],
    bad: [
      '2001:db8::1',
      'a.example.com',
      '127.0.0.1',
      '0.0.0.0',
      '169.254.1.1',
      '224.0.0.1',
      '::ffff:127.0.0.1',
      '1.2.3',
      '',
    ],
  },
  IPv6: {
    good: ['2001:db8::1', '2001:DB8::1.2.3.4', 'ff05::1'],
    bad: ['10.0.0.1', '::ffff:10.0.0.1', '::', '::1', 'fe80::1', 'ff02::1', 'fe80::1%eth0', 'x'],
  },
  FQDN: { good: ['a.example.com', 'a.example.com.', '10.0.0.1'], bad: ['host', 'A_b.example.com', '.', 'a..b'] },
}

test('the addresses of an EndpointSlice must match the address type and be valid endpoint addresses', () => {
  for (const [addressType, { good, bad }] of Object.entries(addresses)) {
    assert.deepEqual(create({ addressType, endpoints: [{ addresses: [...good] }] }).faults, [], addressType)
    const reportedFaults = create({ addressType, endpoints: [{ addresses: [...bad] }] }).faults
    assert.deepEqual(
      reportedFaults,
      bad.map((_, i) => `Invalid endpoints[0].addresses[${i}]`),
      addressType,
    )
  }
  assert.deepEqual(create({ addressType: '' }).faults, ['Required addressType'])
  for (const addressType of ['IPv5', 'constructor', '__proto__', 'toString'])
    assert.deepEqual(create({ addressType, endpoints: [ten] }).faults, ['NotSupported addressType'], addressType)
})

test('invalid endpoints and ports in an EndpointSlice are rejected', () => {
  const cases: readonly (readonly [sent: JsonObject, faults: readonly string[]])[] = [
    [{ endpoints: [{}] }, ['Required endpoints[0].addresses']],
    [{ endpoints: [{ ...ten, zone: 'a b', conditions: { ready: false } }] }, []],
    [
      { endpoints: [{ ...ten, hostname: 'a.b', nodeName: 'A/b' }] },
      ['Invalid endpoints[0].hostname', 'Invalid endpoints[0].nodeName'],
    ],
    [{ ports: [{ name: 'A_' }] }, ['Invalid ports[0].name']],
    [{ ports: [{ port: 1 }, { port: 2 }] }, ['Duplicate ports[1].name']],
    [
      { ports: [{ protocol: 'X' }, { name: 'a', protocol: '' }] },
      ['NotSupported ports[0].protocol', 'NotSupported ports[1].protocol'],
    ],
    [{ ports: [{ port: 0 }, { name: 'a', port: 65536, appProtocol: 'e.com/h2' }] }, []],
    [{ ports: [{ appProtocol: 'a b' }] }, ['Invalid ports[0].appProtocol']],
    [{ endpoints: [{ addresses: Array(100).fill('10.0.0.1') }] }, []],
    [{ endpoints: [{ addresses: Array(101).fill('10.0.0.1') }] }, ['TooMany endpoints[0].addresses']],
    [
      { endpoints: [{ addresses: [...Array(100).fill('10.0.0.1'), 'x'] }] },
      ['Invalid endpoints[0].addresses[100]', 'TooMany endpoints[0].addresses'],
    ],
    [{ addressType: 'FQDN', endpoints: [{ addresses: ['', 'a.b'] }] }, ['Required endpoints[0].addresses[0]']],
    [
      { addressType: 'FQDN', endpoints: [{ addresses: [`${'a'.repeat(64)}.b`] }] },
      ['Invalid endpoints[0].addresses[0]'],
    ],
    [{ endpoints: Array(1000).fill(ten) }, []],
    [{ endpoints: Array(1001).fill(ten) }, ['TooMany endpoints']],
    [{ ports: Array(20_001).fill({ name: 'a' }) }, ['TooMany ports']],
  ]
  for (const [sent, faults] of cases) assert.deepEqual(create(sent).faults, faults, JSON.stringify(sent).slice(0, 200))
})

test('the addressType of an EndpointSlice is immutable, topology hints are dropped, and label changes increment the generation', () => {
  const hints = { forZones: [{ name: 'a' }] }
  const { object } = create({ endpoints: [{ ...ten, hints }] })
  assert.deepEqual(asJson(object).endpoints, [{ ...ten, conditions: {} }])
  const update = (sent: JsonObject, metadata: JsonObject = {}) =>
    updateBy(endpointSlice, object, { ...slice({ endpoints: [ten], ...sent }), metadata: { name: 's', ...metadata } })
  assert.deepEqual(update({ addressType: 'FQDN' }).faults, ['Invalid addressType'])
  const counted = [
    update({}),
    update({}, { annotations: { a: 'b' } }),
    update({}, { labels: { a: 'b' } }),
    update({ ports: [{}] }),
  ]
  assert.deepEqual(
    counted.map((each) => each.object.metadata.generation),
    [1, 1, 2, 2],
  )
})

const zone = 'topology.orch.io/zone'
const host = 'orch.io/hostname'

test('v1beta1 EndpointSlices represent the location of an endpoint as a topology map', () => {
  const pairs: readonly (readonly [older: JsonObject, stored: JsonObject])[] = [
    [
      { ...ten, topology: { [zone]: 'z', [host]: 'n', rack: 'r' } },
      { ...ten, zone: 'z', deprecatedTopology: { [host]: 'n', rack: 'r' } },
    ],
    [
      { ...ten, nodeName: 'n', topology: { [host]: 'n' } },
      { ...ten, nodeName: 'n' },
    ],
    [
      { ...ten, nodeName: 'n', topology: { [host]: 'm' } },
      { ...ten, nodeName: 'n', deprecatedTopology: { [host]: 'm' } },
    ],
    [ten, ten],
  ]
  const { fromStored, toStored } = endpointSliceV1beta1.conversion!
  const withEndpoints = (...endpoints: JsonObject[]) => ({ ...slice({ endpoints }) }) as unknown as ApiObject
  for (const [older, stored] of pairs) {
    const read = asJson(toStored(withEndpoints(older), ruleContext.vendor)).endpoints
    assert.deepEqual(read, [stored])
    assert.deepEqual(asJson(fromStored(withEndpoints(stored), ruleContext.vendor)).endpoints, [older])
  }
  const shown = asJson(fromStored(withEndpoints({ ...ten, nodeName: 'n' }), ruleContext.vendor)).endpoints
  assert.deepEqual(shown, [{ ...ten, nodeName: 'n', topology: { [host]: 'n' } }])
})

test('an update of a v1 EndpointSlice ignores a new topology and keeps the stored node name', () => {
  const deprecatedTopology = { [host]: 'n', rack: 'r' }
  assert.deepEqual(asJson(create({ endpoints: [{ ...ten, deprecatedTopology }] }).object).endpoints, [
    { ...ten, conditions: {} },
  ])
  const stored = { ...create({}).object, endpoints: [{ ...ten, conditions: {}, deprecatedTopology }] }
  const endpointsOf = (...endpoints: JsonObject[]) =>
    asJson(updateBy(endpointSlice, stored, slice({ endpoints })).object).endpoints
  assert.deepEqual(endpointsOf({ ...ten, deprecatedTopology }), stored.endpoints)
  const moved = { addresses: ['10.0.0.2'] }
  assert.deepEqual(endpointsOf({ ...moved, deprecatedTopology }), [{ ...moved, conditions: {}, nodeName: 'n' }])
  assert.deepEqual(endpointsOf({ ...moved, deprecatedTopology: { [host]: 'other' } }), [{ ...moved, conditions: {} }])
})

test('the topology of a v1beta1 EndpointSlice is limited in size and must consist of valid labels', () => {
  const faultsOf = (deprecatedTopology: JsonObject) => {
    const object = { ...create({}).object, endpoints: [{ ...ten, conditions: {}, deprecatedTopology }] }
    return updateBy(endpointSlice, object, asJson(object)).faults
  }
  assert.deepEqual(faultsOf({ 'a b': 'c d' }), ['Invalid endpoints[0].deprecatedTopology'])
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
  assert.deepEqual(faultsOf(many(16)), [])
  assert.deepEqual(faultsOf(many(17)), ['TooMany endpoints[0].deprecatedTopology'])
})

test('the EndpointSlice table shows only the first few ports and addresses', () => {
  const shown = (sent: JsonObject) => cellsOf(endpointSlice, create(sent).object).slice(1, 4)
  assert.deepEqual(shown({}), ['IPv4', '<unset>', '<unset>'])
  const ports = [{ name: 'a', port: 80 }, { name: 'b' }]
  assert.deepEqual(shown({ endpoints: [ten, { addresses: ['10.0.0.2', '10.0.0.3', '10.0.0.4'] }], ports }), [
    'IPv4',
    '80,b',
    '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...',
  ])
})

function create(sent: JsonObject) {
  return createBy(endpointSlice, slice(sent))
}

function slice(sent: JsonObject): JsonObject {
  return {
    apiVersion: 'discovery.orch.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 's' },
    addressType: 'IPv4',
    ...sent,
  }
}
