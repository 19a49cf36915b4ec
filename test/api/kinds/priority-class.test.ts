/** Tests PriorityClass: validation of values and names, immutable fields, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { priorityClass, systemPriorityClasses } from '../../../src/api/kinds/scheduling/priority-class.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

test('a PriorityClass with an invalid value, name or preemption policy is rejected', () => {
  const cases: readonly (readonly [name: string, sent: JsonObject, faults: readonly string[]])[] = [
    ['a', {}, []],
    ['a', { value: -(2 ** 31) }, []],
    ['a', { value: 1_000_000_000, globalDefault: true, description: 'd'.repeat(5000) }, []],
    ['a', { value: 1_000_000_001 }, ['Forbidden value']],
    ['systemx', { value: 1 }, []],
    ['system-x', { value: 1 }, ['Forbidden metadata.name']],
    ['system-x', { value: 2_000_000_001 }, ['Forbidden metadata.name']],
    ['system-node-critical', { value: 5 }, ['Forbidden metadata.name']],
    ['system-node-critical', { value: 2_000_001_000, globalDefault: true }, ['Forbidden metadata.name']],
    ['a', { preemptionPolicy: '' }, ['Required preemptionPolicy']],
    ['a', { preemptionPolicy: 'never' }, ['NotSupported preemptionPolicy']],
    ['a', { value: 2e9, preemptionPolicy: 'X' }, ['Forbidden value', 'NotSupported preemptionPolicy']],
  ]
  for (const [name, sent, faults] of cases) assert.deepEqual(create(sent, name).faults, faults, JSON.stringify(sent))
})

test('the built-in PriorityClasses pass validation', () => {
  for (const { name, value, description } of systemPriorityClasses)
    assert.deepEqual(create({ value, description }, name).faults, [])
})

test('the built-in PriorityClasses exist and cannot be deleted', async (t) => {
  const client = (await serve(t)).client()
  const home = '/apis/scheduling.orch.io/v1/priorityclasses'
  for (const { name, value } of systemPriorityClasses) {
    assert.equal((await client.delete(`${home}/${name}?dryRun=All`)).status, 403)
    const refused = await client.delete(`${home}/${name}`)
    assert.deepEqual([refused.status, refused.body.reason, refused.body.details.name], [403, 'Forbidden', name])
    assert.equal((await client.get(`${home}/${name}`)).body.value, value)
  }
  assert.equal((await client.delete(home)).status, 403)
  assert.equal((await client.get(home)).body.items.length, systemPriorityClasses.length)
})

test('unset fields of a PriorityClass are set to their defaults, and the value and the preemption policy are immutable', () => {
  const { object } = create({})
  const { value, preemptionPolicy, metadata } = asJson(object)
  assert.deepEqual([value, preemptionPolicy, metadata], [0, 'PreemptLowerPriority', { name: 'a', generation: 1 }])
  const faultsOf = (sent: JsonObject) => updateBy(priorityClass, object, classOf(sent)).faults
  assert.deepEqual(faultsOf({ description: 'new', globalDefault: true }), [])
  assert.deepEqual(faultsOf({ value: 1 }), ['Forbidden value'])
  assert.deepEqual(faultsOf({ preemptionPolicy: 'Never' }), ['Invalid preemptionPolicy'])
})

test('an update of a PriorityClass validates only changed fields', () => {
  const { object } = create({ value: 1 })
  const { faults } = updateBy(priorityClass, object, { metadata: { name: 'a' }, value: 2e9, preemptionPolicy: 'X' })
  assert.deepEqual(faults, ['Forbidden value', 'Invalid preemptionPolicy'])
})

test('the PriorityClass table shows the value and whether the class is the global default', () => {
  assert.deepEqual(cellsOf(priorityClass, create({ value: -5 }).object).slice(0, 3), ['a', -5, false])
  assert.deepEqual(cellsOf(priorityClass, create({ globalDefault: true }).object).slice(0, 3), ['a', 0, true])
})

function create(sent: JsonObject, name = 'a') {
  return createBy(priorityClass, classOf(sent, name))
}

function classOf(sent: JsonObject, name = 'a'): JsonObject {
  return { apiVersion: 'scheduling.orch.io/v1', kind: 'PriorityClass', metadata: { name }, ...sent }
}
