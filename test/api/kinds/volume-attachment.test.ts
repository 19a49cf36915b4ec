/** Tests VolumeAttachment: PersistentVolumes and inline volumes, status, immutable fields, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { volumeAttachment } from '../../../src/api/kinds/storage/volume-attachment.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const spec = { attacher: 'csi.example.com', nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } }
const csi = { driver: 'csi.example.com', volumeHandle: 'h' }
const inline = { accessModes: ['ReadWriteOnce'], csi }

const cases: readonly (readonly [change: JsonObject, faults: readonly string[]])[] = [
  [{}, []],
  [{ attacher: 'CSI.Example.com' }, []],
  [{ attacher: '' }, ['Invalid spec.attacher', 'Required spec.attacher']],
  [{ attacher: 'a'.repeat(64) }, ['TooLong spec.attacher']],
  [{ nodeName: '' }, ['Invalid spec.nodeName']],
  [{ source: {} }, ['Required spec.source']],
  [
    { source: { persistentVolumeName: '' } },
    [at('Invalid', 'persistentVolumeName'), at('Required', 'persistentVolumeName')],
  ],
  [{ source: { persistentVolumeName: 'PV 1' } }, [at('Invalid', 'persistentVolumeName')]],
  [{ source: { persistentVolumeName: 'pv', inlineVolumeSpec: inline } }, ['Forbidden spec.source']],
  [{ source: { inlineVolumeSpec: inline } }, []],
  [
    { source: { inlineVolumeSpec: { ...inline, volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' } } },
    [],
  ],
  [
    { source: { inlineVolumeSpec: {} } },
    ['Required spec.source.inlineVolumeSpec', ...['accessModes', 'csi'].map((name) => within('Required', name))],
  ],
  [
    { source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } } },
    [within('Required', 'csi')],
  ],
  [{ source: { inlineVolumeSpec: { ...inline, capacity: { storage: '1' } } } }, [within('Forbidden', 'capacity')]],
  [{ source: { inlineVolumeSpec: { ...inline, claimRef: { name: 'c' } } } }, [within('Forbidden', 'claimRef')]],
  [{ source: { inlineVolumeSpec: { ...inline, storageClassName: 'c' } } }, [within('Forbidden', 'storageClassName')]],
  [{ source: { inlineVolumeSpec: { ...inline, volumeMode: 'Block' } } }, [within('Forbidden', 'volumeMode')]],
  [
    { source: { inlineVolumeSpec: { ...inline, persistentVolumeReclaimPolicy: 'Delete' } } },
    [within('Forbidden', 'persistentVolumeReclaimPolicy')],
  ],
  // Validation skips the contents of forbidden fields.
  [
    { source: { inlineVolumeSpec: { ...inline, nodeAffinity: {}, persistentVolumeReclaimPolicy: 'X' } } },
    ['nodeAffinity', 'persistentVolumeReclaimPolicy'].map((name) => within('Forbidden', name)),
  ],
  [
    { source: { inlineVolumeSpec: { ...inline, storageClassName: 'A b', volumeMode: 'X', capacity: {} } } },
    ['storageClassName', 'volumeMode'].map((name) => within('Forbidden', name)),
  ],
]

test('an invalid VolumeAttachment spec is rejected', () => {
  for (const [change, faults] of cases)
    assert.deepEqual(create({ ...spec, ...change }).faults, faults, JSON.stringify(change))
  const nothing = createBy(volumeAttachment, { metadata: { name: 'a' } }).faults
  assert.deepEqual(nothing, [
    'Invalid spec.attacher',
    'Invalid spec.nodeName',
    'Required spec.attacher',
    'Required spec.source',
  ])
})

test('a new VolumeAttachment is not attached, regardless of the status that the client sends, and its spec is immutable', () => {
  const { object } = createBy(volumeAttachment, { ...attachment(spec), status: { attached: true } })
  assert.deepEqual(asJson(object).status, { attached: false })
  const update = (change: JsonObject) => updateBy(volumeAttachment, object, attachment({ ...spec, ...change }))
  assert.deepEqual(update({}).faults, [])
  assert.deepEqual(update({ nodeName: 'node-2' }).faults, ['Invalid spec'])
  const written = updateBy(volumeAttachment, object, { ...attachment(spec), status: { attached: true } })
  assert.deepEqual(asJson(written.object).status, { attached: false })
})

test('the status subresource of a VolumeAttachment changes neither spec nor metadata', () => {
  const { object } = createBy(volumeAttachment, attachment(spec, { labels: { a: 'b' } }))
  const sent = {
    ...attachment({ ...spec, nodeName: 'other' }, { labels: { c: 'd' }, annotations: { e: 'f' }, finalizers: ['g/h'] }),
    status: { attached: true, attachError: { message: 'm'.repeat(1024) } },
  }
  const written = updateBy(volumeAttachment, object, sent, { subresource: 'status' })
  assert.deepEqual(written.faults, [])
  const { metadata, ...rest } = asJson(written.object)
  assert.deepEqual(metadata, { name: 'a', labels: { a: 'b' } })
  assert.deepEqual(rest.spec, spec)
  assert.deepEqual(rest.status, { attached: true, attachError: { message: 'm'.repeat(1024), time: null } })
})

test('error messages and attachment metadata in the status of a VolumeAttachment are limited in size', () => {
  const { object } = create(spec)
  const faultsOf = (status: JsonObject) =>
    updateBy(volumeAttachment, object, { ...attachment(spec), status }, { subresource: 'status' }).faults
  assert.deepEqual(faultsOf({ attachError: { message: 'é'.repeat(513) } }), ['TooLong status.attachError.message'])
  assert.deepEqual(faultsOf({ detachError: { message: 'm'.repeat(1025) } }), ['TooLong status.detachError.message'])
  assert.deepEqual(faultsOf({ attachmentMetadata: { a: 'x'.repeat(256 * 1024) } }), [
    'TooLong status.attachmentMetadata',
  ])
  assert.deepEqual(faultsOf({ attachmentMetadata: { a: 'x'.repeat(256 * 1024 - 1) } }), [])
})

test('the VolumeAttachment table shows the volume, the node and whether the volume is attached', () => {
  const { object } = create(spec)
  assert.deepEqual(cellsOf(volumeAttachment, object).slice(0, 5), ['a', 'csi.example.com', 'pv-1', 'node-1', false])
})

function create(sent: JsonObject) {
  return createBy(volumeAttachment, attachment(sent))
}

function attachment(sent: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'storage.orch.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: 'a', ...metadata },
    spec: sent,
  }
}

function at(fault: string, name: string): string {
  return `${fault} spec.source.${name}`
}

function within(fault: string, name: string): string {
  return `${fault} spec.source.inlineVolumeSpec.${name}`
}

test('names of VolumeAttachments are validated only on creation', () => {
  const { object } = create(spec)
  const changed = (sent: JsonObject) => updateBy(volumeAttachment, object, attachment(sent)).faults
  assert.deepEqual(changed({ ...spec, attacher: 'Bad_', source: { persistentVolumeName: 'Bad_' } }), ['Invalid spec'])
  assert.deepEqual(changed({}), [
    'Invalid spec',
    'Invalid spec.nodeName',
    'Required spec.attacher',
    'Required spec.source',
  ])
  const both = { persistentVolumeName: 'Bad_', inlineVolumeSpec: { ...inline, accessModes: ['ReadWriteOncePod'] } }
  assert.deepEqual(changed({ ...spec, source: both }), ['Forbidden spec.source', 'Invalid spec'])
  assert.deepEqual(create({ ...spec, source: both }).faults, [
    'Forbidden spec.source',
    'Invalid spec.source.persistentVolumeName',
  ])
})
