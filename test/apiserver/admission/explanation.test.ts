/**
 * Tests admission explanations: authorized clients can ask which plugin changed which field, whether or not the write
 * succeeds.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { describeChanges } from '../../../src/apiserver/admission/explanation.ts'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after }, ['--enable-admission-plugins=NamespaceExists'])
const client = server.client()
await giveAccount(client)
const base = '/api/v1/namespaces/default'
const range = { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' }, max: { memory: '1Gi' } }] }
assert.equal((await client.post(`${base}/limitranges`, { metadata: { name: 'r' }, spec: range })).status, 201)

const pod = (limits: object = {}) => ({
  metadata: { generateName: 'p-' },
  spec: { containers: [{ name: 'c', image: 'i', resources: { limits } }], priorityClassName: 'system-node-critical' },
})
const ask = (path: string, body: object, { token = 'admin-token', asked = 'true', method = 'POST' } = {}) =>
  server.client(token).send(path, {
    method,
    headers: {
      'explain-admission': asked,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    },
    body,
  })
const told = (answer: { headers: { [name: string]: unknown } }) =>
  JSON.parse(String(answer.headers['admission-changes'])) as { control: string; fields: string[] }[]

const expected = [
  {
    control: 'LimitRanger',
    fields: ['metadata.annotations', 'spec.containers[0].resources.requests', 'spec.containers[0].resources.limits'],
  },
  { control: 'ServiceAccount', fields: ['spec.serviceAccountName', 'spec.serviceAccount'] },
  { control: 'Priority', fields: ['spec.priority', 'spec.preemptionPolicy'] },
  { control: 'DefaultTolerationSeconds', fields: ['spec.tolerations'] },
]

test('the admission explanation lists changes in order, even for a dry run', async () => {
  for (const query of ['', '?dryRun=All']) {
    const answer = await ask(`${base}/pods${query}`, pod())
    assert.equal(answer.status, 201, answer.text)
    const sorted = told(answer).map(({ control, fields }) => ({ control, fields: fields.toSorted() }))
    assert.deepEqual(
      sorted,
      expected.map(({ control, fields }) => ({ control, fields: fields.toSorted() })),
    )
  }
})

test('the admission explanation lists the changes that plugins make to rejected and no-op writes', async () => {
  const refused = await ask(`${base}/pods`, pod({ memory: '2Gi' }))
  assert.equal(refused.status, 403)
  assert.equal(told(refused)[0]!.control, 'LimitRanger')
  const plain = await ask(`${base}/configmaps`, { metadata: { name: 'm' } })
  assert.deepEqual([plain.status, told(plain)], [201, []])
  const patched = await ask(`${base}/configmaps/m`, { data: { a: 'b' } }, { method: 'PATCH' })
  assert.deepEqual([patched.status, told(patched)], [200, []])
})

test('the admission explanation names the plugin that rejects a request, but no plugin for errors outside admission', async () => {
  const missing = '/api/v1/namespaces/missing'
  const config = { metadata: { name: 'x' } }
  const range = { spec: { limits: [{ type: 'Container', max: { memory: '1Gi' } }] } }
  const big = { ...pod({ memory: '2Gi' }), metadata: { name: 'x' } }
  const rows: [string, object, { method?: string }, number, string | undefined][] = [
    [`${missing}/configmaps`, config, {}, 404, 'NamespaceLifecycle'],
    [`${missing}/configmaps?dryRun=All`, config, {}, 404, 'NamespaceLifecycle'],
    [`${base}/pods`, big, {}, 403, 'LimitRanger'],
    [`${base}/pods`, { ...big, spec: { ...big.spec, priorityClassName: 'none' } }, {}, 403, 'Priority'],
    [`${base}/configmaps`, { metadata: { name: 'Not A Name' } }, {}, 422, undefined],
    [`${base}/configmaps/none`, {}, { method: 'PATCH' }, 404, undefined],
    [`${base}/limitranges`, { metadata: { name: 'r' }, ...range }, {}, 409, undefined],
    ['/api/v1/namespaces/default', {}, { method: 'DELETE' }, 403, 'NamespaceLifecycle'],
    [`${base}/configmaps`, {}, { method: 'DELETE' }, 200, undefined],
  ]
  for (const [path, body, how, status, by] of rows) {
    const answer = await ask(path, body, how)
    assert.deepEqual([path, answer.status, answer.headers['admission-refused-by']], [path, status, by])
  }
  const unasked = await client.post(`${missing}/configmaps`, config)
  assert.deepEqual([unasked.status, unasked.headers['admission-refused-by']], [404, undefined])
})

test('a 404 from NamespaceExists names the plugin, even in response to an access review', async () => {
  const path = '/apis/authorization.orch.io/v1/namespaces/missing/localsubjectaccessreviews'
  const spec = { user: 'bob', resourceAttributes: { namespace: 'missing', verb: 'get', resource: 'pods' } }
  const answer = await ask(path, { metadata: { namespace: 'missing' }, spec })
  assert.deepEqual([answer.status, answer.headers['admission-refused-by']], [404, 'NamespaceExists'])
})

test('an admission explanation is returned only on request, and an invalid request header is rejected', async () => {
  for (const asked of [undefined, 'false']) {
    const headers = asked === undefined ? {} : { 'explain-admission': asked }
    const { status, headers: answered } = await client.send(`${base}/pods`, { method: 'POST', headers, body: pod() })
    assert.deepEqual([status, answered['admission-changes']], [201, undefined])
  }
  assert.equal((await ask(`${base}/pods`, pod(), { asked: 'yes' })).status, 400)
})

test('requesting an admission explanation requires a separate permission', async () => {
  const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
  const give = async (name: string, rule: object) => {
    await client.post(`${rbac}/roles`, { metadata: { name }, rules: [{ verbs: ['create'], ...rule }] })
    const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name }
    const subjects = [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'bob' }]
    assert.equal((await client.post(`${rbac}/rolebindings`, { metadata: { name }, roleRef, subjects })).status, 201)
  }
  await give('maker', { apiGroups: [''], resources: ['secrets'] })
  const secret = { metadata: { name: 's' } }
  const refused = await ask(`${base}/secrets`, secret, { token: 'bob-token' })
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /admissionexplanations\.ops\.orch\.io/)
  assert.equal((await client.get(`${base}/secrets/s`)).status, 404)
  await give('explained', { apiGroups: ['ops.orch.io'], resources: ['admissionexplanations'] })
  assert.equal((await ask(`${base}/secrets`, secret, { token: 'bob-token' })).status, 201)
})

test('the admission explanation header is limited in size and contains only characters that headers allow', () => {
  const before: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }
  const labels = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${'ü\n'.repeat(200)}${i}`, 'x']))
  const after = { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } }
  const many = { ...after, metadata: { ...after.metadata, labels } }
  assert.equal(describeChanges([{ control: 'C', before, after }]), '[{"control":"C","fields":["metadata.labels"]}]')
  const text = describeChanges(Array.from({ length: 50 }, () => ({ control: 'C', before: after, after: many })))
  assert.ok(text.length < 5000)
  assert.match(text, /^[ -~]*\{"more":50\}\]$/)
})
