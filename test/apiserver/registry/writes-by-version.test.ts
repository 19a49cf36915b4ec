/** Rules for writes that later Kubernetes versions changed: apply, events and priority levels. */
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

test('an apply that changes only field ownership does not set the time of the manager', async () => {
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

test('an apply that only moves list elements changes the object', async () => {
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

const causesOf = (body: { details?: { causes?: { field: string }[] } }) =>
  (body.details?.causes ?? []).map(({ field }) => field)

test('only the series and the metadata of an event can change through the events group', async () => {
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

test('the limits of a priority level have bounds', async () => {
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
