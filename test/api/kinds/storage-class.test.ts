/** Tests StorageClass: defaults, validation, immutable fields, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { storageClass } from '../../../src/api/kinds/storage/storage-class.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const provisioner = 'example.com/disks'

test('unset fields of a StorageClass are set to their defaults', () => {
  const { object, faults } = create({})
  assert.deepEqual(faults, [])
  const { reclaimPolicy, volumeBindingMode } = asJson(object)
  assert.deepEqual([reclaimPolicy, volumeBindingMode], ['Delete', 'Immediate'])
})

const term = (...matchLabelExpressions: JsonObject[]) => ({ matchLabelExpressions })
const zone = (...values: string[]) => ({ key: 'zone', values })

const cases: readonly (readonly [sent: JsonObject, faults: readonly string[]])[] = [
  [{ provisioner: '' }, ['Required provisioner']],
  [{ provisioner: 'a b' }, ['Invalid provisioner']],
  [{ provisioner: 'Upper.CASE/x' }, []],
  [{ provisioner: `e.com/${'p'.repeat(64)}` }, ['Invalid provisioner']],
  [{ reclaimPolicy: '' }, []],
  [{ reclaimPolicy: 'Recycle' }, ['NotSupported reclaimPolicy']],
  [{ volumeBindingMode: '' }, ['NotSupported volumeBindingMode']],
  [{ parameters: { '': 'x' } }, ['Invalid parameters']],
  [{ parameters: many(512) }, []],
  [{ parameters: many(513) }, ['TooLong parameters']],
  [{ parameters: { ...many(512), '': 'x' } }, ['TooLong parameters']],
  [{ parameters: { a: 'é'.repeat(128 * 1024) } }, ['TooLong parameters']],
  [{ allowedTopologies: [term(zone('a')), term(zone('b'))] }, []],
  [{ allowedTopologies: [term(zone('a', 'b')), term(zone('b', 'a'))] }, [dup('[1].matchLabelExpressions')]],
  [{ allowedTopologies: [{}] }, [dup('[0].matchLabelExpressions')]],
  [{ allowedTopologies: [term(zone('a'), zone('b'))] }, [dup('[0].matchLabelExpressions[1].key')]],
  [{ allowedTopologies: [term(zone('a', 'a'))] }, [dup('[0].matchLabelExpressions[0].values[1]')]],
  [{ allowedTopologies: [term(zone())] }, ['Required allowedTopologies[0].matchLabelExpressions[0].values']],
  [{ allowedTopologies: [term({ values: ['a'] })] }, ['Invalid allowedTopologies[0].matchLabelExpressions[0].key']],
  [
    { provisioner: '', reclaimPolicy: 'x', volumeBindingMode: 'x' },
    ['NotSupported reclaimPolicy', 'NotSupported volumeBindingMode', 'Required provisioner'],
  ],
]

test('all errors in an invalid StorageClass are reported at once', () => {
  for (const [sent, faults] of cases) assert.deepEqual(create(sent).faults, faults, JSON.stringify(sent).slice(0, 200))
})

test('the provisioning settings of a StorageClass are immutable, and all other fields are mutable', () => {
  const previous = create({ parameters: { a: '1' }, reclaimPolicy: 'Retain' }).object
  const faultsOf = (change: JsonObject) =>
    updateBy(storageClass, previous, classOf({ parameters: { a: '1' }, reclaimPolicy: 'Retain', ...change })).faults
  assert.deepEqual(
    faultsOf({ mountOptions: ['x'], allowVolumeExpansion: true, allowedTopologies: [term(zone('a'))] }),
    [],
  )
  assert.deepEqual(faultsOf({ parameters: {} }), ['Forbidden parameters'])
  assert.deepEqual(faultsOf({ provisioner: 'other' }), ['Forbidden provisioner'])
  assert.deepEqual(faultsOf({ reclaimPolicy: 'Delete' }), ['Forbidden reclaimPolicy'])
  assert.deepEqual(faultsOf({ volumeBindingMode: 'WaitForFirstConsumer' }), ['Invalid volumeBindingMode'])
})

test('the StorageClass table marks the default class', () => {
  const shown = (annotations: JsonObject) => {
    const { object } = createBy(storageClass, {
      ...classOf({ allowVolumeExpansion: true }),
      metadata: { name: 'c', annotations },
    })
    return cellsOf(storageClass, object).slice(0, 5)
  }
  const rest = [provisioner, 'Delete', 'Immediate', true]
  assert.deepEqual(shown({}), ['c', ...rest])
  assert.deepEqual(shown({ 'storageclass.orch.io/is-default-class': 'true' }), ['c (default)', ...rest])
  assert.deepEqual(shown({ 'storageclass.beta.orch.io/is-default-class': 'true' }), ['c (default)', ...rest])
  assert.deepEqual(shown({ 'storageclass.orch.io/is-default-class': 'yes' }), ['c', ...rest])
})

function create(sent: JsonObject) {
  return createBy(storageClass, classOf(sent))
}

function classOf(sent: JsonObject): JsonObject {
  return { apiVersion: 'storage.orch.io/v1', kind: 'StorageClass', metadata: { name: 'c' }, provisioner, ...sent }
}

function many(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, '']))
}

function dup(place: string): string {
  return `Duplicate allowedTopologies${place}`
}
