/** Tests DaemonSet: defaults, validation, table columns, immutable fields and the deprecated template generation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { daemonSet } from '../../../src/api/kinds/apps/daemon-set.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { noControls } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'
import { badTemplates, podsOf, selecting } from './pods-of.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const key = 'deprecated.daemonset.template.generation'
const none = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }

test('unset fields of a DaemonSet are set to their defaults', () => {
  const { object, faults } = create({})
  const { template: _t, selector: _s, ...rest } = asJson(object).spec as JsonObject
  assert.deepEqual(faults, [])
  assert.deepEqual(rest, {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  })
  assert.deepEqual([asJson(object).status, object.metadata.annotations], [none, { [key]: '1' }])
  const strategyOf = (updateStrategy: JsonObject) =>
    (create({ updateStrategy }).object.spec as JsonObject).updateStrategy
  assert.deepEqual(strategyOf({ type: 'OnDelete' }), { type: 'OnDelete' })
  assert.deepEqual(strategyOf({ type: 'OnDelete', rollingUpdate: {} }), {
    type: 'OnDelete',
    rollingUpdate: { maxUnavailable: 0, maxSurge: 0 },
  })
})

test('validation errors for a DaemonSet contain the field path', () => {
  const at = 'spec.updateStrategy.rollingUpdate'
  const rolling = (rollingUpdate: JsonObject) => ({ updateStrategy: { rollingUpdate } })
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    ...badTemplates,
    [{ selector: null }, ['Invalid spec.template.metadata.labels']],
    [
      { minReadySeconds: -1, revisionHistoryLimit: -1 },
      ['Invalid spec.minReadySeconds', 'Invalid spec.revisionHistoryLimit'],
    ],
    [{ updateStrategy: { type: 'Recreate' } }, ['NotSupported spec.updateStrategy']],
    [rolling({ maxUnavailable: '100%' }), []],
    [rolling({ maxUnavailable: 0, maxSurge: '100%' }), []],
    [rolling({ maxUnavailable: '101%' }), [`Invalid ${at}.maxUnavailable`]],
    [rolling({ maxUnavailable: 0, maxSurge: '101%' }), [`Invalid ${at}.maxSurge`]],
    [rolling({ maxUnavailable: '0%' }), [`Required ${at}.maxUnavailable`]],
    [rolling({ maxUnavailable: 'one' }), [`Invalid ${at}.maxUnavailable`, `Required ${at}.maxUnavailable`]],
    [rolling({ maxUnavailable: 1, maxSurge: 1 }), [`Invalid ${at}.maxSurge`]],
    [
      { template: podsOf({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd' } }] }) },
      ['Invalid spec.template.spec.volumes[0].gcePersistentDisk.readOnly'],
    ],
  ]
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('the server increments the template generation when the template of a DaemonSet changes', () => {
  const { object } = create({})
  const update = (spec: JsonObject, annotations: JsonObject = {}, subresource = '') =>
    updateBy(daemonSet, object, { ...objectOf(spec), metadata: { name: 'd', annotations } }, { subresource }).object
      .metadata
  assert.deepEqual([update({}).generation, update({}).annotations], [1, { [key]: '1' }])
  assert.deepEqual(update({}, { [key]: '7' }).annotations, { [key]: '1' })
  assert.deepEqual(update({ minReadySeconds: 1 }).annotations, { [key]: '1' })
  const changed = update({ template: podsOf({ hostPID: true }) }, { a: 'b' })
  assert.deepEqual([changed.generation, changed.annotations], [2, { a: 'b', [key]: '2' }])
  assert.deepEqual(update({}, {}, 'status').annotations, { [key]: '1' })
  assert.deepEqual(create({}, { [key]: '5' }).object.metadata.annotations, { [key]: '5' })
  for (const text of ['x', '1.5', '', '9'.repeat(25)])
    assert.throws(() => create({}, { [key]: text }), { code: 400 }, text)
})

test('the selector of a DaemonSet is immutable', () => {
  const template = podsOf({}, { labels: { app: 'a', b: 'c' } })
  const other = objectOf({ template, selector: { matchLabels: { b: 'c' } } })
  assert.deepEqual(updateBy(daemonSet, create({}).object, other).faults, ['Invalid spec.selector'])
})

test('a status update of a DaemonSet does not change the spec, and negative counts are rejected', () => {
  const { object } = create({})
  const write = (status: JsonObject, previous = object) =>
    updateBy(daemonSet, previous, { ...objectOf({ minReadySeconds: 4 }), status }, { subresource: 'status' })
  const written = write({ numberReady: 9, collisionCount: 1 })
  assert.deepEqual([written.faults, written.object.spec], [[], object.spec])
  const names = Object.keys(none).concat(
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'observedGeneration',
  )
  for (const name of names) assert.deepEqual(write({ [name]: -1 }).faults, [`Invalid status.${name}`])
  assert.deepEqual(write({ collisionCount: 0 }, written.object).faults, ['Invalid status.collisionCount'])
})

test('the DaemonSet table shows the number of nodes in each state', () => {
  const { object } = create({ template: podsOf({ nodeSelector: { b: '2', a: '1' } }) })
  object.status = { desiredNumberScheduled: 4, currentNumberScheduled: 3, numberReady: 2, updatedNumberScheduled: 3 }
  assert.deepEqual(cellsOf(daemonSet, object), ['d', 4, 3, 2, 3, 0, 'a=1,b=2', '<unknown>', 'c', 'img:1', 'app=a'])
  assert.equal(cellsOf(daemonSet, create({}).object)[6], '<none>')
})

test('rows in the DaemonSet table contain all annotations except the template generation', async (t) => {
  const client = (await serve(t, [noControls])).client()
  const path = '/apis/apps/v1/namespaces/default/daemonsets'
  for (const annotations of [{ a: 'b' }, undefined]) {
    const name = annotations === undefined ? 'bare' : 'd'
    const made = await client.post(path, { ...objectOf({}), metadata: { name, annotations } })
    assert.deepEqual(made.body.metadata.annotations, { ...annotations, [key]: '1' })
    const accept = { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' }
    const [row] = (await client.get(`${path}/${name}`, accept)).body.rows
    assert.deepEqual(row.object.metadata.annotations, annotations)
    const [whole] = (await client.get(`${path}/${name}?includeObject=Object`, accept)).body.rows
    assert.deepEqual(whole.object, made.body)
  }
})

function create(spec: JsonObject, annotations: JsonObject = {}) {
  return createBy(daemonSet, { ...objectOf(spec), metadata: { name: 'd', annotations } })
}

function objectOf(spec: JsonObject): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'd' }, spec: selecting(spec) }
}
