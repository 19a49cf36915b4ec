/** Tests basic requests to a real server over TLS: create, read, update, list in pages, watch and delete. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const shared = await serve({ after })
let places = 0

/** Creates a namespace on the shared server. */
async function placeOfItsOwn() {
  const client = shared.client()
  const name = `place-${places++}`
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name } })).status, 201)
  return { client, configMaps: `/api/v1/namespaces/${name}/configmaps` }
}

test('objects are created, read, updated, watched and deleted', async () => {
  const { client, configMaps } = await placeOfItsOwn()
  const created = await client.post(configMaps, { metadata: { name: 'a' }, data: { k: 'v' } })
  assert.equal(created.status, 201)
  assert.deepEqual((await client.get(`${configMaps}/a`)).body, created.body)

  const stop = new AbortController()
  const events = client.watch(
    `${configMaps}?watch=1&resourceVersion=${created.body.metadata.resourceVersion}`,
    stop.signal,
  )
  const updated = await client.put(`${configMaps}/a`, { metadata: { name: 'a' }, data: { k: 'w' } })
  const deleted = await client.delete(`${configMaps}/a`)
  assert.deepEqual([updated.status, deleted.status], [200, 200])
  const first = (await events.next()).value
  const second = (await events.next()).value
  assert.deepEqual([first.type, first.object], ['MODIFIED', updated.body])
  assert.equal(second.type, 'DELETED')
  assert.ok(Number(second.object.metadata.resourceVersion) > Number(updated.body.metadata.resourceVersion))
  stop.abort()
  assert.equal((await client.get(`${configMaps}/a`)).status, 404)
})

test('an update with an outdated resourceVersion is rejected and leaves the object unchanged', async () => {
  const { client, configMaps } = await placeOfItsOwn()
  const { body } = await client.post(configMaps, { metadata: { name: 'a' } })
  await client.put(`${configMaps}/a`, { metadata: { name: 'a' }, data: { k: 'new' } })
  const stale = await client.put(`${configMaps}/a`, { ...body, data: { k: 'old' } })
  assert.deepEqual([stale.status, stale.body.reason], [409, 'Conflict'])
  assert.deepEqual((await client.get(`${configMaps}/a`)).body.data, { k: 'new' })
})

test('all pages of a list belong to one snapshot, despite concurrent writes', async () => {
  const { client, configMaps } = await placeOfItsOwn()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await client.post(configMaps, { metadata: { name } })
  const names: string[] = []
  const versions = new Set<string>()
  let token = ''
  do {
    const page = await client.get(`${configMaps}?limit=2&continue=${token}`)
    assert.equal(page.status, 200)
    names.push(...page.body.items.map((item: { metadata: { name: string } }) => item.metadata.name))
    versions.add(page.body.metadata.resourceVersion)
    token = page.body.metadata.continue ?? ''
    await client.delete(`${configMaps}/d`)
    await client.post(configMaps, { metadata: { name: `aa${names.length}` } })
  } while (token !== '')
  assert.deepEqual(names, ['a', 'b', 'c', 'd', 'e'])
  assert.equal(versions.size, 1)
})

test('__proto__ and similar names are ordinary keys', async () => {
  const { client, configMaps } = await placeOfItsOwn()
  const raw =
    '{"metadata":{"name":"p"},"data":{"__proto__":"1","constructor":"2","hasOwnProperty":"3","10":"4","9":"5"}}'
  assert.equal((await client.send(configMaps, { method: 'POST', raw })).status, 201)
  const expected = '"data":{"10":"4","9":"5","__proto__":"1","constructor":"2","hasOwnProperty":"3"}'
  assert.ok((await client.get(`${configMaps}/p`)).text.includes(expected))
  await shared.stop()
  await shared.restart()
  assert.ok((await client.get(`${configMaps}/p`)).text.includes(expected))
})

test('each profile uses its own API names, and the profile of a store cannot be changed', async (t) => {
  const server = await serve(t, ['--profile=kubernetes'])
  const { body } = await server.client().get('/api/v1/namespaces/default')
  assert.deepEqual(body.metadata.labels, { 'kubernetes.io/metadata.name': 'default' })
  assert.deepEqual(body.spec.finalizers, ['kubernetes'])
  await server.stop()
  await assert.rejects(
    server.restart(['--profile=orch']),
    /created with the profile "kubernetes".*--profile=kubernetes/,
  )
})
