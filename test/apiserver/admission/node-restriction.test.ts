/** Tests NodeRestriction: a node agent can write only the objects of its own node, regardless of the kind of write. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const agent = {
  'impersonate-user': 'system:node:n',
  'impersonate-group': 'system:nodes',
}
const container = { name: 'c', image: 'i' }

describe('NodeRestriction for a node agent', async () => {
  // The node agent has all permissions here, so that only the admission plugin restricts it.
  const server = await serve({ after }, [
    '--enable-admission-plugins=NodeRestriction',
    '--disable-admission-plugins=ServiceAccount',
  ])
  const admin = server.client()
  await admin.post('/apis/rbac.authorization.orch.io/v1/clusterrolebindings', {
    metadata: { name: 'agents' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'Group', name: 'system:nodes' }],
  })
  const send = (method: string, path: string, body?: unknown, type = 'application/json') =>
    admin.send(path, { method, headers: { ...agent, 'content-type': type }, ...(body === undefined ? {} : { body }) })
  const status = async (...sent: Parameters<typeof send>) => {
    const answer = await send(...sent)
    if (answer.status === 403) assert.match(answer.body.message, / is forbidden: .*(?:node|lease|CSINode)/i)
    return answer.status
  }
  const labels = { 'node-restriction.orch.io/fips': 'true', 'orch.io/role': 'x', plain: '1' }
  for (const name of ['n', 'm']) await admin.post('/api/v1/nodes', { metadata: { name, labels } })
  const stored = (await admin.get('/api/v1/nodes/n')).body
  const { uid } = stored.metadata
  const path = '/api/v1/nodes/n'

  /** Returns requests that make the given change to the node, one for each kind of write. */
  const ways = (change: { metadata?: object; spec?: object }) => {
    const merged = {
      ...stored,
      metadata: { ...stored.metadata, ...change.metadata, resourceVersion: undefined, managedFields: undefined },
      spec: { ...stored.spec, ...change.spec },
    }
    const operations = Object.entries(change).flatMap(([part, fields]) =>
      Object.entries(fields as object).map(([name, value]) => ({ op: 'add', path: `/${part}/${name}`, value })),
    )
    const head = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
    const applied = { ...head, ...change, metadata: { ...head.metadata, ...change.metadata } }
    const all: [method: string, path: string, body: unknown, type?: string][] = [
      ['PUT', path, merged],
      ['PATCH', path, change, 'application/merge-patch+json'],
      ['PATCH', path, change, 'application/strategic-merge-patch+json'],
      ['PATCH', path, operations, 'application/json-patch+json'],
      ['PATCH', `${path}?fieldManager=f&force=true`, applied, 'application/apply-patch+yaml'],
    ]
    return all
  }

  for (const [what, change] of [
    ['a restricted label', { metadata: { labels: { ...labels, 'node-restriction.orch.io/fips': 'false' } } }],
    [
      'a label below the restricted domain',
      { metadata: { labels: { ...labels, 'a.node-restriction.orch.io/x': '1' } } },
    ],
    ['a label of the vendor', { metadata: { labels: { ...labels, 'orch.io/role': 'y' } } }],
    ['a taint', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }],
    ['an owner', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'm', uid: 'u' }] } }],
  ] as const)
    test(`a node agent cannot change ${what} of its own Node with any kind of write`, async () => {
      for (const way of ways(change)) assert.equal(await status(...way), 403, `${way[0]} ${way[3] ?? ''}`)
      assert.deepEqual((await admin.get(path)).body.metadata.labels, stored.metadata.labels)
    })

  test('a node agent can change all other fields of its own Node', async () => {
    const harmless = { metadata: { labels: { ...labels, plain: '2', 'node.orch.io/x': '1', 'orch.io/hostname': 'h' } } }
    for (const way of ways(harmless)) assert.equal(await status(...way), 200, `${way[0]} ${way[3] ?? ''}`)
    const patch = 'application/merge-patch+json'
    assert.equal(await status('PATCH', `${path}/status`, { status: { nodeInfo: { machineID: 'x' } } }, patch), 200)
    const removed = { metadata: { labels: { 'orch.io/role': null } } }
    assert.equal(await status('PATCH', `${path}/status`, removed, patch), 403)
  })

  test('a node agent can neither write other Nodes nor delete its own Node', async () => {
    const patch = 'application/merge-patch+json'
    assert.equal(await status('PATCH', '/api/v1/nodes/m', { metadata: { annotations: { a: 'b' } } }, patch), 403)
    assert.equal(await status('PATCH', '/api/v1/nodes/m/status', { status: { phase: 'x' } }, patch), 403)
    assert.equal(await status('POST', '/api/v1/nodes', { metadata: { name: 'o' } }), 403)
    for (const name of ['n', 'm']) assert.equal(await status('DELETE', `/api/v1/nodes/${name}`), 403)
    assert.equal(await status('DELETE', '/api/v1/nodes'), 403)
    for (const name of ['n', 'm']) assert.equal((await admin.get(`/api/v1/nodes/${name}`)).status, 200)
  })

  test('a node agent can register its Node only with allowed labels', async () => {
    const create = (name: string, given: object) =>
      admin.send('/api/v1/nodes?dryRun=All', {
        method: 'POST',
        headers: { ...agent, 'impersonate-user': `system:node:${name}` },
        body: { metadata: { name, labels: given } },
      })
    assert.equal((await create('p', { 'topology.orch.io/zone': 'z', 'nodeagent.orch.io/x': '1' })).status, 201)
    const refused = await create('p', { 'zz.orch.io/a': '1', 'aa.orch.io/b': '1', plain: '1', 'mynode.orch.io/x': '1' })
    assert.equal(refused.status, 403)
    assert.match(
      refused.body.message,
      /set the following labels: aa\.orch\.io\/b, mynode\.orch\.io\/x, zz\.orch\.io\/a /,
    )
    assert.equal((await create('', {})).status, 403)
  })

  const pods = '/api/v1/namespaces/default/pods'
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid, controller: true }
  const mirror = (spec: object, metadata: object = {}) => ({
    metadata: {
      generateName: 'm-',
      annotations: { 'orch.io/config.mirror': 'x' },
      ownerReferences: [owner],
      ...metadata,
    },
    spec: { nodeName: 'n', containers: [container], ...spec },
  })

  test('a node agent can create only mirror pods without references, and only on its own node', async () => {
    assert.equal(await status('POST', pods, mirror({})), 201)
    const env = [{ name: 'E', valueFrom: { configMapKeyRef: { name: 's', key: 'k' } } }]
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const projected = (source: object) => ({ volumes: [{ name: 'v', projected: { sources: [source] } }] })
    for (const bad of [
      mirror({}, { annotations: {} }),
      mirror({ nodeName: 'm' }),
      mirror({}, { ownerReferences: [] }),
      mirror({}, { ownerReferences: [{ ...owner, controller: false }] }),
      mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      mirror({}, { ownerReferences: [{ ...owner, name: 'm' }] }),
      mirror({}, { ownerReferences: [{ ...owner, uid: 'other' }] }),
      mirror({}, { ownerReferences: [owner, { apiVersion: 'v1', kind: 'Pod', name: 'z', uid: 'z' }] }),
      mirror({ serviceAccountName: 'robot' }),
      mirror({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
      mirror({ volumes: [{ name: 'v', configMap: { name: 's' } }] }),
      mirror({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }),
      mirror({ volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } }] }),
      mirror({ containers: [{ ...container, env }] }),
      mirror({ containers: [{ ...container, envFrom: [{ configMapRef: { name: 's' } }] }] }),
      mirror(projected({ configMap: { name: 's' } })),
      mirror(projected({ secret: { name: 's' } })),
      mirror(projected({ serviceAccountToken: { path: 't' } })),
    ])
      assert.equal(await status('POST', pods, bad), 403, JSON.stringify(bad))
  })

  test('a node agent can delete and evict the pods on its node and update their status', async () => {
    for (const [name, nodeName] of [
      ['mine', 'n'],
      ['other', 'm'],
      ['free', undefined],
    ])
      await admin.post(pods, { metadata: { name, labels: { a: 'b' } }, spec: { nodeName, containers: [container] } })
    const patch = 'application/strategic-merge-patch+json'
    const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } })
    for (const name of ['other', 'free']) {
      assert.equal(await status('PATCH', `${pods}/${name}/status`, { status: { phase: 'Running' } }, patch), 403)
      assert.equal(await status('POST', `${pods}/${name}/eviction`, eviction(name)), 403)
      assert.equal(await status('DELETE', `${pods}/${name}`), 403)
    }
    assert.equal(await status('PATCH', `${pods}/mine`, { metadata: { labels: { a: 'c' } } }, patch), 403)
    assert.equal(await status('PATCH', `${pods}/mine/status`, { metadata: { labels: { a: 'c' } } }, patch), 403)
    assert.equal(await status('PATCH', `${pods}/mine/status`, { status: { phase: 'Running' } }, patch), 200)
    assert.equal(await status('POST', `${pods}/free/binding`, { target: { kind: 'Node', name: 'n' } }), 403)
    assert.equal(await status('DELETE', pods), 403)
    assert.equal((await admin.get(`${pods}/other`)).status, 200)
    assert.equal(await status('POST', `${pods}/missing/eviction`, eviction('missing')), 404)
    assert.equal(await status('DELETE', `${pods}/mine?gracePeriodSeconds=0`), 200)
  })

  test('a node agent can write its own Lease, its own CSINode and the size of volume claims', async () => {
    const leases = (namespace: string) => `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases`
    const lease = (name: string) => ({ metadata: { name }, spec: { holderIdentity: name } })
    assert.equal(await status('POST', leases('kube-node-lease'), lease('m')), 403)
    assert.equal(await status('POST', leases('default'), lease('n')), 403)
    assert.equal(await status('PUT', `${leases('kube-node-lease')}/m`, lease('m')), 403)
    assert.equal(await status('POST', leases('kube-node-lease'), lease('n')), 201)
    const csiNodes = '/apis/storage.orch.io/v1/csinodes'
    assert.equal(await status('POST', csiNodes, { metadata: { name: 'm' }, spec: { drivers: [] } }), 403)
    assert.equal(await status('POST', csiNodes, { metadata: { name: 'n' }, spec: { drivers: [] } }), 201)

    const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await admin.post(claims, { metadata: { name: 'data' }, spec })
    const patch = 'application/merge-patch+json'
    assert.equal(
      await status('PATCH', `${claims}/data/status`, { status: { capacity: { storage: '2Gi' } } }, patch),
      200,
    )
    assert.equal(await status('PATCH', `${claims}/data/status`, { status: { phase: 'Bound' } }, patch), 403)
    assert.equal(await status('PATCH', `${claims}/data/status`, { metadata: { labels: { a: 'b' } } }, patch), 403)
    assert.equal(await status('PATCH', `${claims}/data`, { metadata: { labels: { a: 'b' } } }, patch), 403)
    assert.equal(await status('DELETE', `${claims}/data`), 403)
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    assert.equal(await status('POST', accounts, { metadata: { name: 'a' } }), 403)
  })

  test('NodeRestriction applies only to users with both a node user name and the nodes group', async () => {
    const create = (headers: { [name: string]: string }) =>
      admin.send('/api/v1/nodes?dryRun=All', { method: 'POST', headers, body: { metadata: { name: 'o' } } })
    const masters = 'system:masters'
    assert.equal((await create({ 'impersonate-user': 'system:node:n', 'impersonate-group': masters })).status, 201)
    assert.equal((await create({ 'impersonate-user': 'n', 'impersonate-group': 'system:nodes' })).status, 201)
    assert.equal((await create(agent)).status, 403)
  })
})
