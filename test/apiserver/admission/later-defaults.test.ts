/**
 * Tests defaults that later Kubernetes versions changed: the classes of claims and Ingresses, and token requests.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after }, ['--emulated-version=1.36'])
const client = server.client('admin-token')

test('if several classes are marked as default, a claim gets the newest class', async () => {
  for (const name of ['b', 'a']) {
    const storage = '/apis/storage.orch.io/v1/storageclasses'
    const marked = (domain: string) => ({ name, annotations: { [`${domain}.orch.io/is-default-class`]: 'true' } })
    await client.post(storage, { metadata: marked('storageclass'), provisioner: 'p' })
    const ingress = '/apis/networking.orch.io/v1/ingressclasses'
    await client.post(ingress, { metadata: marked('ingressclass'), spec: { controller: 'example.com/c' } })
  }
  const newest = async (path: string) => {
    const { items } = (await client.get(path)).body as {
      items: { metadata: { name: string; creationTimestamp: string } }[]
    }
    const last = items.map(({ metadata }) => metadata.creationTimestamp).sort()[1]
    return items.find(({ metadata }) => metadata.creationTimestamp === last)?.metadata.name
  }
  const claim = await client.post('/api/v1/namespaces/default/persistentvolumeclaims', {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  assert.equal(claim.status, 201, claim.body.message)
  assert.equal(claim.body.spec.storageClassName, await newest('/apis/storage.orch.io/v1/storageclasses'))
  const ingress = await client.post('/apis/networking.orch.io/v1/namespaces/default/ingresses', {
    metadata: { name: 'i' },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  })
  assert.equal(ingress.status, 201, ingress.body.message)
  assert.equal(ingress.body.spec.ingressClassName, await newest('/apis/networking.orch.io/v1/ingressclasses'))
})

test('a token request without a name gets the name of the service account', async () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await client.post(accounts, { metadata: { name: 'robot' } })
  const { status, body } = await client.post(`${accounts}/robot/token`, { spec: {} })
  assert.equal(status, 201, body.message)
  assert.deepEqual([body.metadata.name, body.metadata.namespace], ['robot', 'default'])
  assert.ok(body.metadata.creationTimestamp)
})
