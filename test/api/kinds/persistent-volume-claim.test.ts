/** Tests PersistentVolumeClaim: validation, updates, data sources and feature gates, status and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { persistentVolumeClaim } from '../../../src/api/kinds/core/persistent-volume-claim.ts'
import { type ApiObject, asJson } from '../../../src/api/model/object.ts'
import type { FeatureGate } from '../../../src/api/versions/feature-gates.ts'
import { serve } from '../../support/in-process.ts'
import { createBy, updateBy } from './rules.ts'

const base = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const size = (storage: string) => ({ resources: { requests: { storage } } })
const anySource: ReadonlySet<FeatureGate> = new Set(['AnyVolumeDataSource'])
const recovery: ReadonlySet<FeatureGate> = new Set(['RecoverVolumeExpansionFailure'])
const betaClass = 'volume.beta.orch.io/storage-class'

function claim(spec: JsonObject, more: { annotations?: JsonObject; status?: JsonObject } = {}): JsonObject {
  const { annotations = {}, status = {} } = more
  return { metadata: { name: 'c', annotations }, spec: { ...base, ...spec }, status }
}

function create(spec: JsonObject, gates: ReadonlySet<FeatureGate> = new Set()) {
  return createBy(persistentVolumeClaim, claim(spec), { gates })
}

function specOf(object: ApiObject): JsonObject {
  return asJson(object).spec as JsonObject
}

const bad: readonly (readonly [spec: JsonObject, ...faults: string[]])[] = [
  [{ accessModes: [] }, 'Required spec.accessModes'],
  [{ accessModes: ['ReadWrite'] }, 'NotSupported spec.accessModes'],
  [{ resources: {} }, 'Required spec.resources[storage]'],
  [{ resources: { limits: { storage: '1' } } }, 'Required spec.resources[storage]'],
  [size('0'), 'Invalid spec.resources[storage]'],
  [size('-1'), 'Invalid spec.resources[storage]'],
  [{ storageClassName: 'A_b' }, 'Invalid spec.storageClassName'],
  [{ volumeMode: 'Tape' }, 'NotSupported spec.volumeMode'],
  [{ volumeMode: '' }, 'NotSupported spec.volumeMode'],
  [{ selector: { matchLabels: { 'a b': 'c' } } }, 'Invalid spec.selector.matchLabels'],
  [{ dataSource: { kind: 'PersistentVolumeClaim' } }, 'Required spec.dataSource.name'],
]

test('invalid claims are rejected, and valid claims get defaults', () => {
  for (const [spec, ...faults] of bad) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
  const { object, faults } = createBy(persistentVolumeClaim, claim({}, { status: { phase: 'Bound' } }))
  assert.deepEqual([specOf(object).volumeMode, object.status, faults], ['Filesystem', { phase: 'Pending' }, []])
})

const aClaim = { kind: 'PersistentVolumeClaim', name: 'src' }
const snapshot = { apiGroup: 'snapshot.storage.orch.io', kind: 'VolumeSnapshot', name: 's' }
const thing = { apiGroup: 'example.com', kind: 'Thing', name: 't' }
const core = { kind: 'Pod', name: 'p' }

test('dataSource accepts only a claim or a snapshot, and dataSourceRef requires its feature gate', () => {
  const sources = (spec: JsonObject, gates: ReadonlySet<FeatureGate>) => {
    const { object, faults } = create(spec, gates)
    const { dataSource, dataSourceRef } = specOf(object)
    return faults.length > 0 ? faults : [dataSource, dataSourceRef]
  }
  const closed: ReadonlySet<FeatureGate> = new Set()
  const cases: readonly (readonly [spec: JsonObject, off: readonly unknown[], on: readonly unknown[]])[] = [
    [{ dataSource: aClaim }, [aClaim, undefined], [aClaim, aClaim]],
    [{ dataSource: snapshot }, [snapshot, undefined], [snapshot, snapshot]],
    [{ dataSource: thing }, [undefined, undefined], [undefined, undefined]],
    [{ dataSource: core }, [undefined, undefined], [undefined, undefined]],
    [{ dataSourceRef: thing }, [undefined, undefined], [thing, thing]],
    [{ dataSourceRef: core }, [undefined, undefined], ['Invalid spec.dataSource', 'Invalid spec.dataSourceRef']],
    [{ dataSource: aClaim, dataSourceRef: aClaim }, [aClaim, undefined], [aClaim, aClaim]],
    [{ dataSource: aClaim, dataSourceRef: thing }, [aClaim, undefined], ['Invalid spec']],
  ]
  for (const [spec, off, on] of cases) {
    assert.deepEqual(sources(spec, closed), off, JSON.stringify(spec))
    assert.deepEqual(sources(spec, anySource), on, JSON.stringify(spec))
  }
})

test('a claim keeps its stored dataSourceRef after the feature gate is disabled', () => {
  const { object } = create({ dataSourceRef: thing }, anySource)
  const next = updateBy(persistentVolumeClaim, object, claim({ dataSource: thing, dataSourceRef: thing }))
  assert.deepEqual([next.faults, specOf(next.object).dataSourceRef], [[], thing])
})

function bound(spec: JsonObject, status: JsonObject = {}): ApiObject {
  const { object } = create(spec)
  return { ...object, status: { phase: 'Bound', capacity: { storage: '1Gi' }, ...status } }
}

test('only the volume name of a pending claim and the requested size of a bound claim can be changed', () => {
  const update = (before: ApiObject, spec: JsonObject, gates: ReadonlySet<FeatureGate> = new Set()) =>
    updateBy(persistentVolumeClaim, before, claim(spec), { gates }).faults
  const pending = create({}).object
  for (const spec of [
    { accessModes: ['ReadOnlyMany'] },
    { selector: {} },
    { storageClassName: '' },
    { resources: { ...base.resources, limits: { storage: '1Gi' } } },
    { dataSource: aClaim },
    size('2Gi'),
  ])
    assert.deepEqual(update(pending, spec), ['Forbidden spec'], JSON.stringify(spec))
  assert.deepEqual(update(pending, { volumeMode: 'Block' }), ['Forbidden spec', 'Invalid spec.volumeMode'])
  assert.deepEqual(update(pending, { volumeName: 'v' }), [])
  const named = create({ volumeName: 'v' }).object
  assert.deepEqual([update(named, { volumeName: 'w' }), update(named, {})], [['Forbidden spec'], ['Forbidden spec']])

  const shrunk = 'Forbidden spec.resources.requests.storage'
  assert.deepEqual(update(bound({}), size('2Gi')), [])
  assert.deepEqual(update(bound({}), { ...size('2Gi'), accessModes: ['ReadOnlyMany'] }), ['Forbidden spec'])
  assert.deepEqual(update(bound({}), size('512Mi')), [shrunk])
  assert.deepEqual(update(pending, size('512Mi')), ['Forbidden spec', shrunk])
  const grown = bound(size('5Gi'))
  assert.deepEqual(update(grown, size('2Gi')), [shrunk])
  assert.deepEqual(update(grown, size('2Gi'), recovery), [])
  assert.deepEqual(update(grown, size('1Gi'), recovery), [shrunk])
})

test('an update may move the storage class of a claim from the deprecated annotation to the field', () => {
  const before = createBy(persistentVolumeClaim, claim({}, { annotations: { [betaClass]: 'slow' } })).object
  const update = (spec: JsonObject, annotations: JsonObject) =>
    updateBy(persistentVolumeClaim, before, claim(spec, { annotations })).faults
  const place = `Invalid metadata.annotations.${betaClass}`
  assert.deepEqual(update({}, { [betaClass]: 'slow', other: 'x' }), [])
  assert.deepEqual(update({ storageClassName: 'slow' }, { [betaClass]: 'slow' }), [])
  assert.deepEqual(update({ storageClassName: 'slow' }, {}), [])
  assert.deepEqual(update({}, { [betaClass]: 'fast' }), [place])
  assert.deepEqual(update({}, {}), [place])
  assert.deepEqual(update({ storageClassName: 'fast' }, { [betaClass]: 'slow' }), ['Forbidden spec'])
  assert.deepEqual(update({ storageClassName: 'slow' }, { [betaClass]: 'fast' }), ['Forbidden spec', place])
})

test('a status update of a claim validates sizes and drops gated fields', () => {
  const report = (before: ApiObject, status: JsonObject, gates: ReadonlySet<FeatureGate>) =>
    updateBy(persistentVolumeClaim, before, claim({}, { status }), { subresource: 'status', gates })
  const { object } = create({})
  const gated = { allocatedResources: { storage: '5Gi' }, resizeStatus: 'NodeExpansionPending' }
  assert.deepEqual(report(object, { phase: 'Odd', ...gated }, new Set()).object.status, { phase: 'Odd' })
  const open = report(object, gated, recovery).object
  assert.deepEqual(open.status, { phase: 'Pending', ...gated })
  assert.deepEqual(report(open, gated, new Set()).object.status, open.status)
  assert.deepEqual(report(object, { capacity: { storage: '-1' } }, new Set()).faults, [
    'Invalid status.capacity[storage]',
  ])
  const wrong = { allocatedResources: { cpu: '1', storage: '-1' }, resizeStatus: 'Odd' }
  assert.deepEqual(report(object, wrong, recovery).faults, [
    'Invalid status.allocatedResources[storage]',
    'NotSupported status.allocatedResources',
    'NotSupported status.resizeStatus',
  ])
  assert.deepEqual(report(object, { resizeStatus: '' }, recovery).faults, [])
})

test('a claim can be created, updated, listed and deleted', async (t) => {
  const server = await serve(t, ['--feature-gates=AnyVolumeDataSource=true'])
  const client = server.client()
  const path = '/api/v1/namespaces/default/persistentvolumeclaims'
  const made = await client.post(path, claim({ storageClassName: 'slow', dataSourceRef: thing }))
  assert.deepEqual([made.status, made.body.spec.dataSource, made.body.status], [201, thing, { phase: 'Pending' }])
  const spec = { ...made.body.spec, volumeName: 'v' }
  assert.equal((await client.put(`${path}/c`, claim(spec, { status: { phase: 'Lost' } }))).body.status.phase, 'Pending')
  const status = { phase: 'Bound', accessModes: ['ReadWriteMany', 'ReadWriteOnce'], capacity: { storage: '1024Mi' } }
  const written = await client.put(`${path}/c/status`, claim({ accessModes: [] }, { status }))
  assert.deepEqual([written.status, written.body.spec], [200, spec])
  const table = await client.get(`${path}/c`, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  const cells = table.body.rows[0].cells
  assert.deepEqual(cells.toSpliced(6, 1), ['c', 'Bound', 'v', '1Gi', 'RWO,RWX', 'slow', 'Filesystem'])
  const deleted = await client.delete(`${path}/c`)
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'PersistentVolumeClaim'])
})

test('a claim status with a capacity that exceeds 64 bits is rejected', () => {
  const { object } = create(base)
  const reportedFaults = (memory: string) =>
    updateBy(persistentVolumeClaim, object, claim(base, { status: { capacity: { memory } } }), {
      subresource: 'status',
    }).faults
  assert.deepEqual(
    [reportedFaults('12345678901234567890'), reportedFaults('1Gi')],
    [['Invalid status.capacity[memory]'], []],
  )
})
