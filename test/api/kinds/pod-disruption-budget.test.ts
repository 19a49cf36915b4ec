/**
 * Tests PodDisruptionBudget: validation and columns, and the meaning of empty selectors and patches in each version.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { podDisruptionBudget as kind } from '../../../src/api/kinds/policy/pod-disruption-budget.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, ruleContext, updateBy } from './rules.ts'

const zero = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
const mark = 'pdb.orch.io/deprecated-v1beta1-empty-selector-match'
const marked = (operator: string) => ({ matchExpressions: [{ key: mark, operator }] })

test('validation errors for a PodDisruptionBudget contain the field path', () => {
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    [{}, []],
    [{ minAvailable: 0, selector: {} }, []],
    [{ maxUnavailable: '100%' }, []],
    [{ minAvailable: 1, maxUnavailable: 1 }, ['Invalid spec']],
    [{ minAvailable: '101%' }, ['Invalid spec.minAvailable']],
    [{ maxUnavailable: 'many' }, ['Invalid spec.maxUnavailable']],
    [{ minAvailable: -1 }, ['Invalid spec.minAvailable']],
    [
      { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      ['Required spec.selector.matchExpressions[0].values'],
    ],
  ]
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('PodDisruptionBudget metadata is validated last on create, and together with the other fields on update', () => {
  const metadata = { name: 'p', labels: { 'a b': '' } }
  assert.deepEqual(createBy(kind, { metadata, spec: { minAvailable: -1 } }).faults, ['Invalid spec.minAvailable'])
  assert.deepEqual(createBy(kind, { metadata, spec: {} }).faults, ['Invalid metadata.labels'])
  assert.deepEqual(updateBy(kind, create({}).object, { metadata, spec: { minAvailable: -1 } }).faults, [
    'Invalid metadata.labels',
    'Invalid spec.minAvailable',
  ])
})

test('a new PodDisruptionBudget allows no disruptions, and spec changes increment the generation', () => {
  const { object } = createBy(kind, { ...objectOf({ minAvailable: 1 }), status: { disruptionsAllowed: 3 } })
  assert.deepEqual([asJson(object).status, object.metadata.generation], [zero, 1])
  const changed = updateBy(kind, object, { ...objectOf({ minAvailable: 2 }), status: { disruptionsAllowed: 9 } })
  assert.deepEqual([changed.object.status, changed.object.metadata.generation], [zero, 2])
})

test('each status field of a PodDisruptionBudget is validated, except for the counts in v1beta1', () => {
  const { object } = create({})
  const write = (status: JsonObject) =>
    updateBy(kind, object, { ...objectOf({}), status }, { subresource: 'status' }).faults
  for (const name of Object.keys(zero)) assert.deepEqual(write({ [name]: -1 }), [`Invalid status.${name}`])
  assert.deepEqual(write({ observedGeneration: -1 }), [])
  const condition = { type: 'X', status: 'True', reason: 'R', lastTransitionTime: '2020-01-01T00:00:00Z', message: '' }
  assert.deepEqual(write({ conditions: [condition] }), [])
  assert.deepEqual(write({ conditions: [condition, condition] }), ['Duplicate status.conditions[1].type'])
  assert.deepEqual(write({ conditions: [{ type: 'a b', status: 'Maybe', reason: '1 x', observedGeneration: -1 }] }), [
    'Invalid status.conditions[0].observedGeneration',
    'Invalid status.conditions[0].reason',
    'Invalid status.conditions[0].type',
    'NotSupported status.conditions[0].status',
    'Required status.conditions[0].lastTransitionTime',
  ])
  assert.deepEqual(write({ conditions: [{ ...condition, reason: '' }] }), ['Required status.conditions[0].reason'])
  const long = { ...condition, reason: 'R'.repeat(1025), message: 'm'.repeat(32 * 1024 + 1) }
  assert.deepEqual(write({ conditions: [long] }), [
    'TooLong status.conditions[0].message',
    'TooLong status.conditions[0].reason',
  ])
  const older = { ...ruleContext, subresource: 'status', through: 'policy/v1beta1' }
  const next = { ...object, status: { disruptionsAllowed: -5 } }
  assert.deepEqual(kind.rules.validateUpdate!(next, object, older), [])
})

test('the label that marks empty selectors is kept only if a PodDisruptionBudget selector has no other requirement', () => {
  const selectorOf = (selector: JsonObject) => (create({ selector }).object.spec as JsonObject).selector
  assert.deepEqual(selectorOf(marked('Exists')), marked('Exists'))
  assert.deepEqual(selectorOf(marked('DoesNotExist')), {})
  assert.deepEqual(selectorOf({ matchLabels: { [mark]: 'x', a: 'b' } }), { matchLabels: { a: 'b' } })
})

test('the PodDisruptionBudget table shows minAvailable and maxUnavailable', () => {
  assert.deepEqual(cellsOf(kind, create({ minAvailable: '10%' }).object), ['p', '10%', 'N/A', 0, '<unknown>'])
  assert.deepEqual(cellsOf(kind, create({ maxUnavailable: 0 }).object).slice(1, 3), ['N/A', '0'])
})

test('a running server enforces the rules for PodDisruptionBudgets', async (t) => {
  const client = (await serve(t)).client()
  const at = (version: string, name = '') => `/apis/policy/${version}/namespaces/default/poddisruptionbudgets${name}`
  const post = (version: string, name: string, spec: JsonObject) =>
    client.post(at(version), { metadata: { name }, spec })
  const selectorIn = async (version: string, name: string) =>
    (await client.get(at(version, `/${name}`))).body.spec.selector

  await t.test(
    'an empty selector selects all pods in v1 and no pods in v1beta1, and conversion preserves its meaning',
    async () => {
      await post('v1', 'all', { selector: {} })
      await post('v1beta1', 'none', { selector: {} })
      await post('v1beta1', 'unset', {})
      const seen = await Promise.all(
        ['all', 'none', 'unset'].flatMap((name) => [selectorIn('v1', name), selectorIn('v1beta1', name)]),
      )
      assert.deepEqual(seen, [{}, marked('DoesNotExist'), marked('Exists'), {}, undefined, undefined])
    },
  )

  await t.test('reading a PodDisruptionBudget through one version and writing it back changes nothing', async () => {
    for (const [version, name] of [
      ['v1beta1', 'all'],
      ['v1', 'none'],
    ] as const) {
      const read = await client.get(at(version, `/${name}`))
      assert.deepEqual((await client.put(at(version, `/${name}`), read.body)).body, read.body)
    }
  })

  await t.test(
    'a strategic merge patch replaces the selector of a v1 PodDisruptionBudget and merges the selector in v1beta1',
    async () => {
      await post('v1', 'p', {
        selector: { matchLabels: { a: '1' }, matchExpressions: [{ key: 'k', operator: 'Exists' }] },
      })
      const patch = (version: string, matchLabels: JsonObject) =>
        client.send(at(version, '/p'), {
          method: 'PATCH',
          body: { spec: { selector: { matchLabels } } },
          headers: { 'content-type': 'application/strategic-merge-patch+json' },
        })
      const merged = await patch('v1beta1', { b: '2' })
      assert.deepEqual(merged.body.spec.selector.matchLabels, { a: '1', b: '2' })
      assert.deepEqual((await patch('v1', { c: '3' })).body.spec.selector, { matchLabels: { c: '3' } })
    },
  )

  await t.test(
    'a PUT of a PodDisruptionBudget requires a resourceVersion, and the name may contain almost any character',
    async () => {
      const blind = await client.put(at('v1', '/p'), { metadata: { name: 'p' }, spec: {} })
      assert.deepEqual([blind.status, blind.body.details.causes[0].field], [422, 'metadata.resourceVersion'])
      assert.equal((await post('v1', 'Not A Name', {})).status, 201)
    },
  )
})

function create(spec: JsonObject) {
  return createBy(kind, objectOf(spec))
}

function objectOf(spec: JsonObject): JsonObject {
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'p' }, spec }
}
