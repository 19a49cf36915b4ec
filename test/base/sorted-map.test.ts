/**
 * Tests the sorted map. Random operations are compared with a sorted array, and the key order is compared with the
 * order of UTF-8 bytes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SortedMap } from '../../src/base/collections/sorted-map.ts'
import { compareUtf8, sortUtf8 } from '../../src/base/collections/utf8-order.ts'

/** Returns a random number generator whose results depend only on the seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Suffixes of keys. For the last two suffixes, UTF-16 order differs from UTF-8 order. */
const ends = ['', 'é', '中', '\uf000', '😀']

for (const [seed, odd] of [
  [1, 0],
  [2, 0],
  [3, 0.01],
  [4, 0.5],
] as const) {
  test(`a sorted map has the same ranges and counts as a sorted array (seed ${seed})`, () => {
    const random = numbers(seed)
    const map = new SortedMap<number>()
    const model = new Map<string, number>()
    for (let step = 0; step < 6000; step++) {
      const end = random() < odd ? ends[Math.floor(random() * ends.length)] : ''
      const key = `${'abc'[Math.floor(random() * 3)]}/${Math.floor(random() * (odd > 0.1 ? 500 : 2500))}${end}`
      if (random() < 0.7) {
        map.set(key, step)
        model.set(key, step)
      } else {
        map.delete(key)
        model.delete(key)
      }
    }
    const keys = [...model.keys()].sort(compareUtf8)
    assert.equal(map.size, keys.length)
    for (const prefix of ['', 'a/', 'b/', 'c/', 'd/', 'b/1']) {
      const expectedKeys = keys.filter((key) => key.startsWith(prefix))
      assert.deepEqual(
        [...map.withPrefix(prefix)],
        expectedKeys.map((key) => model.get(key)),
      )
      const after = expectedKeys[Math.floor(expectedKeys.length / 2)]
      if (after === undefined) continue
      assert.deepEqual(
        [...map.withPrefix(prefix, after)],
        expectedKeys.filter((key) => compareUtf8(key, after) > 0).map((key) => model.get(key)),
      )
    }
    const low = keys[10]!
    const high = keys.at(-10)!
    assert.equal(
      map.countBetween(low, high),
      keys.filter((key) => compareUtf8(key, low) > 0 && compareUtf8(key, high) < 0).length,
    )
    assert.equal(map.countBetween('b/', 'b0'), keys.filter((key) => key.startsWith('b/')).length)
  })
}

test('a sorted map sorts keys by their bytes, regardless of their number and the order of insertion', () => {
  const random = numbers(5)
  for (const length of [0, 1, 2, 5, 31, 32, 33, 200]) {
    const keys = Array.from({ length }, () => `${Math.floor(random() * 50)}${ends[Math.floor(random() * ends.length)]}`)
    const expectedKeys = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual(sortUtf8([...keys]), expectedKeys)
    assert.deepEqual(sortUtf8([...expectedKeys]), expectedKeys)
    assert.deepEqual(sortUtf8(expectedKeys.toReversed()), expectedKeys)
  }
})

test('iterating over a sorted map in slices returns the state at the start, despite concurrent writes', () => {
  const random = numbers(7)
  const map = new SortedMap<number>()
  const model = new Map<string, number>()
  let step = 0
  const write = () => {
    // Generate some of the keys in increasing order, so that they are appended to the last chunk.
    const key = `${'ab'[Math.floor(random() * 2)]}/${String(random() < 0.2 ? 90_000 + step : Math.floor(random() * 3000)).padStart(5, '0')}`
    step++
    if (random() < 0.65) {
      map.set(key, step)
      model.set(key, step)
    } else {
      map.delete(key)
      model.delete(key)
    }
  }
  const expected = (prefix: string, after: string) =>
    [...model.entries()]
      .filter(([key]) => key.startsWith(prefix) && key > after)
      .sort(([a], [b]) => compareUtf8(a, b))
      .map(([, value]) => value)
  for (let i = 0; i < 8000; i++) write()
  const readers: { slices: Generator<number[]>; seen: number[]; wanted: number[] }[] = []
  let finished = 0
  while (finished < 200) {
    for (let i = 0; i < 50; i++) write()
    const prefix = ['', 'a/', 'b/', 'c/'][Math.floor(random() * 4)]!
    const after = random() < 0.5 ? '' : `${prefix}01500`
    readers.push({
      slices: map.slices(prefix, after === '' ? undefined : after),
      seen: [],
      wanted: expected(prefix, after),
    })
    for (const reader of [...readers]) {
      if (random() < 0.5) continue
      const { value, done } = reader.slices.next()
      if (!done) reader.seen.push(...value)
      if (!done) continue
      assert.deepEqual(reader.seen, reader.wanted)
      readers.splice(readers.indexOf(reader), 1)
      finished++
    }
  }
  assert.ok(readers.length > 0, 'many were under way at once')
  assert.deepEqual([...map.withPrefix('')], expected('', ''))
})
