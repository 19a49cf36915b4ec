/** Tests JSON merge patch: the examples of RFC 7386, dangerous names, and random patches compared with a model. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { applyMergePatch } from '../../../src/api/merge/merge-patch.ts'
import { canonical, deepFreeze, modelMergePatch, randomValue, seeded, type Value } from './models.ts'

describe('examples from RFC 7396', () => {
  const examples: [Json, Json, Json][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [document, patch, result] of examples) {
    test(`merging the patch ${JSON.stringify(patch)} into ${JSON.stringify(document)} has the expected result`, () => {
      assert.deepEqual(applyMergePatch(deepFreeze(document), deepFreeze(patch)), result)
    })
  }
})

test('a merge patch treats a member named __proto__ as an ordinary member', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
  const result = applyMergePatch({}, patch)
  assert.equal(canonical(result as Value), canonical(patch))
  assert.equal(Object.getPrototypeOf(result), Object.prototype)
  assert.equal(({} as { polluted?: number }).polluted, undefined)
  assert.equal(canonical(applyMergePatch(result, JSON.parse('{"__proto__":null,"constructor":null}')) as Value), '{}')
})

test('the result of a merge patch shares unchanged parts with the original', () => {
  const document = deepFreeze({ kept: { x: 1 }, changed: { y: 1 } })
  assert.equal((applyMergePatch(document, { changed: { y: 2 } }) as typeof document).kept, document.kept)
})

test('random merge patches have the same result as a simple model', () => {
  const random = seeded(7386)
  for (let round = 0; round < 5000; round++) {
    const document = deepFreeze(randomValue(random, 4))
    const patch = deepFreeze(randomValue(random, 4))
    const actual = applyMergePatch(document, patch) as Value
    assert.equal(
      canonical(actual),
      canonical(modelMergePatch(document, patch)),
      `round ${round}: ${JSON.stringify(document)} by ${JSON.stringify(patch)}`,
    )
  }
})
