/** Tests responses to clients that accept no supported format, for resources and for discovery documents. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'

const client = (await serve({ after })).client()
const table = 'application/json;as=Table;g=meta.orch.io;v=v1'

test('the 406 for an unknown media type lists the supported media types for a group list, but not for a resource', async () => {
  const groups = ['/apis', '/apis/autoscaling']
  const routes = ['/api', '/api/v1', '/apis/autoscaling/v2']
  for (const path of [...groups, ...routes])
    for (const accept of ['application/xml', 'nonsense', table]) {
      const { status, body } = await client.get(path, { accept })
      const namesForms = groups.includes(path) || accept === table
      const details = namesForms ? undefined : {}
      assert.deepEqual([status, body.reason, body.details], [406, 'NotAcceptable', details], `${path} ${accept}`)
      assert.equal(/application\/json, application\/yaml/.test(body.message), namesForms, `${path} ${accept}`)
    }
  const { status, body } = await client.get('/api/v1/namespaces/default', { accept: 'application/xml' })
  assert.deepEqual([status, body.reason, body.details], [406, 'NotAcceptable', {}])
  assert.doesNotMatch(body.message, /yaml/)
  const reviews = '/apis/authorization.orch.io/v1/selfsubjectaccessreviews'
  const review = await client.send(reviews, { method: 'POST', headers: { accept: 'application/xml' }, body: {} })
  assert.deepEqual([review.status, review.body.reason, review.body.details], [406, 'NotAcceptable', {}])
})

test('for a request with two errors, the server reports the same error as kube-apiserver', async () => {
  const patch = await client.send(`${configMaps}/a`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', accept: 'application/xml' },
    body: {},
  })
  assert.equal(patch.status, 415, 'how a patch is written, before how its answer is')
  for (const watch of ['', '&watch=1'])
    for (const unreadable of ['limit=x', 'timeoutSeconds=x', 'labelSelector=a%20b']) {
      const { status } = await client.get(`${configMaps}?${unreadable}&resourceVersionMatch=Nope${watch}`)
      assert.equal(status, 400, `${unreadable}${watch}`)
    }
  const replaced = await client.put(`${configMaps}/gone`, { metadata: { name: 'gone', uid: 'of-another' } })
  assert.deepEqual([replaced.status, replaced.body.reason], [409, 'Conflict'], 'another object than is meant')
  const { body } = await client.get('/api/v1/namespaces/default/replicationcontrollers/gone/scale')
  assert.deepEqual(body.details, { name: 'gone', group: 'autoscaling', kind: 'replicationcontrollers/scale' })
})

test('the next media type in an Accept header applies if the first media type is unavailable', async () => {
  for (const accept of ['application/xml, application/json', `${table}, application/json`]) {
    const { status, body } = await client.get('/apis/autoscaling', { accept })
    assert.deepEqual([status, body.kind], [200, 'APIGroup'], accept)
  }
})

test('a table has the API group that the client requested, so kubectl can show the columns under any profile', async () => {
  const ask = (group: string) =>
    client.get('/api/v1/namespaces', { accept: `application/json;as=Table;g=${group};v=v1` })
  for (const group of ['meta.orch.io', 'meta.k8s.io']) {
    const { status, body } = await ask(group)
    assert.deepEqual([status, body.kind, body.apiVersion], [200, 'Table', `${group}/v1`])
    assert.deepEqual(
      body.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'Status', 'Age'],
    )
    assert.equal(body.rows[0].object.apiVersion, `${group}/v1`)
  }
  assert.equal((await ask('meta.example.com')).status, 406)
})

test('kubectl gets a warning if the server does not use the kubernetes profile', async () => {
  for (const path of ['/apis', '/openapi/v2', '/openapi/v3']) {
    const { headers } = await client.get(path, { 'user-agent': 'kubectl/v1.23.17 (linux/amd64) kubernetes/953be89' })
    assert.match(String(headers.warning), /^299 - ".*--profile=kubernetes"$/, path)
    assert.equal((await client.get(path, { 'user-agent': 'curl/8' })).headers.warning, undefined, path)
  }
})

test('the table row of a finished pod has a condition that clients can use to hide the row', async () => {
  await giveAccount(client)
  const pods = '/api/v1/namespaces/default/pods'
  const phases = { done: 'Succeeded', broken: 'Failed', up: 'Running' }
  for (const [name, phase] of Object.entries(phases)) {
    await client.post(pods, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    assert.equal((await client.put(`${pods}/${name}/status`, { metadata: { name }, status: { phase } })).status, 200)
  }
  const { text, body } = await client.get(pods, { accept: table })
  const told = (body.rows as { conditions?: { [key: string]: string }[] }[]).map(({ conditions }) =>
    conditions?.map(({ type, status, reason }) => [type, status, reason]),
  )
  assert.deepEqual(told, [[['Completed', 'True', 'Failed']], [['Completed', 'True', 'Succeeded']], undefined])
  assert.match(text, /"cells":[^}]*"conditions":\[\{"type":"Completed"[^}]*"message":"[^"]+"\}\],"object":/)
})

test('since 1.25, subresources are available as tables, except for pod subresources that change part of the pod', async (t) => {
  const later = (await serve(t, ['--emulated-version=1.36'])).client()
  const pods = '/api/v1/namespaces/default/pods'
  await giveAccount(later)
  const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  assert.equal((await later.post(pods, pod)).status, 201)
  const statusOf = async (subresource: string) =>
    (await later.get(`${pods}/a/${subresource}`, { accept: table })).status
  for (const [subresource, status] of [
    ['status', 200],
    ['ephemeralcontainers', 406],
    ['resize', 406],
  ] as const)
    assert.equal(await statusOf(subresource), status, subresource)
})
