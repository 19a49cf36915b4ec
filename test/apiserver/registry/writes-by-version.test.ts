/** Tests rules for writes that later Kubernetes versions changed: apply, events and priority levels. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const admin = (await serve({ after }, ['--emulated-version=1.36'])).client()
const older = (await serve({ after }, ['--emulated-version=1.23'])).client()

type Client = typeof admin

async function applyBy(client: Client, manager: string, path: string, object: object) {
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  const { body } = await client.send(`${path}?fieldManager=${manager}`, {
    method: 'PATCH',
    headers,
    body: { metadata: { name: 'a' }, ...object },
  })
  return body
}

test('an apply that changes only field ownership does not update the time of the managed fields entry', async () => {
  const path = '/api/v1/namespaces/default/configmaps/a'
  const object = { apiVersion: 'v1', kind: 'ConfigMap', data: { k: '1' } }
  for (const [client, hasTime] of [
    [admin, false],
    [older, true],
  ] as const) {
    await applyBy(client, 'first', path, object)
    const { metadata } = await applyBy(client, 'second', path, object)
    const times = metadata.managedFields.map((entry: object) => 'time' in entry)
    assert.deepEqual(times.toSorted(), [hasTime, true])
  }
})

test('an apply that only reorders list elements changes the object', async () => {
  const path = '/api/v1/namespaces/default/podtemplates/a'
  const object = (...names: string[]) => ({
    apiVersion: 'v1',
    kind: 'PodTemplate',
    template: { spec: { containers: names.map((name) => ({ name, image: 'i' })) } },
  })
  for (const [client, expected] of [
    [admin, ['b', 'a']],
    [older, ['a', 'b']],
  ] as const) {
    await applyBy(client, 'm', path, object('a', 'b'))
    const { template } = await applyBy(client, 'm', path, object('b', 'a'))
    assert.deepEqual(
      template.spec.containers.map(({ name }: { name: string }) => name),
      expected,
    )
  }
})

test('the fields of a claim reference have separate owners', async () => {
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } }
  const volume = { apiVersion: 'v1', kind: 'PersistentVolume' }
  const path = '/api/v1/persistentvolumes/a'
  await applyBy(admin, 'a', path, { ...volume, spec: { ...spec, claimRef: { namespace: 'n', name: 'c' } } })
  const { metadata } = await applyBy(admin, 'b', path, { ...volume, spec: { claimRef: { uid: 'u' } } })
  const owned = metadata.managedFields.find(({ manager }: { manager: string }) => manager === 'b').fieldsV1
  assert.deepEqual(owned, { 'f:spec': { 'f:claimRef': { 'f:uid': {} } } })
})

test('since 1.24, an empty list of managed fields disables field tracking for the object', async () => {
  const resets = {
    'a merge patch with an empty list': ['merge-patch+json', { metadata: { managedFields: [] }, data: { k: '2' } }],
    'a merge patch with an empty entry': ['merge-patch+json', { metadata: { managedFields: [{}] }, data: { k: '2' } }],
    'a strategic merge patch': ['strategic-merge-patch+json', { metadata: { managedFields: [] } }],
    'a JSON patch': ['json-patch+json', [{ op: 'replace', path: '/metadata/managedFields', value: [] }]],
  } as const
  const maps = '/api/v1/namespaces/default/configmaps'
  const ownersOf = ({ metadata }: { metadata: { managedFields?: { manager: string }[] } }) =>
    metadata.managedFields?.map(({ manager }) => manager)
  for (const [i, [what, [type, body]]] of Object.entries(resets).entries()) {
    const path = `${maps}/reset-${i}`
    await applyBy(admin, 'm', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `reset-${i}` }, data: {} })
    const headers = { 'content-type': `application/${type}` }
    const reset = await admin.send(path, { method: 'PATCH', headers, body: body as object })
    assert.deepEqual([reset.status, ownersOf(reset.body)], [200, undefined], what)
  }
  for (const [client, expected] of [
    [admin, undefined],
    [older, ['creator', 'updater']],
  ] as const) {
    const object = (k: string, managedFields?: []) => ({ metadata: { name: 'put', managedFields }, data: { k } })
    await client.post(`${maps}?fieldManager=creator`, object('1'))
    const { body } = await client.put(`${maps}/put?fieldManager=updater`, object('2', []))
    assert.deepEqual([body.data, ownersOf(body)], [{ k: '2' }, expected])
  }
})

const causesOf = (body: { details?: { causes?: { field: string }[] } }) =>
  (body.details?.causes ?? []).map(({ field }) => field)

test('only the series and the metadata of an Event can be changed through the events API group', async () => {
  const events = '/apis/events.orch.io/v1/namespaces/default/events'
  const reporter = { reportingController: 'example.com/c', reportingInstance: 'i', action: 'a' }
  const about = { regarding: { kind: 'Pod', name: 'p', namespace: 'default' }, reason: 'R', type: 'Normal', note: 'n' }
  const eventTime = '2024-01-01T00:00:00.000000Z'
  const created = await admin.post(events, { metadata: { name: 'e' }, eventTime, ...reporter, ...about })
  assert.equal(created.status, 201)
  const patch = async (body: object) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    return causesOf((await admin.send(`${events}/e`, { method: 'PATCH', headers, body })).body)
  }
  assert.deepEqual(await patch({ note: 'other' }), ['message'])
  assert.deepEqual(await patch({ regarding: { name: 'q' } }), ['involvedObject'])
  assert.deepEqual(await patch({ reportingController: 'example.com/d' }), ['reportingController'])
  assert.deepEqual(await patch({ series: { count: 2, lastObservedTime: eventTime } }), [])
  const core = await admin.post('/api/v1/namespaces/default/events', {
    metadata: { name: 'f' },
    involvedObject: { namespace: 'default' },
    eventTime,
  })
  assert.ok(causesOf(core.body).includes('reportingComponent'))
})

test('the limits of a priority level must be in the valid range', async () => {
  const path = '/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations'
  const faults = async (limited: object, more: object = {}) => {
    const spec = { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...limited }, ...more }
    return causesOf((await admin.post(`${path}?dryRun=All`, { metadata: { name: 'l' }, spec })).body)
  }
  assert.deepEqual(await faults({ lendablePercent: 101 }), ['spec.limited.lendablePercent'])
  assert.deepEqual(await faults({ lendablePercent: -1 }), ['spec.limited.lendablePercent'])
  assert.deepEqual(await faults({ borrowingLimitPercent: -1 }), ['spec.limited.borrowingLimitPercent'])
  assert.deepEqual(await faults({ nominalConcurrencyShares: -1 }), ['spec.limited.nominalConcurrencyShares'])
  assert.deepEqual(await faults({}, { exempt: {} }), ['spec.exempt'])
  assert.deepEqual(await faults({ limitResponse: {} }), ['spec.limited.limitResponse.type'])
})

const clients = [
  [admin, true],
  [older, false],
] as const

test('since Kubernetes 1.26, a deleted object is returned with the resourceVersion of its deletion', async () => {
  for (const [client, isNewer] of clients) {
    const object = { metadata: { name: 'gone' }, provisioner: 'example.com/p' }
    const created = (await client.post('/apis/storage.orch.io/v1/storageclasses', object)).body
    const deleted = (await client.send('/apis/storage.orch.io/v1/storageclasses/gone', { method: 'DELETE' })).body
    assert.equal(deleted.metadata.resourceVersion !== created.metadata.resourceVersion, isNewer)
  }
})

test('since Kubernetes 1.25, updating a value updates the time of the managed fields entry', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const old = '2020-01-01T00:00:00Z'
  for (const [client, isNewer] of clients) {
    const object = { metadata: { name: 'timed' }, data: { k: '1' } }
    const created = (await client.post(`${path}?fieldManager=m`, object)).body
    const managedFields = [{ ...created.metadata.managedFields[0], time: old }]
    const next = { ...created, metadata: { ...created.metadata, managedFields }, data: { k: '2' } }
    const { body } = await client.send(`${path}/timed?fieldManager=m`, { method: 'PUT', body: next })
    assert.equal(body.metadata.managedFields[0].time !== old, isNewer)
  }
})

test('since Kubernetes 1.24, an apply that differs only in a null creationTimestamp is not stored', async () => {
  const path = '/api/v1/namespaces/default/configmaps/untimed'
  const object = { apiVersion: 'v1', kind: 'ConfigMap', data: { k: '1' } }
  const first = await applyBy(admin, 'm', path, { ...object, metadata: { name: 'untimed' } })
  // Sets an old time, so that the next apply would change it.
  const managedFields = [{ ...first.metadata.managedFields[0], time: '2020-01-01T00:00:00Z' }]
  const body = { ...first, metadata: { ...first.metadata, managedFields } }
  const edited = (await admin.send(path, { method: 'PUT', body })).body
  const again = await applyBy(admin, 'm', path, { ...object, metadata: { name: 'untimed', creationTimestamp: null } })
  assert.equal(again.metadata.resourceVersion, edited.metadata.resourceVersion)
})

test('managed fields entries for the scale subresource have no time', async () => {
  const path = '/apis/apps/v1/namespaces/default/replicasets'
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { selector: { matchLabels: { a: 'b' } }, template }
  await admin.post(path, { metadata: { name: 'scaled' }, spec })
  const scaled = `${path}/scaled`
  const write = async (type: string, query: string, body: object) => {
    const headers = { 'content-type': `application/${type}` }
    await admin.send(`${scaled}/scale${query}`, { method: 'PATCH', headers, body })
    const { metadata } = (await admin.get(scaled)).body
    const entry = metadata.managedFields.find(({ subresource }: { subresource?: string }) => subresource === 'scale')
    return [entry.operation, entry.time]
  }
  assert.deepEqual(await write('merge-patch+json', '', { spec: { replicas: 3 } }), ['Update', undefined])
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'scaled' }, spec: { replicas: 4 } }
  assert.deepEqual(await write('apply-patch+yaml', '?fieldManager=m&force=true', scale), ['Apply', undefined])
})

test('only a dry-run create may specify a resourceVersion, and the response contains this version', async () => {
  const maps = '/api/v1/namespaces/default/configmaps'
  const object = { metadata: { name: 'versioned', resourceVersion: '5' } }
  const { status, body } = await admin.post(`${maps}?dryRun=All`, object)
  assert.deepEqual([status, body.metadata.resourceVersion], [201, '5'])
  assert.equal((await admin.post(maps, object)).status, 400)
})

test('since Kubernetes 1.27, a TLS Secret with a key pair that no server can use causes a warning', async () => {
  const path = '/api/v1/namespaces/default/secrets'
  const secret = (stringData: object) => ({ metadata: { generateName: 't-' }, type: 'orch.io/tls', stringData })
  const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  const rows: [object, RegExp][] = [
    [{ 'tls.crt': 'x', 'tls.key': 'y' }, /failed to find any PEM data in certificate input/],
    [{ 'tls.crt': certificate, 'tls.key': '' }, /failed to find any PEM data in key input/],
    [{ 'tls.crt': certificate, 'tls.key': certificate }, /the certificate and the key may have been switched/],
  ]
  for (const [data, warning] of rows) {
    assert.match((await admin.post(path, secret(data))).headers.warning ?? '', warning)
    assert.equal((await older.post(path, secret(data))).headers.warning, undefined)
  }
})

test('a deletion ignores the fieldValidation parameter', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  await admin.post(path, { metadata: { name: 'x' } })
  const { status } = await admin.send(`${path}/x?fieldValidation=Loud`, { method: 'DELETE' })
  assert.equal(status, 200)
})

test('in built-in kinds, the object values of a duplicate JSON key are merged', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const raw = '{"metadata":{"name":"twice"},"data":{"k":"1"},"data":{"l":"2"}}'
  const { body: created } = await admin.send(path, { method: 'POST', raw })
  assert.deepEqual(created.data, { k: '1', l: '2' })
})

test('since Kubernetes 1.27, the two topology annotations of a Service must be equal', async () => {
  const key = 'service.orch.io/topology'
  const annotations = { [`${key}-mode`]: 'Auto', [`${key}-aware-hints`]: 'auto' }
  const service = { metadata: { generateName: 's-', annotations }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } }
  for (const [client, isNewer] of clients) {
    const { status } = await client.post('/api/v1/namespaces/default/services', service)
    assert.equal(status, isNewer ? 422 : 201)
  }
})

test('since Kubernetes 1.30, a v1 priority level may have zero shares', async () => {
  const path = '/apis/flowcontrol.apiserver.orch.io/v1/prioritylevelconfigurations'
  const limited = { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' } }
  const { status, body } = await admin.post(path, { metadata: { name: 'none' }, spec: { type: 'Limited', limited } })
  assert.deepEqual([status, body.spec?.limited.nominalConcurrencyShares], [201, 0])
})

test('since Kubernetes 1.24, an extra space before a bearer token causes a warning', async () => {
  const headers = { authorization: 'Bearer  token' }
  for (const [client, isNewer] of clients) {
    const { status, headers: sent } = await client.send('/api/v1/nodes', { headers })
    assert.deepEqual([status, /extra space/.test(sent.warning ?? '')], [403, isNewer])
  }
})
