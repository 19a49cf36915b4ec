/** Tests RuntimeClass: validation, the immutable handler, v1beta1, and table columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { runtimeClass } from '../../../src/api/kinds/node/runtime-class.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const first = 'scheduling.tolerations.tolerations[0]'
const exists = { key: 'k', operator: 'Exists' }

function lasting(tolerationSeconds: number): JsonObject {
  return { ...exists, effect: 'NoExecute', tolerationSeconds }
}

const cases: readonly (readonly [sent: JsonObject, faults: readonly string[]])[] = [
  [{}, []],
  [{ overhead: {}, scheduling: {} }, []],
  [{ handler: '' }, ['Invalid handler']],
  [{ handler: 'a.b' }, ['Invalid handler']],
  [{ handler: 'a'.repeat(64) }, ['Invalid handler']],
  [{ overhead: { podFixed: { cpu: '250m', 'example.com/gpu': '1' } } }, []],
  [{ overhead: { podFixed: { foo: '1' } } }, ['Invalid overhead.limits[foo]']],
  [{ overhead: { podFixed: { memory: '-1' } } }, ['Invalid overhead.limits[memory]']],
  [{ overhead: { podFixed: { 'example.com/gpu': '500m' } } }, ['Invalid overhead.limits[example.com/gpu]']],
  [{ overhead: { podFixed: { 'hugepages-2Mi': '4Mi' } } }, ['Forbidden overhead']],
  [{ scheduling: { nodeSelector: { 'a b': 'c' } } }, ['Invalid scheduling.nodeSelector']],
  [{ scheduling: { tolerations: [{ key: 'k', value: 'v' }] } }, []],
  [{ scheduling: { tolerations: [exists, exists] } }, ['Duplicate scheduling.tolerations[1]']],
  [
    { scheduling: { tolerations: [lasting(5), lasting(10), { ...lasting(5), effect: 'NoSchedule' }] } },
    ['Duplicate scheduling.tolerations[1]', 'Invalid scheduling.tolerations.tolerations[2].effect'],
  ],
  [{ metadata: { name: 'a', finalizers: ['plain'] } }, []],
  [{ scheduling: { tolerations: [{ ...exists, value: 'v' }] } }, [`Invalid ${first}.operator`]],
  [{ scheduling: { tolerations: [{ ...exists, effect: 'X' }] } }, [`NotSupported ${first}.effect`]],
  [
    { scheduling: { tolerations: [{ ...exists, effect: 'NoSchedule', tolerationSeconds: 5 }] } },
    [`Invalid ${first}.effect`],
  ],
  [
    { scheduling: { nodeSelector: { 'a b': 'c' }, tolerations: [{ key: 'k', operator: 'Z' }] } },
    ['Invalid scheduling.nodeSelector', `NotSupported ${first}.operator`],
  ],
]

test('invalid RuntimeClasses are rejected', () => {
  for (const [sent, faults] of cases) assert.deepEqual(create(sent).faults, faults, JSON.stringify(sent))
})

test('the handler of a RuntimeClass is immutable, and the overhead is rounded up to thousandths', () => {
  const { object } = create({ overhead: { podFixed: { cpu: '0.0001' } } })
  assert.deepEqual(asJson(object).overhead, { podFixed: { cpu: '1m' } })
  const faultsOf = (sent: JsonObject) => updateBy(runtimeClass, object, classOf(sent)).faults
  assert.deepEqual(faultsOf({ scheduling: { tolerations: [exists] } }), [])
  assert.deepEqual(faultsOf({ handler: 'other' }), ['Invalid handler'])
})

test('the table shows the handler of a RuntimeClass', () => {
  assert.deepEqual(cellsOf(runtimeClass, create({}).object).slice(0, 2), ['a', 'runc'])
})

function create(sent: JsonObject) {
  return createBy(runtimeClass, classOf(sent))
}

function classOf(sent: JsonObject): JsonObject {
  return { apiVersion: 'node.orch.io/v1', kind: 'RuntimeClass', metadata: { name: 'a' }, handler: 'runc', ...sent }
}
