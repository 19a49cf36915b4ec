/** Tests Endpoints: validation of addresses and ports, defaults, creation by PUT, and the address column. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { endpoints } from '../../../src/api/kinds/core/endpoints.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { createBy } from './rules.ts'

const good = { ip: '10.0.0.1' }

function create(...subsets: JsonObject[]) {
  return createBy(endpoints, { metadata: { name: 'e' }, subsets })
}

test('Endpoints with unspecified, loopback or link-local addresses are rejected', () => {
  for (const ip of ['', 'x', '10.0.0.256', '10.0.0.1%eth0', '::1', '127.1.2.3', '169.254.9.9', 'fe80::1'])
    assert.deepEqual(create({ addresses: [{ ip }] }).faults, ['Invalid subsets[0].addresses[0].ip'], ip)
  for (const ip of ['224.0.0.1', 'ff02::1', 'ff12::9', '0.0.0.0', '::', '::ffff:127.0.0.1'])
    assert.deepEqual(create({ notReadyAddresses: [{ ip }] }).faults, ['Invalid subsets[0].notReadyAddresses[0].ip'], ip)
  for (const ip of ['10.0.0.1', '224.0.1.1', 'ff05::1', 'fd00::1', '255.255.255.255', '::ffff:10.0.0.1'])
    assert.deepEqual(create({ addresses: [{ ip }] }).faults, [], ip)
})

const bad: readonly (readonly [subset: JsonObject, ...faults: string[]])[] = [
  [{}, 'Required subsets[0]'],
  [{ ports: [{ port: 1 }] }, 'Required subsets[0]'],
  [{ addresses: [{ ...good, hostname: 'A_' }] }, 'Invalid subsets[0].addresses[0].hostname'],
  [{ addresses: [{ ...good, nodeName: '' }] }, 'Invalid subsets[0].addresses[0].nodeName'],
  [{ addresses: [good], ports: [{ port: 0 }] }, 'Invalid subsets[0].ports[0].port'],
  [{ addresses: [good], ports: [{ port: 65536 }] }, 'Invalid subsets[0].ports[0].port'],
  [{ addresses: [good], ports: [{ port: 1, name: 'a.b' }] }, 'Invalid subsets[0].ports[0].name'],
  [{ addresses: [good], ports: [{ port: 1, protocol: 'tcp' }] }, 'NotSupported subsets[0].ports[0].protocol'],
  [{ addresses: [good], ports: [{ port: 1, appProtocol: '' }] }, 'Invalid subsets[0].ports[0].appProtocol'],
  [{ addresses: [good], ports: [{ port: 1 }, { port: 2, name: 'b' }] }, 'Required subsets[0].ports[0].name'],
]

test('Endpoints with invalid subsets, addresses or ports are rejected', () => {
  for (const [subset, ...faults] of bad) assert.deepEqual(create(subset).faults, faults, JSON.stringify(subset))
  const second = create({ addresses: [good] }, { addresses: [{ ip: 'x' }], ports: [{ port: 0 }] })
  assert.deepEqual(second.faults, ['Invalid subsets[1].addresses[0].ip', 'Invalid subsets[1].ports[0].port'])
})

test('the protocol of a port in Endpoints defaults to TCP', () => {
  const { object } = create({ addresses: [good, good], ports: [{ port: 80, protocol: '' }] })
  assert.deepEqual(asJson(object).subsets, [{ addresses: [good, good], ports: [{ port: 80, protocol: 'TCP' }] }])
})

test('Endpoints can be created with PUT, listed and deleted', async (t) => {
  const client = (await serve(t)).client()
  const path = '/api/v1/namespaces/default/endpoints'
  const two = [{ ip: '10.0.0.1' }, { ip: 'fd00::2' }]
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ]
  const shown: readonly (readonly [name: string, subsets: JsonObject[], cell: string])[] = [
    ['none', [], '<none>'],
    ['unready', [{ notReadyAddresses: two }], ''],
    ['bare', [{ addresses: two }], '10.0.0.1,fd00::2'],
    ['many', [{ addresses: two, ports }], '10.0.0.1:80,[fd00::2]:80,10.0.0.1:81 + 1 more...'],
  ]
  for (const [name, subsets, cell] of shown) {
    assert.equal((await client.put(`${path}/${name}`, { metadata: { name }, subsets })).status, 201)
    const table = await client.get(`${path}/${name}`, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
    assert.deepEqual(table.body.rows[0].cells.slice(0, 2), [name, cell])
  }
  assert.equal((await client.put(`${path}/none`, { metadata: { name: 'none' } })).status, 200)
  const deleted = await client.delete(`${path}/none`)
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'Status'])
})
