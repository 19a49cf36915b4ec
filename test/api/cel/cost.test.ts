/** The costs of rules, estimated from a schema and counted at run time, in the units of cel-go. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BudgetExceeded } from '../../../src/api/cel/budget.ts'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { costsOf, outcomeOf } from './evaluate-rule.ts'

const text = (maxLength?: number): JsonObject => ({ type: 'string', ...(maxLength !== undefined && { maxLength }) })
const listOf = (items: JsonObject, maxItems?: number): JsonObject => ({
  type: 'array',
  items,
  ...(maxItems !== undefined && { maxItems }),
})
const integer = { type: 'integer' }

describe('estimated rule costs', () => {
  const rows: { readonly [rule: string]: readonly [JsonObject, number] } = {
    // A name, a field and a comparison each cost one. A constant costs nothing.
    'self > 1': [integer, 2],
    'self.a > 1 && self.a < 5': [{ type: 'object', properties: { a: integer } }, 6],
    'has(self.a)': [{ type: 'object', properties: { a: integer } }, 1],
    // A character may take four bytes.
    'self == "abc"': [text(100), 2],
    'self == oldSelf': [text(100), 42],
    'self.startsWith("abcdefghijk")': [text(), 3],
    'self.contains("abcdefghijk")': [text(100), 1 + 40 * 2],
    'self.matches("^[a-z]+$")': [text(100), 1 + 41 * 2],
    'self in ["a", "b"]': [text(10), 1 + 10 + 2],
    // Each iteration of a loop: the condition, the result so far, and the rule.
    'self.all(x, x > 1)': [listOf(integer, 10), 1 + 1 + 10 * 5],
    'self.exists(x, x > 1)': [listOf(integer, 10), 1 + 1 + 10 * 6],
    'self.all(x, self.all(y, x != y))': [listOf(integer, 10), 1 + 1 + 10 * (3 + 1 + 1 + 10 * (3 + 2))],
    'self.map(x, x + 1).size() == 1': [listOf(integer, 10), 1 + 11 + 10 * (12 + 2) + 2],
    'size(self) < 5': [text(), 3],
  }
  for (const [rule, [schema, cost]] of Object.entries(rows)) {
    test(rule, () =>
      assert.equal(costsOf(rule, { schema, self: sample(schema), oldSelf: sample(schema) }).estimated, cost),
    )
  }

  test('an unbounded list counts as the largest list that fits into a request', () => {
    const schema = listOf(text())
    assert.equal(costsOf('self.all(x, x == "a")', { schema, self: [] }).estimated, 2 + 5 * Math.floor(3_145_726 / 3))
  })
})

function sample({ type }: JsonObject) {
  return type === 'array' ? [] : type === 'object' ? { a: 1 } : type === 'integer' ? 1 : 'x'
}

describe('actual rule costs', () => {
  test('the actual cost of a rule depends on the values', () => {
    const schema = listOf(integer)
    assert.equal(costsOf('self.all(x, x > 0)', { schema, self: [1, 2, 3] }).actual, 1 + 1 + 3 * 5)
    // The first deciding element ends the loop.
    assert.equal(costsOf('self.exists(x, x > 0)', { schema, self: [1, 2, 3] }).actual, 1 + 1 + 6)
    assert.equal(costsOf('self.matches("^[a-z]+$")', { schema: text(), self: 'a'.repeat(99) }).actual, 1 + 10 * 2)
  })

  test('a rule that exceeds the cost limit is aborted', () => {
    const data = { schema: listOf(integer), self: Array.from({ length: 100 }, (_, i) => i), limit: 400 }
    assert.throws(() => outcomeOf('self.all(x, x >= 0)', data), BudgetExceeded)
    assert.equal(outcomeOf('self.all(x, x >= 0)', { ...data, limit: 600 }), true)
  })
})
