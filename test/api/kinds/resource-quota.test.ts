/** Tests ResourceQuota: resource names, scopes and their selectors, status and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { resourceQuota } from '../../../src/api/kinds/core/resource-quota.ts'
import { assertCheap } from '../../support/effort.ts'
import { serve } from '../../support/in-process.ts'
import { createBy, updateBy } from './rules.ts'

const pods = { pods: '1' }
const quota = (spec: JsonObject, status: JsonObject = {}) => ({ metadata: { name: 'q' }, spec, status })
const create = (spec: JsonObject) => createBy(resourceQuota, quota(spec))
const selector = (...matchExpressions: JsonObject[]) => ({ hard: pods, scopeSelector: { matchExpressions } })

const bad: readonly (readonly [spec: JsonObject, ...faults: string[]])[] = [
  [{ hard: { pods: '-1' } }, 'Invalid spec.hard[pods]'],
  [{ hard: { pods: '1500m' } }, 'Invalid spec.hard[pods]'],
  [{ hard: { sheep: '1' } }, 'Invalid spec.hard[sheep]'],
  [{ hard: { storage: '1' } }, 'Invalid spec.hard[storage]'],
  [{ hard: { 'requests.fish': '1' } }, 'Invalid spec.hard[requests.fish]'],
  [{ hard: { 'example.com/x': '500m' } }, 'Invalid spec.hard[example.com/x]'],
  [{ hard: { 'example.com/x': '10000000000000000000' } }, 'Invalid spec.hard[example.com/x]'],
  [{ hard: { 'example.com/x': '99999999999999999999' } }, 'Invalid spec.hard[example.com/x]'],
  [{ hard: { pods: '9300000000000000' } }, 'Invalid spec.hard[pods]'],
  [{ hard: pods, scopes: ['Sometimes'] }, 'Invalid spec.scopes'],
  [{ hard: { 'requests.cpu': '1' }, scopes: ['BestEffort'] }, 'Invalid spec.scopes'],
  [{ hard: { services: '1' }, scopes: ['Terminating'] }, 'Invalid spec.scopes'],
  [{ hard: pods, scopes: ['BestEffort', 'NotBestEffort'] }, 'Invalid spec.scopes'],
  [{ hard: pods, scopes: ['NotTerminating', 'Terminating'] }, 'Invalid spec.scopes'],
  [selector({ scopeName: 'PriorityClass', operator: 'In' }), 'Required ~.values'],
  [selector({ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] }), 'Invalid ~.values'],
  [selector({ scopeName: 'PriorityClass', operator: 'Gt', values: ['1'] }), 'Invalid ~.operator'],
  [selector({ scopeName: 'BestEffort', operator: 'DoesNotExist' }), 'Invalid ~.operator'],
  [selector({ scopeName: 'Moon', operator: 'Exists' }), 'Invalid ~.scopeName'],
  [selector({ operator: 'Exists' }), 'Invalid ~.scopeName'],
  [
    selector({ scopeName: 'BestEffort', operator: 'Exists' }, { scopeName: 'NotBestEffort', operator: 'Exists' }),
    'Invalid ~',
  ],
  [{ ...selector({ scopeName: 'PriorityClass', operator: 'Exists' }), hard: { services: '1' } }, 'Invalid ~'],
]

test('a ResourceQuota with invalid limits, scopes or scope selectors is rejected', () => {
  for (const [spec, ...faults] of bad) {
    const told = faults.map((fault) => fault.replace('~', 'spec.scopeSelector.matchExpressions'))
    assert.deepEqual(create(spec).faults, told, JSON.stringify(spec))
  }
  for (const spec of [
    {},
    { hard: { pods: '10', 'requests.cpu': '0.5', 'count/configmaps': '5', 'example.com/x': '1' } },
    { hard: { 'requests.hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1', 'limits.ephemeral-storage': '1' } },
    { hard: { 'requests.example.com/fish': '1500m' } },
    { hard: { 'example.com/x': '9223372036854775', 'requests.cpu': '10000000000000000000' } },
    { hard: { ...pods, 'requests.cpu': '1' }, scopes: ['CrossNamespacePodAffinity', 'NotBestEffort'] },
    { hard: { ...pods, 'count/services': '1' }, scopes: ['BestEffort', 'Terminating'] },
    selector({ scopeName: 'PriorityClass', operator: 'NotIn', values: ['a'] }),
    selector({ scopeName: 'PriorityClass', operator: 'DoesNotExist' }),
    { hard: pods, scopeSelector: {} },
  ])
    assert.deepEqual(create(spec).faults, [], JSON.stringify(spec))
})

test('the scopes of a ResourceQuota are immutable, but limits and scope selectors are mutable', () => {
  const before = create({ hard: pods, scopes: ['BestEffort', 'Terminating'] }).object
  const update = (spec: JsonObject) => updateBy(resourceQuota, before, quota(spec)).faults
  assert.deepEqual(update({ hard: { pods: '9' }, scopes: ['Terminating', 'BestEffort'] }), [])
  assert.deepEqual(update({ ...selector({ scopeName: 'BestEffort', operator: 'Exists' }), scopes: ['BestEffort'] }), [
    'Invalid spec.scopes',
  ])
  assert.deepEqual(update({ hard: pods }), ['Invalid spec.scopes'])
})

test('validating many scopes and limits of a ResourceQuota takes linear time', async () => {
  const scopes = Array.from({ length: 30_000 }, (_, i) => `s${i}`)
  const hard = Object.fromEntries(scopes.map((scope) => [`example.com/${scope}`, '1']))
  await assertCheap(5_000, () => assert.ok(create({ hard, scopes }).faults.length > 0))
})

test('a ResourceQuota can be created, updated, listed and deleted', async (t) => {
  const client = (await serve(t)).client()
  const path = '/api/v1/namespaces/default/resourcequotas'
  const made = await client.post(path, quota({ hard: { pods: '3', cpu: '1500m' } }, { used: { pods: '1' } }))
  assert.deepEqual([made.status, made.body.status], [201, {}])
  const status = {
    hard: { pods: '3', 'limits.cpu': '2', 'count/a.b': '1', cpu: '0.1' },
    used: { pods: '2', 'limits.cpu': '1' },
  }
  const written = await client.put(`${path}/q/status`, quota({ hard: { pods: '99' } }, status))
  assert.deepEqual([written.status, written.body.spec], [200, made.body.spec])
  const bad = await client.put(`${path}/q/status`, quota({}, { used: { pods: '500m', sheep: '1' } }))
  assert.deepEqual(
    bad.body.details.causes.map(({ field }: { field: string }) => field),
    ['status.used[pods]', 'status.used[sheep]', 'status.used[sheep]'],
  )
  const kept = await client.put(`${path}/q`, quota({ hard: pods }, {}))
  assert.deepEqual(kept.body.status, written.body.status)
  const table = await client.get(`${path}/q`, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  const [name, , ...cells] = table.body.rows[0].cells
  assert.deepEqual([name, ...cells], ['q', 'count/a.b: 0/1, cpu: 0/100m, pods: 2/3', 'limits.cpu: 1/2'])
  assert.equal((await client.put(`${path}/none`, { metadata: { name: 'none' } })).status, 404)
  const deleted = await client.delete(`${path}/q`)
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'ResourceQuota'])
})
