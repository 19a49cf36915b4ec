/** Tests Deployment: defaults, validation, table columns, immutable fields, status updates, scaling and warnings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { deployment } from '../../../src/api/kinds/apps/deployment.ts'
import { replicaSet } from '../../../src/api/kinds/apps/replica-set.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { badTemplates, containers, podsOf, selecting } from './pods-of.ts'
import { cellsOf, createBy, ruleContext, updateBy } from './rules.ts'

test('unset fields of a Deployment are set to their defaults', () => {
  const { object, faults } = create({})
  assert.deepEqual(faults, [])
  const { spec, status, metadata } = asJson(object)
  const { template: _, selector: _s, ...rest } = spec as JsonObject
  const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%' }
  const strategy = { type: 'RollingUpdate', rollingUpdate }
  assert.deepEqual(rest, { replicas: 1, strategy, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })
  assert.deepEqual([status, metadata], [{}, { name: 'd', generation: 1 }])
  const kept = create({ replicas: 0, revisionHistoryLimit: 0, strategy: { type: 'Recreate' } }).object
    .spec as JsonObject
  assert.deepEqual([kept.replicas, kept.revisionHistoryLimit, kept.strategy], [0, 0, { type: 'Recreate' }])
})

const rolling = (rollingUpdate: JsonObject) => ({ strategy: { rollingUpdate } })
const at = 'spec.strategy.rollingUpdate'
const disk = [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }]

const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
  ...badTemplates,
  [{ selector: null }, ['Invalid spec.template.metadata.labels', 'Required spec.selector']],
  [
    { selector: { matchExpressions: [{ key: 'app', operator: 'Odd' }] } },
    ['Invalid spec.selector', 'Invalid spec.selector.matchExpressions[0].operator'],
  ],
  [{ selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['b c'] }] } }, ['Invalid spec.selector']],
  [{ selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['b', 'a'] }] } }, []],
  [
    { replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -1 },
    [
      'Invalid spec.minReadySeconds',
      'Invalid spec.progressDeadlineSeconds',
      'Invalid spec.replicas',
      'Invalid spec.revisionHistoryLimit',
    ],
  ],
  [{ minReadySeconds: 600 }, ['Invalid spec.progressDeadlineSeconds']],
  [{ strategy: { type: 'recreate', rollingUpdate: { maxSurge: -1 } } }, ['NotSupported spec.strategy']],
  [{ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: -1 } } }, ['Forbidden spec.strategy.rollingUpdate']],
  [rolling({ maxUnavailable: '5', maxSurge: 0 }), [`Invalid ${at}.maxUnavailable`]],
  [{ strategy: { type: 'Recreate', rollingUpdate: {} } }, ['Forbidden spec.strategy.rollingUpdate']],
  [rolling({ maxUnavailable: '100%', maxSurge: '200%' }), []],
  [rolling({ maxUnavailable: '101%' }), [`Invalid ${at}.maxUnavailable`]],
  [rolling({ maxUnavailable: 0, maxSurge: '0%' }), [`Invalid ${at}.maxUnavailable`]],
  [rolling({ maxUnavailable: -1 }), [`Invalid ${at}.maxUnavailable`]],
  ...['5', '', '5.5%', '-5%', '%', '5 %'].map(
    (maxSurge) => [rolling({ maxSurge }), [`Invalid ${at}.maxSurge`]] as [JsonObject, string[]],
  ),
  [{ template: podsOf({ volumes: disk }) }, []],
  [
    { replicas: 2, template: podsOf({ volumes: disk }) },
    ['Invalid spec.template.spec.volumes[0].gcePersistentDisk.readOnly'],
  ],
  [
    { replicas: 2, template: podsOf({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd', readOnly: true } }] }) },
    [],
  ],
]

test('validation errors for a Deployment contain the field path', () => {
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('the selector of a Deployment is immutable, and changes to the spec or the annotations increment the generation', () => {
  const { object } = create({})
  const other = { matchLabels: { app: 'b' } }
  const moved = update({ selector: other, template: podsOf({}, other.matchLabels && { labels: { app: 'b' } }) })
  assert.deepEqual(moved.faults, ['Invalid spec.selector'])
  const generationOf = (spec: JsonObject, metadata: JsonObject = {}) =>
    update(spec, metadata).object.metadata.generation
  assert.equal(generationOf({}), 1)
  assert.equal(generationOf({}, { labels: { a: 'b' } }), 1)
  assert.equal(generationOf({ replicas: 2 }), 2)
  assert.equal(generationOf({}, { annotations: { a: 'b' } }), 2)

  function update(spec: JsonObject, metadata: JsonObject = {}) {
    return updateBy(deployment, object, objectOf(spec, { metadata: { name: 'd', ...metadata } }))
  }
})

test('a status update of a Deployment changes only the status, and invalid statuses are rejected', () => {
  const { object } = create({}, { status: { replicas: 5 } })
  const write = (status: JsonObject, previous = object) =>
    updateBy(deployment, previous, objectOf({ replicas: 9 }, { metadata: { name: 'd', labels: { a: 'b' } }, status }), {
      subresource: 'status',
    })
  const counts = { replicas: 3, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 1, collisionCount: 2 }
  const written = write(counts)
  assert.deepEqual([written.faults, written.object.spec, written.object.status], [[], object.spec, counts])
  assert.equal(written.object.metadata.labels, undefined)
  assert.deepEqual(write({ replicas: 1, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 3 }).faults, [
    'Invalid status.availableReplicas',
    'Invalid status.readyReplicas',
    'Invalid status.updatedReplicas',
  ])
  assert.deepEqual(write({ unavailableReplicas: -1, observedGeneration: -1 }).faults, [
    'Invalid status.observedGeneration',
    'Invalid status.unavailableReplicas',
  ])
  for (const collisionCount of [1, null])
    assert.deepEqual(write({ collisionCount }, written.object).faults, ['Invalid status.collisionCount'])
})

test('the rollback annotation of a Deployment must be an integer, and status updates cannot change it', () => {
  const key = 'deprecated.deployment.rollback.to'
  const annotated = (version: string) => ({ metadata: { name: 'd', annotations: { [key]: version, a: 'b' } } })
  const storedOf = (version: string) => create({}, annotated(version)).object.metadata.annotations?.[key]
  assert.deepEqual(['5', '+5', '0', ''].map(storedOf), ['5', '5', '0', undefined])
  assert.deepEqual(create({}, annotated('-3')).faults, ['Invalid spec.rollback.version'])
  for (const version of ['x', '1.5', '9223372036854775808'])
    assert.throws(() => create({}, annotated(version)), { code: 400 }, version)
  const { object } = create({}, annotated('5'))
  const status = (version: string) =>
    updateBy(deployment, object, objectOf({}, annotated(version)), { subresource: 'status' }).object.metadata
  assert.deepEqual([status('7').annotations, status('').annotations], Array(2).fill({ [key]: '5', a: 'b' }))
})

test('the Deployment table shows pod counts, containers, images and the selector', () => {
  const two = [...containers, { name: 'd', image: 'other:2' }]
  const matchExpressions = [
    { key: 'x', operator: 'DoesNotExist' },
    { key: 'app', operator: 'In', values: ['b', 'a'] },
  ]
  const selector = { matchLabels: { app: 'a' }, matchExpressions }
  const { object } = create({ replicas: 3, selector, template: podsOf({ containers: two }) })
  object.status = { readyReplicas: 3, updatedReplicas: 2, availableReplicas: 1 }
  const cells = cellsOf(deployment, {
    ...object,
    metadata: { ...object.metadata, creationTimestamp: '2030-01-02T03:04:00Z' },
  })
  assert.deepEqual(cells, ['d', '3/3', 2, 1, '5s', 'c,d', 'img:1,other:2', 'app=a,app in (a,b),!x'])
})

test('creating or updating a Deployment with questionable settings in the pod template returns warnings', () => {
  const { object } = create({ template: podsOf({ imagePullSecrets: [{ name: '' }] }) })
  const warnings = (previous?: typeof object) => deployment.rules.warnings!(object, previous, ruleContext)
  assert.deepEqual(warnings(), ['spec.template.spec.imagePullSecrets[0]: invalid empty name ""'])
  const changed = { ...object, metadata: { ...object.metadata, generation: 0 } }
  assert.deepEqual([warnings(object), warnings(changed).length], [[], 1])
})

test('the scale subresource of a Deployment supports update and patch, and a patch can replace the strategy', async (t) => {
  const client = (await serve(t)).client()
  const path = '/apis/apps/v1/namespaces/default/deployments'
  await client.post(path, objectOf())
  const scaled = await client.get(`${path}/d/scale`)
  assert.deepEqual([scaled.body.spec, scaled.body.status], [{ replicas: 1 }, { replicas: 0, selector: 'app=a' }])
  const ofNone = { ...scaled.body, metadata: { name: 'none', namespace: 'default' } }
  const missed = [await client.get(`${path}/none/scale`), await client.put(`${path}/none/scale`, ofNone)]
  const names = missed.map(({ status, body }) => [status, body.details.kind])
  assert.deepEqual(names, [
    [404, 'deployments/scale'],
    [404, 'deployments'],
  ])
  const put = await client.put(`${path}/d/scale`, {
    metadata: { name: 'd', namespace: 'default' },
    spec: { replicas: 4 },
  })
  assert.deepEqual([put.status, put.body.spec], [200, { replicas: 4 }])
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd', namespace: 'default' } }
  const apply = (body: JsonObject, query = '') =>
    client.send(`${path}/d/scale?fieldManager=m${query}`, {
      method: 'PATCH',
      body,
      headers: { 'content-type': 'application/apply-patch+yaml' },
    })
  assert.equal((await apply({ ...scale, spec: { replicas: 6 } })).status, 409)
  const applied = await apply({ ...scale, spec: { replicas: 6 }, status: { replicas: 9 } }, '&force=true')
  assert.deepEqual([applied.status, applied.body.kind, applied.body.spec], [200, 'Scale', { replicas: 6 }])
  const owner = (await client.get(`${path}/d`)).body.metadata.managedFields.find(
    (each: JsonObject) => each.manager === 'm',
  )
  assert.deepEqual([owner.apiVersion, owner.subresource], ['apps/v1', 'scale'])
  assert.deepEqual(owner.fieldsV1, { 'f:spec': { 'f:replicas': {} } })
  assert.equal((await apply({ ...scale, apiVersion: 'apps/v1', spec: { replicas: 1 } })).status, 400)
  const nowhere = await client.put(`${path}/d/scale`, { metadata: { name: 'd' }, spec: { replicas: -1 } })
  const faults = nowhere.body.details.causes.map(({ field }: { field: string }) => field)
  assert.deepEqual([nowhere.status, faults], [422, ['metadata.namespace', 'spec.replicas']])
  const type = 'application/strategic-merge-patch+json'
  const patch = (name: string, body: JsonObject) =>
    client.send(`${path}/${name}`, { method: 'PATCH', body, headers: { 'content-type': type } })
  assert.equal((await patch('d/scale', { spec: { replicas: 2 } })).body.spec.replicas, 2)
  assert.equal((await patch('d', { spec: { strategy: { type: 'Recreate' } } })).status, 422)
  const replaced = await patch('d', { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } })
  assert.deepEqual([replaced.status, replaced.body.spec.strategy], [200, { type: 'Recreate' }])
  assert.deepEqual([replaced.body.metadata.generation, replaced.body.spec.replicas], [5, 2])
})

function create(spec: JsonObject, more: JsonObject = {}) {
  return createBy(deployment, objectOf(spec, more))
}

function objectOf(spec: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: selecting(spec), ...more }
}

test('the template of a Deployment is not validated if the selector is invalid', () => {
  const selector = { matchExpressions: [{ key: 'app', operator: 'In', values: [] }] }
  const template = podsOf({ restartPolicy: 'Never', containers: [] })
  for (const kind of [deployment, replicaSet])
    assert.deepEqual(createBy(kind, { metadata: { name: 'd' }, spec: { selector, template } }).faults, [
      'Invalid spec.selector',
      'Required spec.selector.matchExpressions[0].values',
    ])
})

test('updates of a Deployment or its scale return warnings about the template, but status updates do not', async (t) => {
  const client = (await serve(t)).client()
  const path = '/apis/apps/v1/namespaces/default/deployments'
  const annotations = { 'seccomp.security.alpha.orch.io/pod': 'runtime/default' }
  const template = podsOf({ imagePullSecrets: [{}, {}] }, { labels: { app: 'a' }, annotations })
  const { body, headers } = await client.post(path, { metadata: { name: 'd' }, spec: selecting({ template }) })
  const texts = String(headers.warning)
  assert.equal(texts.match(/invalid empty name/g)?.length, 2, texts)
  assert.match(texts, /imagePullSecrets\[1\]\.name: duplicate name/)
  assert.match(texts, /template\.metadata\.annotations\[seccomp\.security\.alpha\.orch\.io\/pod\]: deprecated/)
  const scale = { metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 3 } }
  assert.equal(String((await client.put(`${path}/d/scale`, scale)).headers.warning).split(',').length, 4)
  const { body: latest } = await client.get(`${path}/d`)
  assert.equal(
    (await client.put(`${path}/d/status`, { ...latest, status: { replicas: 1 } })).headers.warning,
    undefined,
  )
  assert.equal(body.metadata.generation, 1)
})
