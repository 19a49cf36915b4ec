/**
 * Tests the protection against privilege escalation, with roles and bindings that a user with few permissions writes.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after })
const admin = server.client()
const bob = server.client('bob-token')
const base = '/apis/rbac.authorization.orch.io/v1'
const here = `${base}/namespaces/default`
const group = 'rbac.authorization.orch.io'
const subjects = [{ kind: 'User', name: 'bob' }]

const held = [
  { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] },
  { verbs: ['*'], apiGroups: ['batch'], resources: ['*'] },
  { verbs: ['get'], apiGroups: ['apps'], resources: ['*/scale'] },
  { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'] },
]
// A wildcard would include the verbs escalate and bind.
const verbs = ['create', 'update', 'patch', 'get', 'delete']
const writing = { verbs, apiGroups: [group], resources: ['roles', 'rolebindings'] }
await admin.post(`${here}/roles`, { metadata: { name: 'bob' }, rules: [...held, writing] })
await admin.post(`${here}/rolebindings`, {
  metadata: { name: 'bob' },
  roleRef: { kind: 'Role', name: 'bob' },
  subjects,
})
await admin.post(`${here}/roles`, {
  metadata: { name: 'strong' },
  rules: [{ verbs: ['*'], apiGroups: [''], resources: ['secrets'] }],
})

const rule = (verbs: string, groups: string, resources: string, names?: string) => ({
  verbs: verbs.split(' '),
  apiGroups: groups.split(' ').map((each) => (each === 'core' ? '' : each)),
  resources: resources.split(' '),
  ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
})

/** The rules that bob tries to grant, and whether the server allows him to grant each of them. */
const table: readonly (readonly [title: string, rules: readonly object[], allowed: boolean])[] = [
  ['nothing', [], true],
  ['one of the held permissions', [rule('get', 'core', 'configmaps')], true],
  ['all held permissions', held, true],
  ['a held permission for one name', [rule('get', 'core', 'configmaps', 'x')], true],
  ['permissions from two held rules combined', [rule('get', 'core batch', 'configmaps')], true],
  ['the held resource names', [rule('get', 'core', 'secrets', 'b a')], true],
  ['subresources that a held wildcard covers', [rule('get', 'apps', 'deployments/scale statefulsets/scale')], true],
  ['the wildcard itself', [rule('get', 'apps', '*/scale')], true],
  ['everything in a held API group', [rule('* juggle', 'batch', 'jobs * */status')], true],
  ['another verb', [rule('get delete', 'core', 'configmaps')], false],
  ['all verbs', [rule('*', 'core', 'configmaps')], false],
  ['another group', [rule('get', 'apps', 'configmaps')], false],
  ['all groups', [rule('get', '*', 'configmaps')], false],
  ['a subresource', [rule('get', 'core', 'configmaps/status')], false],
  ['every name', [rule('get', 'core', 'secrets')], false],
  ['another name', [rule('get', 'core', 'secrets', 'a c')], false],
  ['the parent of a held subresource', [rule('get', 'apps', 'deployments')], false],
  ['one rule too many', [...held, rule('get', 'core', 'pods')], false],
  ['escalate', [rule('escalate', group, 'roles')], false],
]

test('creating a role requires all permissions that the role grants', async () => {
  for (const [title, rules, allowed] of table) {
    const { status, text } = await bob.post(`${here}/roles?dryRun=All`, { metadata: { name: 'new' }, rules })
    assert.equal(status, allowed ? 201 : 403, `${title}: ${text}`)
    if (!allowed) assert.match(text, /attempting to grant RBAC permissions not currently held/, title)
  }
})

