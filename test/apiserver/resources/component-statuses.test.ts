/** Tests ComponentStatus: the server checks its components on each request, and the resource is read-only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { componentStatuses } from '../../../src/apiserver/resources/component-statuses.ts'
import { serve } from '../../support/in-process.ts'

const path = '/api/v1/componentstatuses'

test('the store is reported as healthy in every format, and no other component is listed', async (t) => {
  const client = (await serve(t)).client()
  const conditions = [{ type: 'Healthy', status: 'True', message: 'ok' }]
  const list = await client.get(path)
  assert.deepEqual(list.body, {
    apiVersion: 'v1',
    kind: 'ComponentStatusList',
    metadata: {},
    items: [{ metadata: { name: 'store' }, conditions }],
  })
  assert.match(list.headers.warning as string, /v1 ComponentStatus is deprecated in v1\.19\+"$/)
  const one = await client.get(`${path}/store`)
  assert.deepEqual([one.body.kind, one.body.conditions], ['ComponentStatus', conditions])
  const table = await client.get(path, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  assert.deepEqual(table.body.rows[0].cells, ['store', 'Healthy', 'ok', ''])
  for (const [query, status, count] of [
    ['limit=abc', 400, undefined],
    ['timeoutSeconds=x', 400, undefined],
    ['resourceVersionMatch=Exact', 422, undefined],
    ['resourceVersion=0&limit=1&dryRun=x', 200, 1],
    ['fieldSelector=metadata.name=store', 200, 1],
    ['fieldSelector=metadata.name=zz', 200, 0],
    ['fieldSelector=metadata.name!=zz', 200, 1],
    ['fieldSelector=status=x', 400, undefined],
    ['labelSelector=zz', 200, 0],
    ['labelSelector=!zz', 200, 1],
    ['labelSelector=a===b', 400, undefined],
  ] as const) {
    const answer = await client.get(`${path}?${query}`)
    assert.deepEqual([answer.status, answer.body.items?.length], [status, count], query)
  }
  const others = ['admissioncontrols', 'admissionwebhooks', 'auditevents'].map((name) => `/apis/ops.orch.io/v1/${name}`)
  for (const other of others) {
    assert.equal((await client.get(`${other}?limit=abc`)).status, 400, other)
    assert.deepEqual((await client.get(`${other}?labelSelector=zz`)).body.items, [], other)
  }
  const [{ metadata }] = (await client.get(`${others[0]}?fieldSelector=metadata.name=Priority`)).body.items
  assert.equal(metadata.name, 'Priority')
  assert.equal((await client.get(`${path}/zz`)).status, 404)
  for (const method of ['POST', 'DELETE']) assert.equal((await client.send(path, { method, body: {} })).status, 405)
  for (const method of ['PUT', 'PATCH', 'DELETE'])
    assert.equal((await client.send(`${path}/store`, { method, body: {} })).status, 405)
  assert.equal((await client.get(`${path}?watch=1`)).status, 405)
})

test('a failing component is reported as unhealthy', async () => {
  const { answer } = componentStatuses([{ name: 'store', check: () => 'the store does not respond' }])
  const user = { name: 'u', uid: '', groups: [], extra: new Map() }
  const { signal } = new AbortController()
  const asked = { namespace: '', query: new URLSearchParams(), path: '', below: '', dryRun: false, object: undefined }
  const request = { ...asked, user, warn: () => {}, abandoned: () => signal }
  const one = (await answer({ ...request, verb: 'get', name: 'store' })) as ApiObject
  assert.deepEqual(one.conditions, [{ type: 'Healthy', status: 'False', error: 'the store does not respond' }])
})
