/** Tests Job: defaults, validation, generated pod labels, immutable fields, table columns and deletion. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { job } from '../../../src/api/kinds/batch/job.ts'
import { type ApiObject, asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { podsOf } from './pods-of.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const manual = {
  manualSelector: true,
  selector: { matchLabels: { app: 'a' } },
  template: podsOf({ restartPolicy: 'Never' }),
}

test('unset fields of a Job are set to their defaults', () => {
  const filled = { parallelism: 1, completions: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false }
  const cases: readonly (readonly [sent: JsonObject, filled: JsonObject])[] = [
    [{}, filled],
    [{ parallelism: 2 }, { ...filled, parallelism: 2, completions: undefined }],
    [
      { completions: 3, suspend: true },
      { ...filled, completions: 3, suspend: true },
    ],
    [
      { completions: 0, parallelism: 0, backoffLimit: 0 },
      { ...filled, completions: 0, parallelism: 0, backoffLimit: 0 },
    ],
  ]
  for (const [sent, expected] of cases) {
    const { object, faults } = create({ ...manual, ...sent })
    const { parallelism, completions, backoffLimit, completionMode, suspend } = object.spec as JsonObject
    assert.deepEqual(faults, [])
    assert.deepEqual({ parallelism, completions, backoffLimit, completionMode, suspend }, expected)
    assert.deepEqual([asJson(object).status, object.metadata.generation], [{}, 1])
  }
})

const policy = 'spec.template.spec.restartPolicy'

test('validation errors for a Job contain the field path', () => {
  const counts = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished']
  const cases: readonly (readonly [sent: JsonObject, faults: readonly string[]])[] = [
    ...counts.map((name) => [{ [name]: -1 }, [`Invalid spec.${name}`]] as [JsonObject, string[]]),
    [{ completionMode: 'indexed' }, ['NotSupported spec.completionMode']],
    [{ completionMode: '' }, ['NotSupported spec.completionMode']],
    [{ completionMode: 'Indexed' }, []],
    [{ completionMode: 'Indexed', parallelism: 2 }, ['Required spec.completions']],
    [{ completionMode: 'Indexed', parallelism: 100_001, completions: 1 }, ['Invalid spec.parallelism']],
    [{ template: podsOf() }, [`Required ${policy}`]],
    [{ template: podsOf({ restartPolicy: 'Always' }) }, [`Required ${policy}`]],
    [{ template: podsOf({ restartPolicy: 'Perhaps' }) }, [`NotSupported ${policy}`]],
    [{ selector: null }, ['Invalid spec.template.metadata.labels', 'Required spec.selector']],
    [{ selector: { matchLabels: { app: 'b' } } }, ['Invalid spec.template.metadata.labels']],
    [{ selector: {} }, []],
    [
      { template: {} },
      ['Invalid spec.template.metadata.labels', 'Required spec.template.spec.containers', `Required ${policy}`],
    ],
  ]
  for (const [sent, faults] of cases)
    assert.deepEqual(create({ ...manual, ...sent }).faults, faults, JSON.stringify(sent))
})

test('only a few fields of an existing Job are mutable', () => {
  const { object } = create(manual)
  const update = (spec: JsonObject, previous: ApiObject = object) =>
    updateBy(job, previous, objectOf({ ...manual, ...spec }))
  for (const spec of [
    { parallelism: 9, completions: 1 },
    { backoffLimit: 1 },
    { activeDeadlineSeconds: 9 },
    { suspend: true },
  ])
    assert.deepEqual([update(spec).faults, update(spec).object.metadata.generation], [[], 2])
  assert.deepEqual(update({ completions: 5 }).faults, ['Invalid spec.completions'])
  assert.deepEqual(update({ completionMode: 'Indexed' }).faults, ['Invalid spec.completionMode'])
  assert.deepEqual(update({ selector: {} }).faults, ['Invalid spec.selector'])
  const never = { restartPolicy: 'Never' }
  const nodes = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } }
  const places = [{ nodeSelector: { disk: 'ssd' } }, { tolerations: [{ operator: 'Exists' }] }, { affinity: nodes }]
  const waiting = create({ ...manual, suspend: true }).object
  const started = { ...waiting, status: { startTime: '2030-01-01T00:00:00Z' } }
  for (const place of places) {
    const template = podsOf({ ...never, ...place })
    assert.deepEqual(update({ template }).faults, ['Invalid spec.template'])
    assert.deepEqual(update({ template, suspend: true }, waiting).faults, [], JSON.stringify(place))
    assert.deepEqual(update({ template, suspend: true }, started).faults, ['Invalid spec.template'])
  }
  const others = [podsOf({ ...never, hostname: 'x' }), podsOf({ ...never, affinity: { podAffinity: {} } })]
  for (const template of others) assert.deepEqual(update({ template }, waiting).faults, ['Invalid spec.template'])
  const relabeled = podsOf(never, { labels: { app: 'a', more: 'b' }, annotations: { c: 'd' } })
  assert.deepEqual(update({ template: relabeled }, waiting).faults, [])
})

test('a status update of a Job changes only the status, and invalid statuses are rejected', () => {
  const { object } = create(manual)
  const write = (status: JsonObject) =>
    updateBy(job, object, { ...objectOf({ ...manual, parallelism: 7 }), status }, { subresource: 'status' })
  assert.deepEqual([write({ succeeded: 1 }).faults, write({ succeeded: 1 }).object.spec], [[], object.spec])
  for (const name of ['active', 'succeeded', 'failed', 'ready'])
    assert.deepEqual(write({ [name]: -1 }).faults, [`Invalid status.${name}`])
  const at = 'status.uncountedTerminatedPods'
  assert.deepEqual(write({ uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['b', 'a', 'b'] } }).faults, [
    `Duplicate ${at}.failed[1]`,
    `Duplicate ${at}.failed[2]`,
    `Invalid ${at}.succeeded[1]`,
  ])
})

test('the Job table shows completions and durations', () => {
  const cells = (spec: JsonObject, status: JsonObject) =>
    cellsOf(job, { ...create({ ...manual, ...spec }).object, status }).slice(1, 3)
  assert.deepEqual(cells({ completions: 5 }, {}), ['0/5', ''])
  assert.deepEqual(cells({ parallelism: 3 }, { succeeded: 1 }), ['1/1 of 3', ''])
  assert.deepEqual(cells({ parallelism: 1 }, { startTime: '2030-01-02T03:04:00Z' }), ['0/1', '5s'])
  const times = { startTime: '2020-01-01T00:00:00Z', completionTime: '2020-01-01T01:02:03Z' }
  assert.deepEqual(cells({}, { ...times, succeeded: 1 }), ['1/1', '62m'])
})

test('a running server enforces the rules for Jobs', async (t) => {
  const client = (await serve(t)).client()
  const path = '/apis/batch/v1/namespaces/default/jobs'
  const post = (spec: JsonObject, metadata: JsonObject = {}) =>
    client.post(path, { metadata, spec: { template: podsOf({ restartPolicy: 'Never' }, {}), ...spec } })
  const labeled = (labels: JsonObject) => ({ template: podsOf({ restartPolicy: 'Never' }, { labels }) })

  await t.test('the server generates pod labels from the name and UID of the Job', async () => {
    const { body } = await post({}, { name: 'a' })
    const own = { 'controller-uid': body.metadata.uid, 'job-name': 'a' }
    assert.deepEqual(body.spec.selector, { matchLabels: { 'controller-uid': body.metadata.uid } })
    assert.deepEqual([body.spec.template.metadata.labels, body.metadata.labels], [own, own])
    const drawn = (await post(labeled({ mine: '1' }), { generateName: 'g-' })).body
    const its = { 'controller-uid': drawn.metadata.uid, 'job-name': drawn.metadata.name, mine: '1' }
    assert.deepEqual([drawn.spec.template.metadata.labels, drawn.metadata.labels], [its, its])
  })

  await t.test('the server keeps the labels that a client sets on a Job', async () => {
    const { body } = await post(labeled({ mine: '1' }), { name: 'b', labels: { mine: '1' } })
    assert.deepEqual(body.metadata.labels, { mine: '1' })
  })

  await t.test('a status update on a Job without labels copies the labels of the template', async () => {
    const { body } = await post({}, { name: 'status' })
    const written = await client.put(`${path}/status/status`, { metadata: { name: 'status' }, status: { failed: 1 } })
    assert.deepEqual([written.status, written.body.status], [200, { failed: 1 }])
    assert.deepEqual(written.body.metadata.labels, body.spec.template.metadata.labels)
    const labels = { own: '1' }
    const named = await client.put(`${path}/status/status`, { metadata: { name: 'status', labels }, status: {} })
    assert.deepEqual(named.body.metadata.labels, labels)
    const controllers = '/api/v1/namespaces/default/replicationcontrollers'
    const template = podsOf({}, { labels: { app: 'a' } })
    await client.post(controllers, { metadata: { name: 'status' }, spec: { template } })
    const controller = await client.put(`${controllers}/status/status`, {
      metadata: { name: 'status' },
      status: { replicas: 1 },
    })
    assert.deepEqual([controller.status, controller.body.metadata.labels], [200, { app: 'a' }])
  })

  await t.test('a Job whose pod labels or selector conflict with the generated labels is rejected', async () => {
    const faults = async (spec: JsonObject) =>
      (await post(spec, { name: 'x' })).body.details.causes.map(({ field }: { field: string }) => field).sort()
    const at = 'spec.template.metadata.labels'
    assert.deepEqual(await faults(labeled({ 'job-name': 'z' })), [`${at}[job-name]`])
    assert.deepEqual(await faults(labeled({ 'controller-uid': 'z' })), [at, `${at}[controller-uid]`])
    assert.deepEqual(await faults({ selector: { matchLabels: { app: 'a' } } }), ['spec.selector', at])
  })

  await t.test('deleting a Job orphans its pods by default and returns a warning', async () => {
    const deleted = await client.delete(`${path}/a`)
    assert.deepEqual(deleted.body.metadata.finalizers, ['orphan'])
    assert.match(String(deleted.headers.warning), /child pods are preserved by default/)
    const gone = await client.delete(`${path}/b`, { propagationPolicy: 'Background' })
    assert.deepEqual([gone.body.status, gone.headers.warning], ['Success', undefined])
  })

  await t.test('clients cannot set the job-tracking annotation', async () => {
    const annotations = { 'batch.orch.io/job-tracking': 'x', kept: 'y' }
    assert.deepEqual((await post({}, { name: 'c', annotations })).body.metadata.annotations, { kept: 'y' })
  })

  await t.test('a field selector can select Jobs by the number of succeeded pods', async () => {
    const { body } = await client.get(`${path}?fieldSelector=status.successful%3D0,metadata.name%3Dc`)
    assert.equal(body.items.length, 1)
    assert.equal((await client.get(`${path}?fieldSelector=status.successful%3D1`)).body.items.length, 0)
  })
})

function create(spec: JsonObject) {
  return createBy(job, objectOf(spec))
}

function objectOf(spec: JsonObject): JsonObject {
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec }
}

test('an update that removes the generated pod labels of a Job is rejected, and the errors name the labels', () => {
  const { object } = createBy(job, {
    metadata: { name: 'j', uid: 'u' },
    spec: { template: podsOf({ restartPolicy: 'Never' }) },
  })
  const { selector } = asJson(object).spec as JsonObject
  const bare = {
    metadata: { name: 'j', uid: 'u' },
    spec: { selector: selector!, template: podsOf({ restartPolicy: 'Never' }) },
  }
  assert.deepEqual(updateBy(job, object, bare).faults, [
    'Invalid spec.template',
    'Invalid spec.template.metadata.labels',
    'Required spec.template.metadata.labels[controller-uid]',
    'Required spec.template.metadata.labels[job-name]',
  ])
})
