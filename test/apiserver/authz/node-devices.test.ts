/**
 * Tests node agents as of Kubernetes 1.36: access to their ResourceSlices, to the ResourceClaims and service
 * accounts of their pods, and to tokens with the audiences that these pods use.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const flags = ['--enable-admission-plugins=NodeRestriction', '--disable-admission-plugins=ServiceAccount']
const server = await serve({ after }, ['--emulated-version=1.36', '--authorization-mode=Node,RBAC', ...flags])
const admin = server.client()
const core = '/api/v1/namespaces/default'
const devices = '/apis/resource.orch.io/v1'
const slices = `${devices}/resourceslices`
const claims = `${devices}/namespaces/default/resourceclaims`
const merge = 'application/merge-patch+json'

interface Sent {
  readonly method?: string
  readonly body?: object
  readonly type?: string
}

/** Sends a request as the agent of a node. */
async function asNode(node: string, path: string, { type = 'application/json', ...more }: Sent = {}) {
  const headers = {
    'impersonate-user': `system:node:${node}`,
    'impersonate-group': 'system:nodes',
    'content-type': type,
  }
  return await admin.send(path, { headers, ...more })
}

async function statusAs(...sent: Parameters<typeof asNode>): Promise<number> {
  return (await asNode(...sent)).status
}

const container = { name: 'c', image: 'i' }
const slice = (name: string, location: object) => ({
  metadata: { name },
  spec: { driver: 'd.example.com', pool: { name, generation: 1, resourceSliceCount: 1 }, ...location },
})
const claim = (name: string) => ({
  metadata: { name },
  spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } },
})

test('a node agent can manage only the ResourceSlices of its own node', async () => {
  const post = (body: object) => statusAs('one', slices, { method: 'POST', body })
  assert.equal(await post(slice('of-one', { nodeName: 'one' })), 201)
  assert.equal(await post(slice('of-two', { nodeName: 'two' })), 403)
  assert.equal(await post(slice('of-all', { allNodes: true })), 403)
  for (const body of [slice('of-two', { nodeName: 'two' }), slice('of-all', { allNodes: true })])
    assert.equal((await admin.post(slices, body)).status, 201)
  const label = { method: 'PATCH', type: merge, body: { metadata: { labels: { a: 'b' } } } }
  for (const name of ['of-two', 'of-all', 'missing'])
    for (const more of [{}, label, { method: 'DELETE' }])
      assert.equal(await statusAs('one', `${slices}/${name}`, more), 403, `${more.method} ${name}`)
  assert.equal(await statusAs('one', `${slices}/of-one`), 200)
  assert.equal(await statusAs('one', `${slices}/of-one`, label), 200)
})

test('a node agent can list and delete ResourceSlices only with a field selector for its own node', async () => {
  const selector = (node: string) => `${slices}?fieldSelector=spec.nodeName%3D${node}`
  for (const more of [{}, { method: 'DELETE' }])
    for (const path of [slices, selector('two')]) assert.equal(await statusAs('one', path, more), 403, path)
  const { status, body } = await asNode('one', selector('one'))
  assert.deepEqual([status, body.items.length], [200, 1])
  assert.equal(await statusAs('one', selector('one'), { method: 'DELETE' }), 200)
  const remaining = (await admin.get(slices)).body.items as { metadata: { name: string } }[]
  assert.deepEqual(
    remaining.map(({ metadata }) => metadata.name),
    ['of-all', 'of-two'],
  )
})

test('before 1.32, a node agent may list ResourceSlices without a field selector; before 1.30, it has no access to them', async () => {
  const headers = { 'impersonate-user': 'system:node:one', 'impersonate-group': 'system:nodes' }
  for (const [version, status] of [
    // The API version does not exist, but requests are authorized first.
    ['1.31', 404],
    ['1.29', 403],
  ] as const) {
    const older = await serve({ after }, [`--emulated-version=${version}`, '--authorization-mode=Node,RBAC'])
    assert.equal((await older.client().send(slices, { headers })).status, status, version)
  }
})

test('a node agent can read only the ResourceClaims of its pods and cannot add claims to a pod status', async () => {
  for (const name of ['named', 'generated', 'other']) assert.equal((await admin.post(claims, claim(name))).status, 201)
  const resourceClaims = [
    { name: 'a', resourceClaimName: 'named' },
    { name: 'b', resourceClaimTemplateName: 't' },
  ]
  const spec = { nodeName: 'one', containers: [container], resourceClaims }
  assert.equal((await admin.post(`${core}/pods`, { metadata: { name: 'p' }, spec })).status, 201)
  assert.equal(await statusAs('one', `${claims}/named`), 200)
  for (const name of ['generated', 'other', 'missing']) assert.equal(await statusAs('one', `${claims}/${name}`), 403)
  const statuses = { status: { resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'generated' }] } }
  const update = { method: 'PATCH', type: 'application/strategic-merge-patch+json', body: statuses }
  const refused = await asNode('one', `${core}/pods/p/status`, update)
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /node "one" cannot update resource claim statuses/)
  const headers = { 'content-type': update.type }
  assert.equal((await admin.send(`${core}/pods/p/status`, { method: 'PATCH', headers, body: statuses })).status, 200)
  assert.equal(await statusAs('one', `${claims}/generated`), 200)
  for (const name of ['named', 'generated']) assert.equal(await statusAs('two', `${claims}/${name}`), 403)
})

