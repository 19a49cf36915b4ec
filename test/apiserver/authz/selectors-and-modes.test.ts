/**
 * Tests identity and authorization as of Kubernetes 1.36: SelfSubjectReview, selectors, bound tokens and constrained
 * impersonation.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after }, ['--emulated-version=1.36', '--authorization-mode=Node,RBAC'])
const older = await serve({ after }, ['--emulated-version=1.26'])
const admin = server.client()
const authn = '/apis/authentication.orch.io/v1'
const authz = '/apis/authorization.orch.io/v1'
const rbac = '/apis/rbac.authorization.orch.io/v1'
const sent = { apiVersion: 'authentication.orch.io/v1', kind: 'SelfSubjectReview' }
const agent = { 'impersonate-user': 'system:node:n1', 'impersonate-group': 'system:nodes' }

test('a SelfSubjectReview returns only the identity of the caller', async () => {
  const headers = { 'impersonate-user': 'eve', 'impersonate-uid': 'u', 'impersonate-extra-Scopes': 'a' }
  const body = { ...sent, metadata: { name: 'x' }, status: { userInfo: { username: 'other' } } }
  const { status, body: review } = await admin.send(`${authn}/selfsubjectreviews`, { method: 'POST', headers, body })
  assert.equal(status, 201)
  assert.deepEqual(review.status, {
    userInfo: { username: 'eve', uid: 'u', groups: ['system:authenticated'], extra: { scopes: ['a'] } },
  })
  assert.deepEqual(Object.keys(review.metadata), ['creationTimestamp'])
  assert.equal((await older.client().post(`${authn}/selfsubjectreviews`, sent)).status, 404)
})

/** Field selector, label selector, and the expected causes or evaluation error. */
const selectors: readonly (readonly [field: object | undefined, label: object | undefined, expected: string])[] = [
  [{ rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }, undefined, 'rawSelector'],
  [{}, undefined, 'requirements'],
  [{ requirements: [{ key: '', operator: 'In', values: ['b'] }] }, undefined, 'requirements[0].key'],
  [{ requirements: [{ key: 'a', operator: 'NotIn' }] }, undefined, 'requirements[0].values'],
  [undefined, { requirements: [{ key: 'a', operator: 'Exists', values: ['b'] }] }, 'requirements[0].values'],
  [undefined, { requirements: [{ key: 'a b', operator: 'Exists' }] }, 'requirements[0].key'],
  [undefined, { requirements: [{ key: 'a', operator: 'In', values: ['-'] }] }, 'requirements[0].values[0]'],
  [undefined, { requirements: [{ key: 'a', operator: 'Like' }] }, 'labelSelector ignored'],
  [undefined, { rawSelector: 'a in (' }, 'labelSelector ignored'],
  [{ requirements: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] }, undefined, 'fieldSelector ignored'],
]

test('an access review rejects invalid selectors, and ignores and reports selectors that it cannot interpret', async () => {
  for (const [fieldSelector, labelSelector, expected] of selectors) {
    const resourceAttributes = { verb: 'list', resource: 'pods', fieldSelector, labelSelector }
    const { body } = await admin.post(`${authz}/subjectaccessreviews`, { spec: { user: 'u', resourceAttributes } })
    const causes = (body.details?.causes ?? []) as { field: string }[]
    const place = fieldSelector === undefined ? 'labelSelector' : 'fieldSelector'
    const found = causes.map(({ field }) => field).join() || body.status.evaluationError
    const path = `spec.resourceAttributes.${place}.${expected}`
    if (expected.endsWith('ignored')) assert.match(found, new RegExp(`^spec.resourceAttributes.${expected}`))
    else assert.equal(found, path)
  }
})

test('a node agent can list only the pods on its node and read only its own Node', async () => {
  const statusOf = async (path: string) => (await admin.get(path, agent)).status
  assert.equal(await statusOf('/api/v1/pods'), 403)
  assert.equal(await statusOf('/api/v1/pods?fieldSelector=spec.nodeName%3Dn2'), 403)
  assert.equal(await statusOf('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1'), 200)
  assert.equal(await statusOf('/api/v1/nodes'), 403)
  assert.equal(await statusOf('/api/v1/nodes/n2'), 403)
  assert.equal(await statusOf('/api/v1/nodes?fieldSelector=metadata.name%3Dn1'), 200)
  assert.equal((await older.client().get('/api/v1/pods', agent)).status, 200)
})

test('a token bound to a node contains a token ID and the node, and becomes invalid when the node is deleted', async () => {
  await admin.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'bound' } })
  await admin.post('/api/v1/nodes', { metadata: { name: 'n3' } })
  const path = '/api/v1/namespaces/default/serviceaccounts/bound/token'
  const boundObjectRef = { apiVersion: 'v1', kind: 'Node', name: 'n3' }
  const { body: request } = await admin.post(path, { spec: { boundObjectRef } })
  const review = async () =>
    (await admin.post(`${authn}/tokenreviews`, { spec: { token: request.status.token } })).body.status
  const { user } = await review()
  const key = (name: string) => user.extra[`authentication.orch.io/${name}`]
  assert.match(key('credential-id')[0], /^JTI=[0-9a-f-]{36}$/)
  assert.deepEqual(key('node-name'), ['n3'])
  assert.equal(request.metadata.uid, user.uid)
  await admin.delete('/api/v1/nodes/n3')
  assert.equal((await review()).authenticated, undefined)
  assert.equal((await older.client().post(path, { spec: { boundObjectRef } })).status, 404)
  assert.equal((await admin.post(path, { metadata: { name: 'other' } })).status, 422)
  assert.equal((await admin.post(path, { metadata: { uid: 'other' } })).status, 409)
  assert.equal((await admin.post(path, { metadata: { namespace: 'other' } })).status, 400)
})

test('constrained impersonation allows only the actions that the permission names', async () => {
  const rules = [
    { verbs: ['impersonate:user-info'], apiGroups: ['authentication.orch.io'], resources: ['users'] },
    { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['configmaps'] },
    { verbs: ['impersonate:arbitrary-node'], apiGroups: ['authentication.orch.io'], resources: ['nodes'] },
  ]
  await admin.post(`${rbac}/clusterroles`, { metadata: { name: 'deputy' }, rules })
  await admin.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'deputy' },
    roleRef: { kind: 'ClusterRole', name: 'deputy' },
    subjects: [{ kind: 'User', name: 'alice' }],
  })
  const alice = server.client('alice-token')
  const messageOf = async (path: string, headers: { [name: string]: string }) =>
    (await alice.get(path, headers)).body.message as string
  // The impersonation is allowed, but the impersonated user may not list ConfigMaps.
  assert.match(await messageOf('/api/v1/configmaps', { 'impersonate-user': 'eve' }), /User "eve" cannot list/)
  assert.match(
    await messageOf('/api/v1/secrets', { 'impersonate-user': 'eve' }),
    /cannot impersonate-on:user-info:list/,
  )
  assert.match(await messageOf('/api/v1/pods', agent), /cannot impersonate-on:arbitrary-node:list/)
  assert.match(
    await messageOf('/livez', { 'impersonate-user': 'system:serviceaccount:a:b' }),
    /cannot impersonate-on:serviceaccount:get path "\/livez"/,
  )
  assert.match(
    await messageOf('/api/v1/configmaps', { 'impersonate-user': 'eve', 'impersonate-group': 'g' }),
    /cannot impersonate:user-info resource "groups"/,
  )
})
