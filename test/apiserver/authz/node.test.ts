/**
 * Tests the Node authorizer. A node agent can read only the objects that the pods on its node need, and cannot find out
 * whether other objects exist.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after }, ['--disable-admission-plugins=ServiceAccount'])
const admin = server.client()
const core = '/api/v1/namespaces/default'

/** Returns the status of a request by a node agent. */
async function asNode(node: string, path: string, more: { method?: string; body?: object } = {}): Promise<number> {
  const headers = { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' }
  return (await admin.send(path, { headers, ...more })).status
}

const container = {
  name: 'c',
  image: 'i',
  env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'of-env', key: 'k' } } }],
  envFrom: [{ configMapRef: { name: 'of-env' } }],
}
const volumes = [
  { name: 's', secret: { secretName: 'of-volume' } },
  { name: 'p', projected: { sources: [{ configMap: { name: 'projected' } }, { secret: { name: 'projected' } }] } },
  { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
]
const spec = {
  nodeName: 'one',
  imagePullSecrets: [{ name: 'pull' }],
  containers: [container],
  initContainers: [{ name: 'i', image: 'i', envFrom: [{ secretRef: { name: 'of-init' } }] }],
  volumes,
}

const secrets = ['of-env', 'of-volume', 'projected', 'pull', 'of-init', 'of-pv', 'other']
for (const name of secrets) await admin.post(`${core}/secrets`, { metadata: { name } })
for (const name of ['of-env', 'projected', 'other']) await admin.post(`${core}/configmaps`, { metadata: { name } })
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
for (const name of ['data', 'other'])
  await admin.post(`${core}/persistentvolumeclaims`, { metadata: { name }, spec: claim })
const volume = (name: string) => ({
  metadata: { name: `v-${name}` },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    claimRef: { namespace: 'default', name },
    cephfs: { monitors: ['m'], secretRef: { name: 'of-pv' } },
  },
})
for (const name of ['data', 'other']) await admin.post('/api/v1/persistentvolumes', volume(name))

const needed = [
  ...secrets.slice(0, 6).map((name) => `${core}/secrets/${name}`),
  `${core}/configmaps/of-env`,
  `${core}/configmaps/projected`,
  `${core}/persistentvolumeclaims/data`,
  '/api/v1/persistentvolumes/v-data',
]
const others = [
  `${core}/secrets/other`,
  `${core}/secrets/missing`,
  `${core}/configmaps/other`,
  `${core}/persistentvolumeclaims/other`,
  '/api/v1/persistentvolumes/v-other',
  '/api/v1/persistentvolumes/missing',
  `${core}/secrets`,
  '/api/v1/secrets',
]

test('a node can read only the objects that its pods currently reference', async () => {
  for (const path of [...needed, ...others]) assert.equal(await asNode('one', path), 403, path)
  assert.equal((await admin.post(`${core}/pods`, { metadata: { name: 'p' }, spec })).status, 201)
  for (const path of needed) {
    assert.equal(await asNode('one', path), 200, path)
    assert.equal(await asNode('two', path), 403, path)
  }
  for (const path of others) assert.equal(await asNode('one', path), 403, path)
  for (const path of needed) assert.equal(await asNode('one', path, { method: 'DELETE' }), 403, path)
  await admin.delete(`${core}/pods/p`, { gracePeriodSeconds: 0 })
  for (const path of needed) assert.equal(await asNode('one', path), 403, path)
})

test('a node can read an object until the last pod that references it is gone, and mirror pods grant no access', async () => {
  const pod = (name: string, annotations = {}) => ({ metadata: { name, annotations }, spec })
  for (const name of ['a', 'b']) await admin.post(`${core}/pods`, pod(name))
  const path = `${core}/secrets/of-env`
  await admin.delete(`${core}/pods/a`, { gracePeriodSeconds: 0 })
  assert.equal(await asNode('one', path), 200)
  await admin.delete(`${core}/pods/b`, { gracePeriodSeconds: 0 })
  assert.equal(await asNode('one', path), 403)
  await admin.post(`${core}/pods`, pod('m', { 'orch.io/config.mirror': 'x' }))
  assert.equal(await asNode('one', path), 403)
})

test('a node can access only the Lease and the CSINode with its own name', async () => {
  const leases = '/apis/coordination.orch.io/v1/namespaces/kube-node-lease/leases'
  const nodes = '/apis/storage.orch.io/v1/csinodes'
  const post = (at: string, name: string) => asNode('one', at, { method: 'POST', body: { metadata: { name } } })
  assert.equal(await post(leases, 'one'), 201)
  assert.equal(await asNode('one', `${leases}/one`), 200)
  assert.equal(await asNode('two', `${leases}/one`), 403)
  assert.equal(await asNode('one', leases), 403)
  assert.equal(await post('/apis/coordination.orch.io/v1/namespaces/default/leases', 'one'), 403)
  assert.equal(await asNode('one', `${nodes}/one`), 404)
  assert.equal(await asNode('one', `${nodes}/two`), 403)
})

test('a user is a node agent only with both a node user name and the nodes group', async () => {
  const path = '/api/v1/nodes'
  const ask = async (user: string, group?: string) =>
    (await admin.get(path, { 'impersonate-user': user, ...(group ? { 'impersonate-group': group } : {}) })).status
  assert.equal(await ask('system:node:one', 'system:nodes'), 200)
  assert.equal(await ask('system:node:one'), 403)
  assert.equal(await ask('one', 'system:nodes'), 403)
  assert.equal(await ask('system:node:', 'system:nodes'), 403)
})