test('updating a role requires all permissions that the role grants, with every patch type', async () => {
  await admin.post(`${here}/roles`, { metadata: { name: 'weak' } })
  const more = { rules: [rule('get', 'core', 'pods')] }
  const object = { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name: 'weak' }, ...more }
  const ways: readonly (readonly [type: string, body: unknown, query: string])[] = [
    ['application/merge-patch+json', more, ''],
    ['application/strategic-merge-patch+json', more, ''],
    ['application/json-patch+json', [{ op: 'add', path: '/rules', value: more.rules }], ''],
    ['application/apply-patch+yaml', object, '?fieldManager=m'],
  ]
  for (const [type, body, query] of ways) {
    const sent = { method: 'PATCH', headers: { 'content-type': type }, body }
    assert.equal((await bob.send(`${here}/roles/weak${query}`, sent)).status, 403, type)
  }
  assert.equal((await bob.put(`${here}/roles/weak`, object)).status, 403)
  assert.deepEqual((await admin.get(`${here}/roles/weak`)).body.rules ?? [], [])
  const label = { metadata: { labels: { a: 'b' } } }
  const finalizer = { metadata: { finalizers: ['example.com/f'] } }
  const merge = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
  assert.equal((await bob.send(`${here}/roles/strong`, { ...merge, body: label })).status, 403)
  assert.equal((await bob.send(`${here}/roles/strong`, { ...merge, body: finalizer })).status, 200)
})

test('binding a role requires all permissions that the role grants, or the bind verb', async () => {
  const bind = async (kind: string, name: string) =>
    (await bob.post(`${here}/rolebindings?dryRun=All`, { metadata: { name: 'n' }, roleRef: { kind, name }, subjects }))
      .status
  assert.equal(await bind('Role', 'strong'), 403)
  assert.equal(await bind('Role', 'bob'), 201)
  assert.equal(await bind('ClusterRole', 'cluster-admin'), 403)
  assert.equal(await bind('Role', 'no-such-role'), 404)
  await admin.post(`${here}/roles`, {
    metadata: { name: 'binder' },
    rules: [rule('bind', group, 'roles', 'strong'), rule('bind', group, 'clusterroles', 'view')],
  })
  const roleRef = { kind: 'Role', name: 'binder' }
  await admin.post(`${here}/rolebindings`, { metadata: { name: 'binder' }, roleRef, subjects })
  assert.equal(await bind('Role', 'strong'), 201)
  assert.equal(await bind('ClusterRole', 'view'), 201)
  assert.equal(await bind('ClusterRole', 'cluster-admin'), 403)
})

test('users with the escalate verb and superusers may grant any permission', async () => {
  const rules = [rule('*', '*', '*')]
  await admin.post(`${here}/roles`, { metadata: { name: 'ladder' }, rules: [rule('escalate', group, 'roles')] })
  const roleRef = { kind: 'Role', name: 'ladder' }
  await admin.post(`${here}/rolebindings`, { metadata: { name: 'ladder' }, roleRef, subjects })
  assert.equal((await bob.post(`${here}/roles?dryRun=All`, { metadata: { name: 'all' }, rules })).status, 201)
  assert.equal((await admin.post(`${here}/roles?dryRun=All`, { metadata: { name: 'all' }, rules })).status, 201)
})

test('creating a role with an aggregation rule requires all permissions', async () => {
  const alice = server.client('alice-token')
  const rules = [rule('create', group, 'clusterroles')]
  await admin.post(`${base}/clusterroles`, { metadata: { name: 'maker' }, rules })
  const roleRef = { kind: 'ClusterRole', name: 'maker' }
  await admin.post(`${base}/clusterrolebindings`, {
    metadata: { name: 'maker' },
    roleRef,
    subjects: [{ kind: 'User', name: 'alice' }],
  })
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
  const answer = await alice.post(`${base}/clusterroles`, { metadata: { name: 'x' }, aggregationRule })
  assert.equal(answer.status, 403)
  assert.match(answer.body.message, /must have cluster-admin privileges/)
  assert.equal((await alice.post(`${base}/clusterroles?dryRun=All`, { metadata: { name: 'x' } })).status, 201)
})

test('the escalation check for a role with a very broad rule is fast', async () => {
  const words = (prefix: string) => Array.from({ length: 5000 }, (_, i) => `${prefix}${i}`)
  const rules = [{ verbs: words('v'), apiGroups: words('g'), resources: words('r'), resourceNames: words('n') }]
  const alice = server.client('alice-token')
  const { status, text } = await alice.post(`${base}/clusterroles`, { metadata: { name: 'wide' }, rules })
  assert.equal(status, 403, text.slice(0, 200))
  assert.ok(text.length < 10_000)
  assert.equal((await admin.get('/livez')).status, 200)
})
