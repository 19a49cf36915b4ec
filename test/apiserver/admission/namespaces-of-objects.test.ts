/** Tests NamespaceAutoProvision and NamespaceExists, with objects whose namespace is missing. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const flagsOf = (name: string) => [
  `--enable-admission-plugins=${name}`,
  '--disable-admission-plugins=NamespaceLifecycle',
]
const maps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`
const map = { metadata: { name: 'a' } }

describe('NamespaceAutoProvision', async () => {
  const client = (await serve({ after }, flagsOf('NamespaceAutoProvision'))).client()
  const isThere = async (name: string) => (await client.get(`/api/v1/namespaces/${name}`)).status === 200

  test('all kinds of create requests create the namespace if it is missing', async () => {
    assert.equal((await client.post(maps('posted'), map)).status, 201)
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', ...map }
    const apply = { method: 'PATCH', headers, body: applied }
    assert.equal((await client.send(`${maps('applied')}/a?fieldManager=me`, apply)).status, 201)
    const lease = '/apis/coordination.orch.io/v1/namespaces/put/leases/a'
    assert.equal((await client.put(lease, map)).status, 201)
    for (const name of ['posted', 'applied', 'put']) assert.ok(await isThere(name), name)
    const { labels } = (await client.get('/api/v1/namespaces/posted')).body.metadata
    assert.deepEqual(labels, { 'orch.io/metadata.name': 'posted' })
  })

  test('concurrent creates in a missing namespace all succeed', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`)
    const answers = await Promise.all(names.map((name) => client.post(maps('crowded'), { metadata: { name } })))
    assert.deepEqual(
      answers.map(({ status }) => status),
      names.map(() => 201),
    )
  })

  test('dry runs, reviews and invalid names do not create a namespace', async () => {
    assert.equal((await client.post(`${maps('dry')}?dryRun=All`, map)).status, 201)
    const review = {
      metadata: { namespace: 'asked' },
      spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'asked' } },
    }
    const reviews = '/apis/authorization.orch.io/v1/namespaces/asked/localsubjectaccessreviews'
    assert.equal((await client.post(reviews, review)).status, 201)
    for (const name of ['dry', 'asked']) assert.equal(await isThere(name), false, name)
    const { status, body } = await client.post(maps('Bad_Name'), map)
    assert.equal(status, 403)
    assert.match(body.message, /configmaps "a" is forbidden: Namespace "Bad_Name" is invalid/)
  })
})

describe('NamespaceExists', async () => {
  const client = (await serve({ after }, flagsOf('NamespaceExists'))).client()

  test('creating an object in a missing namespace is rejected', async () => {
    const { status, body } = await client.post(maps('missing'), map)
    assert.deepEqual([status, body.details], [404, { name: 'missing', kind: 'namespaces' }])
    assert.equal((await client.post(maps('default'), map)).status, 201)
    assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: 'missing' } })).status, 201)
    assert.equal((await client.post(maps('missing'), map)).status, 201)
  })
})