test('in later Kubernetes versions, mirror pods cannot refer to claims or certificates', async () => {
  const { uid } = (await admin.post('/api/v1/nodes', { metadata: { name: 'one' } })).body.metadata
  const metadata = {
    generateName: 'm-',
    annotations: { 'orch.io/config.mirror': 'x' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'one', uid, controller: true }],
  }
  const post = (more: object) =>
    asNode('one', `${core}/pods`, {
      method: 'POST',
      body: { metadata, spec: { nodeName: 'one', containers: [container], ...more } },
    })
  assert.equal((await post({})).status, 201)
  const refused = await post({ resourceClaims: [{ name: 'a', resourceClaimTemplateName: 't' }] })
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /can not create pods that reference resourceclaims/)
})

test('a node agent can read only the service accounts of its pods', async () => {
  const accounts = `${core}/serviceaccounts`
  for (const name of ['used', 'unused']) await admin.post(accounts, { metadata: { name } })
  const spec = { nodeName: 'one', serviceAccountName: 'used', containers: [container] }
  assert.equal((await admin.post(`${core}/pods`, { metadata: { name: 'with-account' }, spec })).status, 201)
  assert.equal(await statusAs('one', `${accounts}/used`), 200)
  assert.equal(await statusAs('two', `${accounts}/used`), 403)
  for (const path of [accounts, `${accounts}/unused`]) assert.equal(await statusAs('one', path), 403)
})

test('a node agent can request tokens only for audiences in the volumes of the pod', async () => {
  const drivers = '/apis/storage.orch.io/v1/csidrivers'
  const driver = (name: string, audience: string) => ({ metadata: { name }, spec: { tokenRequests: [{ audience }] } })
  for (const body of [driver('inline.example.com', 'of-inline'), driver('bound.example.com', 'of-bound')])
    assert.equal((await admin.post(drivers, body)).status, 201)
  const capacity = { storage: '1Gi' }
  const modes = { accessModes: ['ReadWriteOnce'] }
  const csi = { driver: 'bound.example.com', volumeHandle: 'h' }
  await admin.post('/api/v1/persistentvolumes', { metadata: { name: 'v' }, spec: { ...modes, capacity, csi } })
  const bound = { ...modes, volumeName: 'v', storageClassName: '', resources: { requests: capacity } }
  await admin.post(`${core}/persistentvolumeclaims`, { metadata: { name: 'data' }, spec: bound })
  const volumes = [
    { name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'of-volume' } }] } },
    { name: 'b', csi: { driver: 'inline.example.com' } },
    { name: 'c', persistentVolumeClaim: { claimName: 'data' } },
  ]
  const spec = { nodeName: 'one', serviceAccountName: 'used', containers: [container], volumes }
  const created = await admin.post(`${core}/pods`, { metadata: { name: 'with-tokens' }, spec })
  assert.equal(created.status, 201, created.text)
  const { uid } = created.body.metadata
  const request = (audiences: readonly string[]) =>
    asNode('one', `${core}/serviceaccounts/used/token`, {
      method: 'POST',
      body: { spec: { audiences, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'with-tokens', uid } } },
    })
  for (const audience of ['of-volume', 'of-inline', 'of-bound'])
    assert.equal((await request([audience])).status, 201, audience)
  // No volume uses the default audience, that is, the audience of the API server itself.
  for (const audiences of [[], ['vault'], ['of-volume', 'of-inline']]) {
    const refused = await request(audiences)
    assert.equal(refused.status, 403, audiences.join())
    assert.match(refused.body.message, /audience/)
  }
  const role = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'vault-tokens' }
  const rules = [{ apiGroups: [''], resources: ['vault'], verbs: ['request-serviceaccounts-token-audience'] }]
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  await admin.post(`${rbac}/clusterroles`, { metadata: { name: role.name }, rules })
  const subjects = [{ apiGroup: role.apiGroup, kind: 'Group', name: 'system:nodes' }]
  await admin.post(`${rbac}/clusterrolebindings`, { metadata: { name: role.name }, roleRef: role, subjects })
  assert.equal((await request(['vault'])).status, 201)
})
