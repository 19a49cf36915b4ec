/** Tests the differences between two values. Undoing the differences restores the original. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { jsonChanges, leavesOf, pathText, withValueAt } from '../../../src/api/json/json-changes.ts'
import { seeded } from '../../storage/store/random-source.ts'

const containersNamed = (...names: string[]) => names.map((name) => ({ name, image: `${name}:1` }))
const paths = (before: Json, after: Json) => jsonChanges(before, after).map(({ path }) => pathText(path))

test('changed list elements are identified by name only if the order is unchanged; otherwise the whole list counts as changed', () => {
  const web = { name: 'a', image: 'a:2' }
  assert.deepEqual(paths({ c: containersNamed('a', 'b') }, { c: [web, ...containersNamed('b')] }), ['.c[name=a].image'])
  assert.deepEqual(paths({ c: containersNamed('a') }, { c: containersNamed('a', 'b') }), ['.c[name=b]'])
  assert.deepEqual(paths({ c: containersNamed('a', 'b') }, { c: containersNamed('a') }), ['.c[name=b]'])
  assert.deepEqual(paths({ c: containersNamed('a', 'b') }, { c: containersNamed('b', 'a') }), ['.c'])
  assert.deepEqual(paths({ c: containersNamed('a', 'b', 'c') }, { c: containersNamed('a', 'c') }), ['.c'])
  assert.deepEqual(paths({ c: [] }, { c: containersNamed('a') }), ['.c'])
  assert.deepEqual(paths({ c: containersNamed('a', 'a') }, { c: containersNamed('a') }), ['.c'])
  assert.deepEqual(paths({ 'a/b': 1 }, { 'a/b': 2, ['__proto__']: 3 }), ['["a/b"]', '.__proto__'])
})

test('leavesOf() returns the paths of all leaves in the same notation as jsonChanges()', () => {
  const leaves = (value: Json) => leavesOf(value).map(pathText)
  assert.deepEqual(leaves({ a: { b: 1, c: {} }, l: [], m: [1, { name: 'x' }], c: containersNamed('a', 'b') }), [
    ...['.a.b', '.a.c', '.l', '.m', '.c[name=a].name', '.c[name=a].image', '.c[name=b].name', '.c[name=b].image'],
  ])
  assert.deepEqual(leaves({ c: containersNamed('a', 'a') }), ['.c'])
  assert.deepEqual(leaves({}), ['.'])
})

test('undoing all changes between two objects restores the original', () => {
  const random = seeded(7)
  const value = (depth: number): Json => {
    const sort = depth === 0 ? 0 : random.below(4)
    if (sort === 0) return random.pick<Json>([1, 'x', null, true, 0, ''])
    if (sort === 1) return Array.from({ length: random.below(3) }, () => value(depth - 1))
    const keys = ['a', 'b', '__proto__', 'name'].filter(() => random.chance(0.6))
    if (sort === 2) return Object.fromEntries(keys.map((key) => [key, value(depth - 1)]))
    return ['p', 'q', 'r'].filter(() => random.chance(0.7)).map((name) => ({ name, v: value(depth - 1) }))
  }
  for (let i = 0; i < 3000; i++) {
    const before = { o: value(4) }
    const after = { o: value(4) }
    const undone = jsonChanges(before, after).reduce<Json | undefined>(
      (object, { path, before: old }) => withValueAt(object, path, old),
      after,
    )
    assert.deepEqual(undone, before, JSON.stringify({ before, after }))
  }
})
