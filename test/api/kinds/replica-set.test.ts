/** Tests ReplicaSet: defaults, validation, table columns, immutable fields and status updates. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { replicaSet } from '../../../src/api/kinds/apps/replica-set.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { badTemplates, podsOf, selecting } from './pods-of.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const disk = [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }]

test('the number of replicas of a ReplicaSet defaults to 1, and the status of a new ReplicaSet counts no pods', () => {
  const { object, faults } = create({})
  assert.deepEqual([faults, asJson(object).status], [[], { replicas: 0 }])
  assert.deepEqual([(object.spec as JsonObject).replicas, object.metadata.generation], [1, 1])
})

test('validation errors for a ReplicaSet contain the field path', () => {
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    ...badTemplates,
    [{ selector: null }, ['Invalid spec.template.metadata.labels', 'Required spec.selector']],
    [{ replicas: -1, minReadySeconds: -1 }, ['Invalid spec.minReadySeconds', 'Invalid spec.replicas']],
    [{ replicas: 1, template: podsOf({ volumes: disk }) }, []],
    [
      { replicas: 2, template: podsOf({ volumes: disk }) },
      ['Invalid spec.template.spec.volumes[0].gcePersistentDisk.readOnly'],
    ],
    [
      { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
      ['Invalid spec.selector', 'Required spec.selector.matchExpressions[0].values'],
    ],
  ]
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('the selector of a ReplicaSet is immutable, and only spec changes increment the generation', () => {
  const { object } = create({})
  const template = podsOf({}, { labels: { app: 'a', more: 'b' } })
  assert.deepEqual(update({ template, selector: { matchLabels: { more: 'b' } } }).faults, ['Invalid spec.selector'])
  assert.equal(update({ template }).object.metadata.generation, 2)
  assert.equal(update({}, { annotations: { a: 'b' } }).object.metadata.generation, 1)

  function update(spec: JsonObject, metadata: JsonObject = {}) {
    return updateBy(replicaSet, object, { ...objectOf(spec), metadata: { name: 'r', ...metadata } })
  }
})

test('a status update of a ReplicaSet does not change the spec, and no count may exceed replicas', () => {
  const { object } = create({})
  const write = (status: JsonObject) =>
    updateBy(replicaSet, object, { ...objectOf({ replicas: 7 }), status }, { subresource: 'status' })
  const counts = { replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 2, availableReplicas: 1 }
  assert.deepEqual([write(counts).faults, write(counts).object.spec], [[], object.spec])
  assert.deepEqual(write({ replicas: 1, fullyLabeledReplicas: 2, readyReplicas: 0, availableReplicas: 1 }).faults, [
    'Invalid status.availableReplicas',
    'Invalid status.fullyLabeledReplicas',
  ])
  assert.deepEqual(write({ fullyLabeledReplicas: -1, observedGeneration: -1 }).faults, [
    'Invalid status.fullyLabeledReplicas',
    'Invalid status.observedGeneration',
  ])
})

test('the ReplicaSet table shows the numbers of desired, existing and ready pods', () => {
  const { object } = create({ replicas: 2 })
  object.status = { replicas: 2, readyReplicas: 1 }
  assert.deepEqual(cellsOf(replicaSet, object), ['r', 2, 2, 1, '<unknown>', 'c', 'img:1', 'app=a'])
})

function create(spec: JsonObject) {
  return createBy(replicaSet, objectOf(spec))
}

function objectOf(spec: JsonObject): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'r' }, spec: selecting(spec) }
}
