/**
 * Tests the estimated and actual costs of rules, in the same units as in cel-go. The estimate is computed from a
 * schema, and the actual cost is counted during evaluation.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BudgetExceeded } from '../../../src/api/cel/budget.ts'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { costsOf, estimateOf, outcomeOf } from './evaluate-rule.ts'

const text = (maxLength?: number): JsonObject => ({ type: 'string', ...(maxLength !== undefined && { maxLength }) })
const listOf = (items: JsonObject, maxItems?: number): JsonObject => ({
  type: 'array',
  items,
  ...(maxItems !== undefined && { maxItems }),
})
const integer = { type: 'integer' }

describe('estimated rule costs', () => {
  const rows: { readonly [rule: string]: readonly [JsonObject, number] } = {
    // A name, a field selection and a comparison cost one unit each. A constant costs nothing.
    'self > 1': [integer, 2],
    'self.a > 1 && self.a < 5': [{ type: 'object', properties: { a: integer } }, 6],
    'has(self.a)': [{ type: 'object', properties: { a: integer } }, 1],
    // The estimate assumes four bytes per character.
    'self == "abc"': [text(100), 2],
    'self == oldSelf': [text(100), 42],
    'self.startsWith("abcdefghijk")': [text(), 3],
    'self.contains("abcdefghijk")': [text(100), 1 + 40 * 2],
    'self.matches("^[a-z]+$")': [text(100), 1 + 41 * 2],
    'self in ["a", "b"]': [text(10), 1 + 10 + 2],
    // The cost of an iteration includes evaluating the condition, reading the accumulated result, and combining the
    // two.
    'self.all(x, x > 1)': [listOf(integer, 10), 1 + 1 + 10 * 5],
    'self.exists(x, x > 1)': [listOf(integer, 10), 1 + 1 + 10 * 6],
    'self.all(x, self.all(y, x != y))': [listOf(integer, 10), 1 + 1 + 10 * (3 + 1 + 1 + 10 * (3 + 2))],
    'self.map(x, x + 1).size() == 1': [listOf(integer, 10), 1 + 11 + 10 * (12 + 2) + 2],
    'size(self) < 5': [text(), 3],
    // The estimate assumes that each element of a computed list is as large as the validated value, which is an object
    // here.
    '["a"].exists(x, self.s.contains(x))': [{ type: 'object', properties: { s: text(100) } }, 10 + 1 + 4 + 3],
    'self.map(x, x + "a").all(y, y == "b")': [listOf(text(5), 3), 1 + 11 + 3 * (12 + 1 + 3) + 1 + 3 * (3 + 1 + 1)],
    'self.all(k, v, k < v)': [listOf(integer, 10), 1 + 1 + 10 * (3 + 3)],
    'self.transformMap(i, v, v).size() == 1': [listOf(integer, 10), 1 + 31 + 10 * (3 + 1) + 2],
    'self.transformMapEntry(i, v, {v: i}).size() == 1': [listOf(integer, 10), 1 + 31 + 10 * (2 + 32) + 2],
    // The cost counts the optional value twice, because it is evaluated twice.
    'self.?s.optMap(s, 1).hasValue()': [{ type: 'object', properties: { s: text() } }, 2 * 2 + 13 + 1],
    'self.?s.optFlatMap(s, self.?s).hasValue()': [{ type: 'object', properties: { s: text() } }, 2 * 2 + 12 + 2 + 1],
    'self.distinct().size() == 1': [listOf(integer, 10), 1 + 200 + 11 + 2],
    'self.sort().size() == 1': [listOf(text(5), 10), 1 + 210 + 11 + 2],
    'self.sortBy(x, -x).size() == 1': [listOf(integer, 10), 1 + 23 + 10 * (12 + 2) + 200 + 11 + 2],
    'self.reverse().size() == 1': [listOf(integer, 10), 1 + 10 + 11 + 2],
    'self.slice(1, 3).size() == 1': [listOf(integer, 10), 1 + 2 + 11 + 2],
    'lists.range(5).size() == self': [integer, 5 + 11 + 1 + 1],
    'self.flatten().size() == 1': [listOf(listOf(integer, 4), 10), 1 + 10 + 11 + 2],
    'sets.contains(self, [1, 2])': [listOf(integer, 10), 1 + 10 + 20 + 1],
    'sets.equivalent(self, [1, 2])': [listOf(integer, 10), 1 + 10 + 40 + 1],
    'self.isSorted()': [listOf(text(5), 10), 1 + 10 * 3],
    'self.split(",", 2).size() == 1': [text(100), 1 + 80 + 2],
    // The cost does not depend on the length of the text.
    'isIP(self) || isURL(self) || isQuantity(self) || isSemver(self)': [text(), 8],
    'ip(self) == ip("::1")': [text(), 2 + 1 + 1],
    'cidr(self).containsIP("::1")': [text(), 2 + 4 + 1],
    'cidr(self).containsCIDR(cidr("::/1"))': [text(), 2 + 1 + 4 + 2 + 1],
    'format.uuid().validate(self).hasValue()': [text(100), 1 + 1 + 40 * 32 + 1],
    'strings.quote(self).size() < 9': [text(100), 1 + 40 + 1 + 1],
  }
  for (const [rule, [schema, cost]] of Object.entries(rows)) {
    test(rule, () =>
      assert.equal(costsOf(rule, { schema, self: sample(schema), oldSelf: sample(schema) }).estimated, cost),
    )
  }

  const byVersion: readonly (readonly [string, JsonObject, version: number, number])[] = [
    ['self.map(x, x).all(y, true)', listOf(integer, 2), 29, Number.POSITIVE_INFINITY],
    ['self.map(x, x).all(y, true)', listOf(integer, 2), 30, 1 + 11 + 2 * 13 + 1 + 2 * 3],
    ['ip(self) == ip("::1")', text(), 31, Number.POSITIVE_INFINITY],
    ['ip(self) == ip("::1")', text(), 32, 4],
    ['ip(self) != ip("::1")', text(), 36, Number.POSITIVE_INFINITY],
  ]
  for (const [rule, schema, costVersion, cost] of byVersion)
    test(`${rule} in 1.${costVersion}`, () => assert.equal(estimateOf(rule, { schema, costVersion }), cost))

  test('the cost estimate for an unbounded list assumes the longest list that fits into a request', () => {
    const schema = listOf(text())
    assert.equal(costsOf('self.all(x, x == "a")', { schema, self: [] }).estimated, 2 + 5 * Math.floor(3_145_726 / 3))
  })
})

function sample({ type }: JsonObject) {
  return type === 'array' ? [] : type === 'object' ? { a: 1 } : type === 'integer' ? 1 : 'x'
}

describe('actual rule costs', () => {
  test('the actual cost of a rule depends on the values that it evaluates', () => {
    const schema = listOf(integer)
    assert.equal(costsOf('self.all(x, x > 0)', { schema, self: [1, 2, 3] }).actual, 1 + 1 + 3 * 5)
    assert.equal(costsOf('self.sum() > 0', { schema, self: [1, 2, 3] }).actual, 1 + 3 + 1)
    assert.equal(costsOf('self.distinct().size() > 0', { schema, self: [1, 2, 3] }).actual, 1 + 18 + 11 + 1 + 1)
    const words = listOf(text())
    assert.equal(costsOf('self.isSorted()', { schema: words, self: ['a'.repeat(19), 'b'] }).actual, 1 + 1)
    assert.equal(
      costsOf('cidr(self).containsIP("10.0.0.1")', { schema: text(), self: '10.0.0.0/8' }).actual,
      1 + 1 + 1 + 1,
    )
    // The cost of comparing two strings depends on the number of characters in the shorter string.
    const texts: readonly (readonly [string, string])[] = [
      ['a'.repeat(25), 'b'.repeat(400)],
      ['😀'.repeat(25), 'b'.repeat(40)],
      ['😀'.repeat(400), 'b'.repeat(25)],
    ]
    for (const [self, other] of texts)
      assert.equal(costsOf(`self == "${other}"`, { schema: text(), self }).actual, 1 + 3)
    // The loop ends at the first element that determines its result.
    assert.equal(costsOf('self.exists(x, x > 0)', { schema, self: [1, 2, 3] }).actual, 1 + 1 + 6)
    assert.equal(costsOf('self.matches("^[a-z]+$")', { schema: text(), self: 'a'.repeat(99) }).actual, 1 + 10 * 2)
  })

  test('a rule that exceeds the cost limit is aborted', () => {
    const data = { schema: listOf(integer), self: Array.from({ length: 100 }, (_, i) => i), limit: 400 }
    assert.throws(() => outcomeOf('self.all(x, x >= 0)', data), BudgetExceeded)
    assert.equal(outcomeOf('self.all(x, x >= 0)', { ...data, limit: 600 }), true)
  })
})
