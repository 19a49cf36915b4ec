/** Tests that JSONPaths and templates are rejected if their evaluation would never end or would overflow the stack. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allValues, firstValue, VisitBudget } from '../../../src/api/jsonpath/evaluate.ts'
import { parsePath, parseTemplate, valuesAt } from '../../../src/api/jsonpath/templates.ts'
import { UsageError } from '../../../src/base/flags/flags.ts'

const wide = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, { a: [1, 2, { b: i }] }]))
const rules = {
  children: (value: unknown) => (typeof value === 'object' && value !== null ? Object.values(value) : []),
  candidates: () => [],
  slice: () => [],
  compare: () => false,
}

test('evaluating a JSONPath visits no more values than the budget allows', () => {
  const path = parsePath(`${'..*'.repeat(20)}..nothing`)
  let failures = 0
  const budget = new VisitBudget(1000, () => {
    failures++
    return new UsageError('too many')
  })
  assert.throws(() => allValues(path, wide, { top: wide, rules, budget }), UsageError)
  assert.equal(failures, 1)
})

test('looking up the first JSONPath match does not visit the remaining values', () => {
  const budget = new VisitBudget(20, () => new UsageError('too many'))
  assert.equal(firstValue(parsePath('..b'), wide, { top: wide, rules, budget }), 0)
})

test('JSONPaths and templates that are nested too deeply are rejected', () => {
  const nestedFilters = (count: number) => `${'[?(@'.repeat(count)}.a${')]'.repeat(count)}`
  assert.deepEqual(valuesAt(parsePath(nestedFilters(100)), {}), [])
  assert.throws(() => parsePath(nestedFilters(101)), /more than 100 nested filters/)
  assert.throws(() => parsePath('.a'.repeat(1001)), /more than 1000 steps/)
  const nestedRanges = (count: number) => `${'{range .a}'.repeat(count)}${'{end}'.repeat(count)}`
  assert.equal(parseTemplate(nestedRanges(100)).length, 1)
  for (const count of [101, 50_000])
    assert.throws(() => parseTemplate(nestedRanges(count)), /more than 100 nested ranges/)
})
