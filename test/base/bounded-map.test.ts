/** Tests bounded maps: which entries are kept and which are evicted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from '../../src/base/collections/bounded-map.ts'

function filled(maxSize: number, count: number): BoundedMap<string, number> {
  const map = new BoundedMap<string, number>(maxSize)
  for (let i = 0; i < count; i++) map.set(`k${i}`, i)
  return map
}

test('a full bounded map evicts the oldest entry', () => {
  const map = filled(3, 3)
  assert.equal(map.size, 3)
  assert.deepEqual(map.set('new', 3), [0])
  assert.deepEqual(
    [...map],
    [
      ['k1', 1],
      ['k2', 2],
      ['new', 3],
    ],
  )
  assert.equal(map.get('k0'), undefined)
})

test('setting an existing key of a bounded map makes the entry the newest and evicts nothing', () => {
  const map = filled(3, 3)
  assert.deepEqual(map.set('k0', 10), [])
  map.set('new', 3)
  assert.deepEqual([...map.values()], [2, 10, 3])
})

test('get() does not change the order of a bounded map, but use() moves the entry to the end', () => {
  const map = filled(3, 3)
  assert.equal(map.get('k0'), 0)
  assert.equal(map.use('k1'), 1)
  assert.equal(map.use('absent'), undefined)
  map.set('new', 3)
  assert.deepEqual([...map.values()], [2, 1, 3])
})

test('a large bounded map evicts the oldest 64th of its entries at once', () => {
  const map = filled(1024, 1025)
  assert.equal(map.size, 1024 + 1 - 16)
  assert.deepEqual([map.has('k15'), map.has('k16'), map.has('k1024')], [false, true, true])
  for (let i = 0; i < 5000; i++) {
    map.set(`more${i}`, i)
    assert.ok(map.size <= 1024 && map.size > 1024 - 16)
  }
})

test('entries of a bounded map can be deleted, even during iteration', () => {
  const map = filled(10, 5)
  for (const [key, value] of map) if (value % 2 === 0) map.delete(key)
  assert.deepEqual([...map.values()], [1, 3])
  map.clear()
  assert.deepEqual([map.size, map.has('k1')], [0, false])
})

test('a bounded map with a capacity of 0 is rejected', () => {
  for (const maxSize of [0, -1, Number.NaN]) assert.throws(() => new BoundedMap(maxSize), RangeError)
})
