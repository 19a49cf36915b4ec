/**
 * Tests the rules for writes of every kind: apply through several versions, during deletions and to subresources;
 * list elements without keys; generated names; and the metadata of a write.
 */
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { type ClientHttp2Session, connect } from 'node:http2'
import { syncBuiltinESMExports } from 'node:module'
import { text } from 'node:stream/consumers'
import { before, describe, type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { superusers } from '../../../src/api/model/user.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { giveAccount } from '../../support/accounts.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { type Restartable, serve, startInProcess } from '../../support/in-process.ts'
import { configMap, configMaps } from '../../support/resource-types.ts'

const owner = endOfFile()
let server: Restartable
let client: HttpClient

before(async () => {
  server = await serve(owner)
  client = server.client()
  await giveAccount(client)
})

const maps = '/api/v1/namespaces/default/configmaps'
const pods = '/api/v1/namespaces/default/pods'
const scalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`

function patch(path: string, type: string, body: JsonObject): Promise<Answer> {
  return client.send(path, { method: 'PATCH', headers: { 'content-type': `application/${type}` }, body })
}

function apply(path: string, manager: string, body: JsonObject): Promise<Answer> {
  return patch(`${path}?fieldManager=${manager}`, 'apply-patch+yaml', body)
}

function mapOf(name: string, metadata: JsonObject = {}, data: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}

function causes({ body }: Answer): string[] {
  return body.details.causes.map(({ field, reason }: { field: string; reason: string }) => `${field} ${reason}`)
}

describe('applies by one manager through two versions', () => {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
  const scaler = (version: string, name: string, spec: JsonObject) => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name },
    spec: { scaleTargetRef, maxReplicas: 5, ...spec },
  })
  const applyIn = (version: string, name: string, spec: JsonObject) =>
    apply(`${scalers(version)}/${name}`, 'm', scaler(version, name, spec))
  const cpu = (averageUtilization: number) => [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } },
  ]

  for (const [first, second] of [
    ['v1', 'v2'],
    ['v2', 'v1'],
  ] as const)
    test(`applying the same object in version ${first} and then in version ${second} changes nothing`, async () => {
      const name = `same-${first}`
      assert.equal((await applyIn(first, name, { minReplicas: 2 })).status, 201)
      const { status, body } = await applyIn(second, name, { minReplicas: 2 })
      assert.equal(status, 200, body.message)
      const { minReplicas, maxReplicas, scaleTargetRef: target } = body.spec
      assert.deepEqual({ minReplicas, maxReplicas, target }, { minReplicas: 2, maxReplicas: 5, target: scaleTargetRef })
      const entries = body.metadata.managedFields.map(({ apiVersion }: JsonObject) => apiVersion)
      assert.deepEqual(entries, [`autoscaling/${second}`])
    })

  test('an apply through another API version updates changed fields and removes omitted fields', async () => {
    await applyIn('v1', 'less', { minReplicas: 2, targetCPUUtilizationPercentage: 50 })
    const other = await applyIn('v2', 'less', { maxReplicas: 7, metrics: cpu(60) })
    assert.equal(other.status, 200, other.body.message)
    const { minReplicas, maxReplicas, metrics } = other.body.spec
    assert.deepEqual({ minReplicas, maxReplicas, metrics }, { minReplicas: 1, maxReplicas: 7, metrics: cpu(60) })
    const back = await applyIn('v1', 'less', {})
    assert.deepEqual([back.status, back.body.spec.targetCPUUtilizationPercentage], [200, 80])
  })
})

describe('applying to an object that is deleted concurrently', () => {
  /**
   * Sends a deletion and an apply together on one connection, so that the object may be deleted after the apply has
   * read it and before the apply writes it.
   */
  async function race(session: ClientHttp2Session, name: string, metadata: JsonObject): Promise<[number, string]> {
    const headers = { ':path': `${maps}/${name}`, authorization: 'Bearer admin-token' }
    const deletion = session.request({ ...headers, ':method': 'DELETE' }, { endStream: true })
    const applied = session.request({
      ...headers,
      ':path': `${maps}/${name}?fieldManager=m`,
      ':method': 'PATCH',
      'content-type': 'application/apply-patch+yaml',
    })
    applied.end(JSON.stringify(mapOf(name, metadata, { k: 'v' })))
    const status = new Promise<number>((resolve) => applied.on('response', (sent) => resolve(sent[':status']!)))
    const [body] = await Promise.all([text(applied), text(deletion)])
    return [await status, body]
  }

  test('an apply recreates a deleted object unless the request specifies a uid or a resourceVersion', async () => {
    const { server: url, authority } = server.credentials()
    const session = connect(url, { ca: authority as string })
    let created = 0
    let refused = 0
    // Repeat the race until the deletion has been executed often enough between the check and the write of the apply.
    for (let i = 0; i < 300 && Math.min(created, refused) < 5; i++) {
      const name = `race-${i}`
      const { body } = await client.post(maps, mapOf(name))
      const { uid, resourceVersion } = body.metadata
      // An apply that begins after the deletion creates the object. As in Kubernetes, it then ignores a
      // resourceVersion.
      const [metadata, allowed] = (
        [
          [{}, [200, 201]],
          [{ uid }, [200, 409]],
          [{ resourceVersion }, [200, 201, 409]],
        ] as const
      )[i % 3]!
      const [status, answer] = await race(session, name, metadata)
      // If the apply came first, it has changed the object, which was then deleted.
      if (status === 201) created++
      else if (status === 409) refused++
      assert.ok((allowed as readonly number[]).includes(status), answer)
    }
    session.close()
    assert.ok(created >= 5 && refused >= 5, `${created} created, ${refused} refused`)
  })
})

test('a list element without its key gets an empty key, which validation reports', async () => {
  const pod = (containers: JsonObject[]) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'keyless' },
    spec: { containers },
  })
  const container = 'spec.containers[0]'
  for (const [containers, expected] of [
    [[{}], [`${container}.name FieldValueRequired`, `${container}.image FieldValueRequired`]],
    [[{ name: null, image: 'i' }], [`${container}.name FieldValueRequired`]],
    [[{ name: 'a', image: 'i', ports: [{}] }], [`${container}.ports[0].containerPort FieldValueRequired`]],
  ] as const) {
    const refused = await apply(`${pods}/keyless`, 'm', pod(containers as unknown as JsonObject[]))
    assert.deepEqual([refused.status, causes(refused)], [422, expected])
  }
  const owner = await apply(`${maps}/keyless`, 'm', mapOf('keyless', { ownerReferences: [{}] }))
  assert.deepEqual([owner.status, owner.body.reason], [422, 'Invalid'])
})

test('if an empty key is valid, a list element with an empty key can be owned like any other element', async () => {
  const path = `${scalers('v2')}/empty-key`
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5 }
  const head = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'empty-key' } }
  assert.equal((await client.post(scalers('v2'), { ...head, spec })).status, 201)
  const applied = await apply(`${path}/status`, 's', { ...head, status: { conditions: [{}] } })
  assert.deepEqual([applied.status, applied.body.status.conditions.length], [200, 1])
  const other = await apply(`${path}/status`, 't', { ...head, status: { conditions: [{ type: '', status: 'True' }] } })
  assert.deepEqual([other.status, other.body.status.conditions.length], [200, 1])
  const gone = await apply(`${path}/status`, 't', { ...head, status: {} })
  assert.deepEqual(gone.body.status.conditions, [{ lastTransitionTime: null, status: '', type: '' }])
})

test('an apply ignores fields that the subresource resets, and the applier does not own these fields', async () => {
  const path = `${pods}/reset`
  const head = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'reset' } }
  const spec = { containers: [{ name: 'a', image: 'i' }] }
  const { body: made } = await client.post(pods, { ...head, spec })
  const bad = { containers: [{ name: 'A B', ports: [{ containerPort: 'x' }], resources: { limits: { cpu: 'y' } } }] }
  const status = { message: 'told' }
  const applied = await apply(`${path}/status`, 's', { ...head, spec: bad, status })
  assert.equal(applied.status, 200, applied.body.message)
  assert.deepEqual([applied.body.spec, applied.body.status.message], [made.spec, 'told'])
  const mine = applied.body.metadata.managedFields.find(({ manager }: JsonObject) => manager === 's')
  assert.deepEqual(mine.fieldsV1, { 'f:status': { 'f:message': {} } })
  const main = await apply(path, 'p', { ...head, status: { startTime: 'never' } })
  assert.deepEqual([main.status, main.body.status], [200, applied.body.status])
})

test('the manager of a write that resets managedFields owns only the fields changed by that write', async () => {
  for (const [name, write] of Object.entries({
    put: (body: JsonObject) => client.put(`${maps}/reset-put?fieldManager=u1`, body),
    merge: (body: JsonObject) => patch(`${maps}/reset-merge?fieldManager=u1`, 'merge-patch+json', body),
  })) {
    await apply(`${maps}/reset-${name}`, 'm1', mapOf(`reset-${name}`, {}, { a: '1' }))
    const reset = await write(mapOf(`reset-${name}`, { managedFields: [{}] }, { a: '1', b: '2' }))
    assert.deepEqual([reset.status, reset.body.data], [200, { a: '1', b: '2' }])
    const owners = reset.body.metadata.managedFields.map(({ manager, operation, fieldsV1 }: JsonObject) => [
      ...[manager, operation, fieldsV1],
    ])
    assert.deepEqual(owners, [['u1', 'Update', { 'f:data': { 'f:b': {} } }]])
    const next = await apply(`${maps}/reset-${name}`, 'm2', mapOf(`reset-${name}`, {}, { b: '9' }))
    assert.equal(next.status, 409)
    assert.match(next.body.message, /"u1"/)
    const bare = await write(mapOf(`reset-${name}`, { managedFields: [{}] }, { a: '1', b: '2' }))
    assert.equal(bare.body.metadata.managedFields, undefined)
  }
})

test('a patch that removes a required resourceVersion is rejected', async () => {
  const leases = '/apis/coordination.orch.io/v1/namespaces/default/leases'
  const classes = '/apis/node.orch.io/v1/runtimeclasses'
  await client.post(leases, { metadata: { name: 'versioned' }, spec: {} })
  await client.post(classes, { metadata: { name: 'versioned' }, handler: 'h' })
  const cases: readonly (readonly [type: string, body: JsonObject | JsonObject[]])[] = [
    ['merge-patch+json', { metadata: { resourceVersion: null } }],
    ['merge-patch+json', { metadata: { resourceVersion: '0' } }],
    ['strategic-merge-patch+json', { metadata: { resourceVersion: null, labels: { a: 'b' } } }],
    ['json-patch+json', [{ op: 'remove', path: '/metadata/resourceVersion' }]],
  ]
  for (const path of [`${leases}/versioned`, `${classes}/versioned`])
    for (const [type, body] of cases) {
      const answer = await patch(path, type, body as JsonObject)
      assert.equal(answer.status, 422, `${path} ${type}: ${answer.text}`)
      assert.deepEqual(causes(answer), ['metadata.resourceVersion FieldValueInvalid'])
    }
  assert.equal(
    (await patch(`${leases}/versioned`, 'merge-patch+json', { metadata: { labels: { a: 'b' } } })).status,
    200,
  )
  await client.post(maps, mapOf('unversioned'))
  const taken = await patch(`${maps}/unversioned`, 'merge-patch+json', { metadata: { resourceVersion: null } })
  assert.equal(taken.status, 200)
})

test('a strategic merge patch with a directive in a map that does not exist is rejected', async () => {
  await client.post(maps, mapOf('undirected'))
  const body = { metadata: { labels: { $patch: 'replace', a: 'b' } } }
  const refused = await patch(`${maps}/undirected`, 'strategic-merge-patch+json', body)
  assert.deepEqual([refused.status, causes(refused)], [422, ['metadata.labels FieldValueInvalid']])
  await client.put(`${maps}/undirected`, mapOf('undirected', { labels: { c: 'd' } }))
  const replaced = await patch(`${maps}/undirected`, 'strategic-merge-patch+json', body)
  assert.deepEqual([replaced.status, replaced.body.metadata.labels], [200, { a: 'b' }])
})

test('the server drops clusterName and rejects a negative generation', async () => {
  const made = await client.post(maps, mapOf('cluster', { clusterName: 'c' }))
  assert.deepEqual([made.status, made.body.metadata.clusterName], [201, undefined])
  const put = await client.put(`${maps}/cluster`, mapOf('cluster', { clusterName: 'c', generation: -1 }))
  assert.deepEqual([put.status, put.body.metadata.clusterName], [200, undefined])
  const applied = await apply(`${maps}/cluster`, 'm', mapOf('cluster', { clusterName: 'c' }))
  assert.deepEqual([applied.status, applied.body.metadata.clusterName], [200, undefined])
  for (const answer of [
    await client.post(maps, mapOf('negative', { generation: -1 })),
    await apply(`${maps}/negative`, 'm', mapOf('negative', { generation: -1 })),
  ])
    assert.deepEqual([answer.status, causes(answer)], [422, ['metadata.generation FieldValueInvalid']])
})

test('an object whose generation is not a safe integer can be deleted', async () => {
  const raw = '{"metadata":{"name":"many","generation":9223372036854775807,"finalizers":["example.com/f"]}}'
  assert.equal((await client.send(maps, { method: 'POST', raw })).status, 201)
  const marked = await client.delete(`${maps}/many`)
  assert.equal(marked.status, 200)
  assert.match(marked.text, /"deletionTimestamp"/)
  assert.equal((await patch(`${maps}/many`, 'merge-patch+json', { metadata: { finalizers: null } })).status, 200)
})

test('a resourceVersion is opaque, and any text that differs from the stored version causes a conflict', async () => {
  const made = (await client.post(maps, mapOf('opaque'))).body.metadata.resourceVersion as string
  for (const resourceVersion of [
    '1',
    `${made}0`,
    `0${made}`,
    ` ${made}`,
    `-${made}`,
    `${made}.0`,
    'abc',
    '9'.repeat(30),
  ]) {
    const sent = mapOf('opaque', { resourceVersion }, { k: 'new' })
    for (const answer of [
      await client.put(`${maps}/opaque`, sent),
      await patch(`${maps}/opaque`, 'merge-patch+json', sent),
    ])
      assert.deepEqual([answer.status, answer.body.reason], [409, 'Conflict'], resourceVersion)
  }
  assert.equal(
    (await client.put(`${maps}/opaque`, mapOf('opaque', { resourceVersion: made }, { k: 'new' }))).status,
    200,
  )
})

test('a resourceVersion of 0 is treated as unset, and a PUT does not recreate a deleted object', async () => {
  const events = '/api/v1/namespaces/default/events'
  const event = (name: string, metadata: JsonObject) => ({
    metadata: { name, namespace: 'default', ...metadata },
    involvedObject: { namespace: 'default', kind: 'Pod', name: 'p' },
  })
  assert.equal((await client.post(maps, mapOf('zero', { resourceVersion: '0' }))).status, 201)
  assert.equal((await client.post(maps, mapOf('one', { resourceVersion: '1' }))).status, 400)
  // A client that has read the object sends the uid of the object.
  const uid = '11111111-2222-3333-4444-555555555555'
  const late = await client.put(`${events}/late`, event('late', { resourceVersion: '1', uid }))
  assert.deepEqual([late.status, late.body.reason], [409, 'Conflict'])
  assert.equal((await client.get(`${events}/late`)).status, 404)
  for (const resourceVersion of ['0', '1'])
    assert.equal(
      (await client.put(`${events}/new-${resourceVersion}`, event(`new-${resourceVersion}`, { resourceVersion })))
        .status,
      201,
    )
})

/**
 * Makes the server draw names from 4,096 possibilities instead of 14 million. Of 300 draws, about eleven collide. The
 * probability that none collides, or that a name collides eight times in a row, is negligible.
 */
function drawFromFew(t: TestContext): void {
  const { randomUUID } = crypto
  t.mock.method(crypto, 'randomUUID', () => `00000${randomUUID().slice(5)}`)
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.reset()
    syncBuiltinESMExports()
  })
}

test('a deletecollection with a limit returns the number of remaining objects', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const names = Array.from({ length: 5 }, (_, i) => `limited-${i}`)
  for (const name of names) await client.post(path, { metadata: { name, labels: { limited: 'yes' } } })
  const selected = 'labelSelector=limited%3Dyes'
  const first = await client.delete(`${path}?limit=2&${selected}`)
  const { metadata, message } = first.body
  assert.deepEqual([first.status, first.body.kind, metadata.remainingItemCount], [200, 'Status', 3])
  assert.match(message, /^3 more objects match/)
  assert.equal((await client.get(`${path}?${selected}`)).body.items.length, 3)
  const more = await client.delete(`${path}?limit=2&continue=${encodeURIComponent(metadata.continue)}&${selected}`)
  assert.equal(more.body.metadata.remainingItemCount, 1)
  const last = await client.delete(`${path}?limit=2&${selected}`)
  assert.deepEqual([last.body.metadata, last.body.message], [{}, undefined])
  assert.equal((await client.get(`${path}?${selected}`)).body.items.length, 0)
})

test('if a generated name is already in use, the server generates another name', async (t) => {
  const inside = await startInProcess()
  t.after(() => inside.stop())
  drawFromFew(t)
  const own = new Client(inside.server.transport({ name: 'm', uid: '', groups: [superusers], extra: new Map() }))
  const { name: _, ...metadata } = { ...configMap('').metadata, generateName: 'job-' }
  const names = new Set<string>()
  for (let i = 0; i < 3; i++) {
    const made = await Promise.all(
      Array.from({ length: 100 }, () => own.create(configMaps, { ...configMap(''), metadata })),
    )
    for (const object of made) names.add(object.metadata.name!)
  }
  assert.equal(names.size, 300)
})
