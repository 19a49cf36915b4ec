/** Tests rules that are designed to block the server. Each rule is rejected, evaluated quickly or soon aborted. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Budget, BudgetExceeded } from '../../../src/api/cel/budget.ts'
import { lengthOf } from '../../../src/api/cel/compare.ts'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { threadMicroseconds } from '../../../src/base/concurrency/thread-time.ts'
import { TimeSlice } from '../../../src/base/concurrency/time-slice.ts'
import { assertBrief, assertCheap } from '../../support/effort.ts'
import { compileForJsonSliced, type Data, outcomeOf } from './evaluate-rule.ts'

const texts: JsonObject = { type: 'array', items: { type: 'string' } }
const text: JsonObject = { type: 'string' }

describe('compilation of hostile rules', () => {
  const refused: { readonly [title: string]: readonly [string, RegExp] } = {
    'too long': [`"${'a'.repeat(100_001)}" == ""`, /expression code point size exceeds limit/],
    'nested in brackets': [`${'('.repeat(50_000)}true${')'.repeat(49_000)}`, /recursion limit exceeded/],
    'nested in lists': [`${'['.repeat(30_000)}`, /recursion limit exceeded/],
    'nested in conditions': [`${'true ? true : '.repeat(7000)}true`, /recursion limit exceeded/],
    'a long chain of sums': [`${'1+'.repeat(49_000)}1 == 1`, /nested too deeply/],
    'a long chain of fields': [`self${'.a'.repeat(49_000)} == 1`, /nested too deeply/],
    'a long chain of indexes': [`self${'[0]'.repeat(30_000)} == 1`, /nested too deeply/],
    'many unknown names': [Array.from({ length: 3000 }, (_, i) => `name${i}`).join('||'), /undeclared reference/],
    'many parts': [Array.from({ length: 12_000 }, () => '1 == 1').join('&&'), /too many parts/],
    'a pattern that is huge when compiled': ['"a".matches("((a{100}){100}){100}")', /too large/],
    'a property name from a prototype': [
      '__proto__ == 1 && self.__proto__ == 1',
      /undeclared reference to '__proto__'/,
    ],
    'a prototype function': ['constructor(1)', /undeclared reference to 'constructor'/],
  }
  for (const [title, [rule, why]] of Object.entries(refused)) {
    test(title, async () => {
      await assertCheap(500, () => assert.match(String(outcomeOf(rule)), why))
    })
  }

  test('a rule with a long chain of logical operators compiles quickly', async () => {
    const rule = Array.from({ length: 2400 }, () => '1 == 1').join('&&')
    await assertCheap(500, () => assert.equal(outcomeOf(rule), true))
  })
  test('a repeated pattern is compiled only once, and compiling many patterns yields to other tasks', async () => {
    const same = Array.from({ length: 1500 }, () => '"a".matches("a{50}")').join('&&')
    await assertCheap(120, () => assert.equal(outcomeOf(same), false))
    const others = Array.from({ length: 1000 }, (_, i) => `"a".matches("${i}{90}")`).join('||')
    await assertBrief(50, async () =>
      assert.equal((await new TimeSlice().run(compileForJsonSliced(others))).outcome, 'program'),
    )
  })
  test('the compiler yields to other tasks before it parses a rule', () => {
    assert.deepEqual(compileForJsonSliced('(').next(), { done: false, value: undefined })
  })
  test('a rule with 50,000 unary operators is accepted', () => {
    assert.equal(outcomeOf(`${'!'.repeat(50_000)}true`), true)
  })
})

describe('evaluation of hostile rules', () => {
  const ends = (title: string, rule: string, data: Data = {}) => {
    test(title, async () => {
      await assertCheap(150, () => assert.throws(() => outcomeOf(rule, data), BudgetExceeded))
    })
  }
  const many = Array.from({ length: 2000 }, (_, i) => `${i}`)
  const large = 'a'.repeat(3_000_000)
  ends('loops in loops', 'self.all(a, self.all(b, self.all(c, a + b + c != "")))', { schema: texts, self: many })
  ends('strings that grow', `self${'.map(x, x + x)'.repeat(24)} == []`, { schema: texts, self: [large.slice(0, 1000)] })
  ends('replacements that grow', 'self.replace("", self).size() > 0', { schema: text, self: large })
  ends('joins that grow', '[1,2,3,4,5,6,7].map(x, self).join(self) == ""', { schema: text, self: large })
  ends('lists that grow', `size(self${'.map(x, self + self)'.repeat(2)}) > 0`, { schema: texts, self: many })
  ends('a search for half of the string', 'self.indexOf(self.substring(1500000) + "b") > 0', {
    schema: text,
    self: large,
  })
  ends('a pattern on a large string', 'self.matches("(a|aa|aaa)*b(a|aa)*c")', { schema: text, self: large })
  ends('a pattern from the data', 'self.matches(self)', { schema: text, self: large.slice(0, 4000) })

  test('several loops over the same map collect the keys of the map only once', () => {
    let lists = 0
    const self = new Proxy(Object.fromEntries(many.slice(0, 50).map((key) => [key, key])), {
      ownKeys: (target) => {
        lists++
        return Reflect.ownKeys(target)
      },
    })
    const schema = { type: 'object', properties: { map: { type: 'object', additionalProperties: text } } }
    const rule = 'self.map.all(a, self.map.all(b, a != "" && self.map.size() > 0))'
    assert.equal(outcomeOf(rule, { schema, self: { map: self }, limit: 100_000_000 }), true)
    assert.equal(lists, 1)
  })
  test('the time before the first clock check counts toward the evaluation time limit', () => {
    const budget = new Budget(1000)
    budget.startClock()
    for (const began = threadMicroseconds(); threadMicroseconds() - began < 50_000; );
    assert.throws(() => budget.work(100_000), BudgetExceeded)
  })
  test('a surrogate pair counts as one character in the length of a long string', () => {
    const long = 'a'.repeat(1000)
    assert.deepEqual([long, `${long}é世`, `${long}\u{1f600}`, `${long}\ud83d`].map(lengthOf), [1000, 1002, 1001, 1000])
  })

  test('a pattern prone to backtracking runs in linear time', async () => {
    const data = { schema: text, self: `${'a'.repeat(2000)}!` }
    await assertCheap(500, () => assert.equal(outcomeOf('self.matches("^(a+)+$")', data), false))
  })
})
