/**
 * Tests endpoints that store nothing (TokenReview, pods/log) and the subresource that represents objects as another
 * kind (scale).
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after })
const client = server.client('admin-token')
await giveAccount(client)

const reviews = '/apis/authentication.orch.io/v1/tokenreviews'

test('a TokenReview returns the user of a token and is not stored', async () => {
  const review = async (spec: object) => (await client.post(reviews, { spec })).body.status
  assert.deepEqual(await review({ token: 'alice-token' }), {
    authenticated: true,
    user: { username: 'alice', uid: 'alice-uid', groups: ['dev', 'ops', 'system:authenticated'] },
    audiences: ['https://orch.default.svc'],
  })
  assert.deepEqual(await review({ token: 'nobody' }), { user: {}, error: 'invalid bearer token' })
  assert.equal((await review({ token: 'alice-token', audiences: ['another'] })).authenticated, undefined)
  const answer = await client.post(reviews, { spec: { token: 'bob-token' } })
  assert.deepEqual([answer.status, answer.body.status.user.groups], [201, ['system:authenticated']])
})

test('a TokenReview supports only the create verb', async () => {
  for (const [method, path, status] of [
    ['GET', reviews, 405],
    ['DELETE', reviews, 405],
    ['GET', `${reviews}/x`, 404],
    ['PUT', `${reviews}/x`, 404],
    ['GET', `${reviews}?watch=1`, 405],
  ] as const)
    assert.equal((await client.send(path, { method })).status, status, `${method} ${path}`)
  assert.equal((await client.post(reviews, {})).status, 400)
  assert.equal((await client.post(reviews, { kind: 'Pod', spec: { token: 'x' } })).status, 400)
  assert.equal((await client.post(`${reviews}?dryRun=Some`, { spec: { token: 'x' } })).status, 422)
})

test('a user without permission to create reviews is rejected before the body is parsed', async () => {
  const refused = await server.client('bob-token').send(reviews, { method: 'POST', raw: '{not json' })
  assert.equal(refused.status, 403)
})

const pods = '/api/v1/namespaces/default/pods'
const pod = (name: string, containers: readonly string[], nodeName?: string) => ({
  metadata: { name },
  spec: { containers: containers.map((one) => ({ name: one, image: 'i' })), ...(nodeName ? { nodeName } : {}) },
})

test('a log request requires an unambiguous container, valid options and an existing node', async () => {
  await client.post(pods, pod('one', ['c']))
  await client.post(pods, pod('two', ['c', 'd']))
  await client.post(pods, pod('bound', ['c'], 'far'))
  for (const [path, status] of [
    ['one/log', 204],
    ['one/log?container=c', 204],
    ['one/log?container=x', 400],
    ['two/log', 400],
    ['two/log?container=d', 204],
    ['one/log?tailLines=-1', 422],
    ['one/log?tailLines=0', 204],
    ['one/log?limitBytes=0', 422],
    ['one/log?tailLines=many', 400],
    ['one/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z', 422],
    ['bound/log', 404],
    ['none/log', 404],
  ] as const)
    assert.equal((await client.get(`${pods}/${path}`)).status, status, path)
  assert.equal((await client.send(`${pods}/one/log`, { method: 'POST', body: {} })).status, 405)
})

const controllers = '/api/v1/namespaces/default/replicationcontrollers'
const controller = {
  metadata: { name: 'rc' },
  spec: { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
}

test('the Scale of a controller can be read, updated and patched', async () => {
  await client.post(controllers, controller)
  const scale = `${controllers}/rc/scale`
  const read = await client.get(scale)
  assert.deepEqual([read.body.kind, read.body.apiVersion], ['Scale', 'autoscaling/v1'])
  assert.deepEqual([read.body.spec, read.body.status], [{ replicas: 1 }, { replicas: 0, selector: 'app=a' }])

  const metadata = { name: 'rc', namespace: 'default', labels: { x: 'y' } }
  const sent = { metadata, spec: { replicas: 4 }, status: { replicas: 9 } }
  assert.deepEqual((await client.put(scale, sent)).body.spec, { replicas: 4 })
  const patch = (type: string, raw: string) =>
    client.send(scale, { method: 'PATCH', headers: { 'content-type': type }, raw })
  assert.equal((await patch('application/merge-patch+json', '{"spec":{"replicas":5}}')).body.spec.replicas, 5)
  const step = '[{"op":"test","path":"/spec/replicas","value":5},{"op":"replace","path":"/spec/replicas","value":6}]'
  assert.equal((await patch('application/json-patch+json', step)).body.spec.replicas, 6)

  const { body } = await client.get(`${controllers}/rc`)
  assert.deepEqual([body.spec.replicas, body.metadata.labels, body.metadata.generation], [6, { app: 'a' }, 4])
  const owner = body.metadata.managedFields.find(({ subresource }: { subresource?: string }) => subresource === 'scale')
  assert.deepEqual([owner.apiVersion, owner.fieldsV1], ['v1', { 'f:spec': { 'f:replicas': {} } }])
})

test('an invalid or outdated Scale, or the Scale of another object, is rejected', async () => {
  const scale = `${controllers}/rc/scale`
  const put = (metadata: object, replicas: number) =>
    client.put(scale, { metadata: { name: 'rc', namespace: 'default', ...metadata }, spec: { replicas } })
  const negative = await put({}, -1)
  assert.deepEqual([negative.status, negative.body.details.kind], [422, 'Scale'])
  assert.equal(negative.body.details.causes[0].field, 'spec.replicas')
  assert.equal((await put({ resourceVersion: '1' }, 2)).status, 409)
  assert.equal((await put({ uid: 'another' }, 2)).status, 409)
  assert.equal((await client.get(`${controllers}/none/scale`)).status, 404)
  assert.equal((await client.send(scale, { method: 'DELETE' })).status, 405)
})

test('discovery reports the kind of a subresource, and the group of the kind if it differs', async () => {
  const { body } = await client.get('/api/v1')
  const find = (expected: string) => body.resources.find(({ name }: { name: string }) => name === expected)
  assert.deepEqual(find('replicationcontrollers/scale'), {
    name: 'replicationcontrollers/scale',
    singularName: '',
    namespaced: true,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: ['get', 'patch', 'update'],
  })
  assert.deepEqual(find('pods/log').verbs, ['get'])
})

test('the events group and the core group serve the same Events', async () => {
  const events = '/apis/events.orch.io/v1/namespaces/default/events'
  const sent = {
    metadata: { name: 'e' },
    eventTime: '2030-01-02T03:04:05.000006Z',
    reportingController: 'example.com/c',
    reportingInstance: 'c-1',
    action: 'Look',
    reason: 'Because',
    type: 'Normal',
    note: 'seen',
    regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
  }
  assert.equal((await client.post(events, sent)).status, 201)
  const core = (await client.get('/api/v1/namespaces/default/events/e')).body
  assert.deepEqual([core.message, core.involvedObject.name, core.reportingComponent], ['seen', 'p', 'example.com/c'])
  const eventsMatching = async (selector: string) => await client.get(`${events}?fieldSelector=${selector}`)
  assert.equal((await eventsMatching('regarding.name=p')).body.items.length, 1)
  assert.equal((await eventsMatching('regarding.name=q')).body.items.length, 0)
  assert.equal((await eventsMatching('involvedObject.name=p')).status, 400)
  const strict = await client.post(events, { metadata: { name: 'f' }, regarding: sent.regarding })
  assert.deepEqual(strict.body.details.causes.map(({ field }: { field: string }) => field).sort(), [
    'eventTime',
    'type',
  ])
})

test('requests for a deprecated version return a warning', async () => {
  const old = await client.get('/apis/events.orch.io/v1beta1/events')
  assert.match(String(old.headers.warning), /events\.orch\.io\/v1beta1 Event is deprecated in v1\.22\+/)
  assert.equal((await client.get('/apis/events.orch.io/v1/events')).headers.warning, undefined)
})

test('a review reports metadata errors together with all other errors', async () => {
  const review = async (path: string, spec: object) => {
    const sent = { metadata: { name: 'x', labels: { a: 'b' } }, spec }
    const { body } = await client.post(`/apis/authorization.orch.io/v1/${path}`, sent)
    assert.equal(body.details.name, undefined)
    return body.details.causes.map(({ field }: { field: string }) => field).sort()
  }
  const both = { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/a' } }
  assert.deepEqual(await review('selfsubjectaccessreviews', both), ['metadata', 'spec.nonResourceAttributes'])
  assert.deepEqual(await review('subjectaccessreviews', { nonResourceAttributes: {} }), ['metadata', 'spec.user'])
  assert.deepEqual(await review('namespaces/default/localsubjectaccessreviews', {}), [
    'metadata',
    'spec.resourceAttributes',
    'spec.user',
  ])
})

test('a request for a bound token must name the object', async () => {
  await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'binder' } })
  const path = '/api/v1/namespaces/default/serviceaccounts/binder/token'
  for (const kind of ['Secret', 'Pod'])
    assert.equal((await client.post(path, { spec: { boundObjectRef: { apiVersion: 'v1', kind } } })).status, 400)
})
