/** Tests StatefulSet: defaults, validation, immutable fields, and the pod template, which is not validated. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { statefulSet } from '../../../src/api/kinds/apps/stateful-set.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { podsOf, selecting } from './pods-of.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

test('unset fields of a StatefulSet are set to their defaults', () => {
  const { object, faults } = create({ volumeClaimTemplates: [{ metadata: { name: 'data' } }] })
  const { template: _t, selector: _s, ...rest } = asJson(object).spec as JsonObject
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' } }
  assert.deepEqual(faults, [])
  assert.deepEqual(rest, {
    replicas: 1,
    volumeClaimTemplates: [
      { ...claim, spec: { resources: {}, volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
    ],
    serviceName: 'web',
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
  })
  assert.deepEqual(asJson(object).status, { replicas: 0, availableReplicas: 0 })
  assert.deepEqual((create({ updateStrategy: { type: 'OnDelete' } }).object.spec as JsonObject).updateStrategy, {
    type: 'OnDelete',
  })
})

test('the unsupported field persistentVolumeClaimRetentionPolicy of a StatefulSet is dropped', () => {
  const { object } = create({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } })
  assert.equal((object.spec as JsonObject).persistentVolumeClaimRetentionPolicy, undefined)
})

test('the containers and volume claim templates of a StatefulSet are not validated', () => {
  const mounted = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/d' }] }]
  for (const containers of [mounted, [], null, [{}], [{ name: 'Not A Name', ports: [{ containerPort: 0 }] }]])
    assert.deepEqual(create({ template: podsOf({ containers }) }).faults, [], JSON.stringify(containers))
  assert.deepEqual(create({ volumeClaimTemplates: [{}, { spec: { accessModes: ['Sometimes'] } }] }).faults, [])
})

test('validation errors for a StatefulSet contain the field path', () => {
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    [{ selector: null }, ['Invalid spec.template.metadata.labels', 'Required spec.selector']],
    [{ selector: {} }, ['Invalid spec.selector']],
    [{ selector: { matchLabels: { z: 'z' } } }, ['Invalid spec.template.metadata.labels']],
    [{ template: podsOf({}, { labels: { app: 'a', b: 'c d' } }) }, ['Invalid spec.template.labels']],
    [{ template: podsOf({ restartPolicy: 'OnFailure' }) }, ['NotSupported spec.template.spec.restartPolicy']],
    [{ template: podsOf({ activeDeadlineSeconds: 1 }) }, ['Forbidden spec.template.spec.activeDeadlineSeconds']],
    [{ podManagementPolicy: 'Random' }, ['Invalid spec.podManagementPolicy']],
    [{ updateStrategy: { type: 'Never' } }, ['Invalid spec.updateStrategy']],
    [{ updateStrategy: { type: 'OnDelete', rollingUpdate: {} } }, ['Invalid spec.updateStrategy.rollingUpdate']],
    [
      {
        replicas: -2,
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
        updateStrategy: { rollingUpdate: { partition: -1 } },
      },
      ['Invalid spec.minReadySeconds', 'Invalid spec.replicas', 'Invalid spec.updateStrategy.rollingUpdate.partition'],
    ],
    [{ serviceName: 'A b' }, []],
  ]
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('only replicas, template, updateStrategy and minReadySeconds of a StatefulSet are mutable', () => {
  const { object } = create({})
  const update = (spec: JsonObject) => updateBy(statefulSet, object, objectOf(spec))
  const free = {
    replicas: 3,
    minReadySeconds: 7,
    updateStrategy: { type: 'OnDelete' },
    template: podsOf({ hostname: 'x' }),
  }
  assert.deepEqual([update(free).faults, update(free).object.metadata.generation], [[], 2])
  const fixed = [
    { serviceName: 'other' },
    { podManagementPolicy: 'Parallel' },
    { revisionHistoryLimit: 3 },
    { volumeClaimTemplates: [{ metadata: { name: 'd' } }] },
    { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
  ]
  for (const spec of fixed) assert.deepEqual(update(spec).faults, ['Forbidden spec'], JSON.stringify(spec))
})

test('a status update of a StatefulSet does not change the spec, and no count may exceed replicas', () => {
  const { object } = create({})
  const write = (status: JsonObject, previous = object) =>
    updateBy(statefulSet, previous, { ...objectOf({ replicas: 7 }), status }, { subresource: 'status' })
  const written = write({ replicas: 3, readyReplicas: 2, currentRevision: 'r', collisionCount: 1 })
  assert.deepEqual([written.faults, written.object.spec], [[], object.spec])
  assert.deepEqual(
    write({ replicas: 1, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 3 }).faults,
    [
      'Invalid status.availableReplicas',
      'Invalid status.currentReplicas',
      'Invalid status.readyReplicas',
      'Invalid status.updatedReplicas',
    ],
  )
  assert.deepEqual(write({ observedGeneration: -1 }, written.object).faults, [
    'Invalid status.collisionCount',
    'Invalid status.observedGeneration',
  ])
})

test('the StatefulSet table shows the numbers of ready and desired pods', () => {
  const { object } = create({ replicas: 3 })
  object.status = { replicas: 3, readyReplicas: 2 }
  assert.deepEqual(cellsOf(statefulSet, object), ['s', '2/3', '<unknown>', 'c', 'img:1'])
})

function create(spec: JsonObject) {
  return createBy(statefulSet, objectOf(spec))
}

function objectOf(spec: JsonObject): JsonObject {
  const metadata = { name: 's' }
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: selecting({ serviceName: 'web', ...spec }) }
}

test('an empty or incomplete update strategy of a StatefulSet gets defaults', () => {
  const strategyOf = (updateStrategy: JsonObject) =>
    (asJson(create({ updateStrategy }).object).spec as JsonObject).updateStrategy
  assert.deepEqual(strategyOf({}), { type: 'RollingUpdate', rollingUpdate: { partition: 0 } })
  assert.deepEqual(strategyOf({ type: 'RollingUpdate' }), { type: 'RollingUpdate' })
  assert.deepEqual(strategyOf({ type: 'RollingUpdate', rollingUpdate: {} }), {
    type: 'RollingUpdate',
    rollingUpdate: { partition: 0 },
  })
})
