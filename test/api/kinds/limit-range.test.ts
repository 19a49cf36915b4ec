/** Tests LimitRange: derived defaults and validation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { limitRange } from '../../../src/api/kinds/core/limit-range.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { createBy } from './rules.ts'

function create(...limits: JsonObject[]) {
  return createBy(limitRange, { metadata: { name: 'l' }, spec: { limits } })
}

const filled: readonly (readonly [sent: JsonObject, added: JsonObject])[] = [
  [{ max: { cpu: '2' } }, { default: { cpu: '2' }, defaultRequest: { cpu: '2' } }],
  [{ min: { cpu: '1' } }, { defaultRequest: { cpu: '1' } }],
  [{ default: { cpu: '0.5' } }, { default: { cpu: '500m' }, defaultRequest: { cpu: '500m' } }],
  [
    { max: { cpu: '2' }, min: { cpu: '1', memory: '1Mi' } },
    { default: { cpu: '2' }, defaultRequest: { cpu: '2', memory: '1Mi' } },
  ],
  [
    { max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '1m' } },
    { default: { cpu: '1' }, defaultRequest: { cpu: '1m' } },
  ],
  [{ maxLimitRequestRatio: { cpu: '2' } }, {}],
  [{ max: { cpu: '0.00001' } }, { max: { cpu: '1m' }, default: { cpu: '1m' }, defaultRequest: { cpu: '1m' } }],
]

test('missing container defaults in a LimitRange are derived from the other limits', () => {
  for (const [sent, added] of filled) {
    const { object, faults } = create({ type: 'Container', ...sent })
    assert.deepEqual(faults, [], JSON.stringify(sent))
    assert.deepEqual(asJson(object).spec, { limits: [{ type: 'Container', ...sent, ...added }] })
  }
  for (const item of [
    { type: 'Pod', max: { cpu: '2' } },
    { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
    { type: 'example.com/Thing', min: { 'example.com/size': '5' } },
  ])
    assert.deepEqual(asJson(create(item).object).spec, { limits: [item] })
})

/** Invalid items with the expected errors. Paths are relative to the item. */
const bad: readonly (readonly [item: JsonObject, ...faults: string[]])[] = [
  [{ max: { cpu: '1' } }, 'Invalid type'],
  [{ type: 'a b' }, 'Invalid type'],
  [{ type: 'Node' }, 'Invalid type'],
  [
    { type: 'Pod', default: { cpu: '1' }, defaultRequest: { disk: '1' } },
    'Forbidden default',
    'Forbidden defaultRequest',
  ],
  [{ type: 'PersistentVolumeClaim', default: { storage: '1' } }, 'Required limits'],
  [{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }, 'Required limits'],
  [
    { type: 'Container', max: { disk: '1' } },
    'Invalid default[disk]',
    'Invalid defaultRequest[disk]',
    'Invalid max[disk]',
  ],
  [{ type: 'Container', maxLimitRequestRatio: { 'orch.io/a/b': '1' } }, 'Invalid maxLimitRequestRatio[orch.io/a/b]'],
  [{ type: 'example.com/Thing', min: { disk: '1' } }, 'Invalid min[disk]'],
  [
    { type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } },
    'Invalid default[cpu]',
    'Invalid defaultRequest[cpu]',
    'Invalid min[cpu]',
  ],
  [{ type: 'Container', min: { cpu: '1' }, defaultRequest: { cpu: '500m' } }, 'Invalid defaultRequest[cpu]'],
  [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '2' } }, 'Invalid defaultRequest[cpu]'],
  [
    { type: 'Container', max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '1' } },
    'Invalid default[cpu]',
  ],
  [{ type: 'Container', maxLimitRequestRatio: { cpu: '0.5' } }, 'Invalid maxLimitRequestRatio[cpu]'],
  [
    { type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '2.5' } },
    'Invalid maxLimitRequestRatio[cpu]',
  ],
  [
    { type: 'Container', default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } },
    'Invalid defaultRequest[example.com/gpu]',
  ],
  [
    { type: 'Container', default: { 'hugepages-2Mi': '4Mi' }, defaultRequest: { 'hugepages-2Mi': '2Mi' } },
    'Invalid defaultRequest[hugepages-2Mi]',
  ],
]

test('a LimitRange with invalid bounds is rejected', () => {
  for (const [item, ...faults] of bad) {
    const told = faults.map((fault) => fault.replace(' ', ' spec.limits[0].')).sort()
    assert.deepEqual(create(item).faults, told, JSON.stringify(item))
  }
  const twice = create({ type: 'Pod', max: { cpu: '1' } }, { type: 'Pod', min: { cpu: '1' } })
  assert.deepEqual(twice.faults, ['Duplicate spec.limits[1].type'])
  for (const item of [
    { type: 'Pod', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '2' } },
    { type: 'Pod', min: { cpu: '0' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '9' } },
    { type: 'Container', max: { cpu: '-1' } },
    { type: 'Pod', max: { 'hugepages-2Mi': '4Mi', 'ephemeral-storage': '1Gi' } },
  ])
    assert.deepEqual(create(item).faults, [], JSON.stringify(item))
})

test('a LimitRange without a name gets a generated name', () => {
  const { object, faults } = createBy(limitRange, { metadata: {}, spec: { limits: [] } })
  assert.deepEqual(faults, [])
  assert.match(object.metadata.name!, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('a LimitRange created with PUT has no generation, and the LimitRange table has the default columns', async (t) => {
  const client = (await serve(t)).client()
  const path = '/api/v1/namespaces/default/limitranges'
  const range = { metadata: { name: 'l' }, spec: { limits: [{ type: 'Pod', max: { cpu: '1.50' } }] } }
  const made = await client.put(`${path}/l`, range)
  assert.deepEqual([made.status, made.body.spec.limits[0].max], [201, { cpu: '1500m' }])
  const none = await client.put(`${path}/l`, { metadata: { name: 'l' } })
  assert.deepEqual([none.status, none.body.spec, none.body.metadata.generation], [200, { limits: [] }, undefined])
  const table = await client.get(path, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  assert.deepEqual(
    table.body.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Created At'],
  )
  assert.equal((await client.get(`${path}/l/status`)).status, 404)
})
