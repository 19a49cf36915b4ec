/** Tests that extracting fields from JSON text gives the same result as parsing the object and copying the fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cutter, cutOf, ScalarFinder } from '../../../src/api/codec/cut-json.ts'
import { isObject, type Json, own, setKey } from '../../../src/api/json/json.ts'

const odd = 'a"b\\c\n😀'
const object = JSON.parse(
  `{"kind":"K","n":-1.5e3,"t":true,"z":null,"s":"} ] , \\" \\\\","empty":{},"list":[1,{"x":1,"y":[{"x":2}]},"t",{},null],` +
    `"__proto__":{"x":1},"deep":{"a":{"b":{"c":[[{"d":1,"e":2}]]},"f":"last"},"x":2},${JSON.stringify(odd)}:{"x":"y"}}`,
)

const selections: readonly (readonly (readonly string[])[])[] = [
  [['kind']],
  [['n'], ['t'], ['z'], ['s']],
  [['list', 'x']],
  [['list', 'y', 'x'], ['kind']],
  [['deep', 'a', 'b', 'c', 'd']],
  [
    ['deep', 'x'],
    ['deep', 'a', 'f'],
  ],
  [['deep'], ['deep', 'x']],
  [['__proto__', 'x']],
  [[odd, 'x']],
  [['empty'], ['empty', 'x']],
  [['empty', 'x'], ['absent'], ['kind', 'below']],
  [...'abcdefghij'].map((key) => [key]).concat([['kind'], [odd, 'x'], ['deep', 'x'], ['__proto__']]),
]

/** Returns the expected result of the extraction, computed from parsed values. */
function expectedCut(value: Json, paths: readonly (readonly string[])[]): Json | undefined {
  if (paths.some((path) => path.length === 0)) return value
  if (Array.isArray(value)) return value.map((item) => expectedCut(item, paths)).filter((item) => item !== undefined)
  if (!isObject(value)) return undefined
  const result = {}
  for (const [key, member] of Object.entries(value)) {
    const below = paths.filter(([first]) => first === key).map(([, ...rest]) => rest)
    const kept = below.length === 0 ? undefined : expectedCut(member!, below)
    const isWhole = below.some((rest) => rest.length === 0)
    const isEmpty = isObject(kept) && Object.keys(kept).length === 0
    if (kept !== undefined && (isWhole || !isEmpty)) setKey(result, key, kept)
  }
  return result
}

for (const paths of selections)
  test(`extracting the paths ${JSON.stringify(paths)} from a JSON document copies only the fields at these paths`, () => {
    const cutter = new Cutter(cutOf(paths))
    const json = Buffer.from(`${JSON.stringify(object)}\n`)
    // Cut the text twice, to test that the cutter can reuse its memory.
    assert.deepEqual(cutter.cut(json).toString(), cutter.cut(json).toString())
    assert.deepEqual(JSON.parse(cutter.cut(json).toString()), expectedCut(object, paths))
  })

/** Returns a buffer that counts how often its bytes and methods are accessed. */
function countReads(json: Buffer): { counted: Buffer; reads: () => number } {
  let reads = 0
  const counted = new Proxy(json, {
    get: (target, name) => {
      reads++
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { counted, reads: () => reads }
}

test('reading the fields of a large object yields to other tasks after a limited number of reads', () => {
  const paths = [['data', 'absent'], ['list', 'absent'], ['metadata']]
  const data = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key-${i}`, i]))
  const list = Array.from({ length: 5_000 }, (_, i) => ({ i }))
  const json = Buffer.from(JSON.stringify({ data, list, metadata: { name: 'last' } }))
  const { counted, reads } = countReads(json)
  const work = new Cutter(cutOf(paths)).cutSliced(counted)
  let before = 0
  let most = 0
  let step = work.next()
  for (; !step.done; step = work.next()) {
    most = Math.max(most, reads() - before)
    before = reads()
  }
  assert.equal(JSON.parse(step.value.toString()).metadata.name, 'last')
  assert.ok(most < 100_000, `${most} reads without a yield, ${reads()} in total`)
})

test('reading many paths of an object with many members takes no longer than reading one path', () => {
  const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key-${i}`, i]))
  const json = Buffer.from(JSON.stringify(wide))
  const readsWith = (count: number) => {
    const { counted, reads } = countReads(json)
    new Cutter(cutOf(Array.from({ length: count }, (_, i) => [`key-x${i}`]))).cut(counted)
    return reads()
  }
  const [one, many] = [readsWith(1), readsWith(100)]
  assert.ok(many < 2 * one, `${many} reads with 100 paths, ${one} reads with one`)
})

test('a scalar in a JSON document can be looked up by its path', () => {
  const json = Buffer.from(JSON.stringify(object))
  const find = (...path: string[]) => new ScalarFinder(path).find(json)
  assert.deepEqual([find('n'), find('t'), find('s'), find(odd, 'x')], [-1500, true, '} ] , " \\', 'y'])
  assert.deepEqual([find('deep', 'a', 'f'), find('__proto__', 'x')], ['last', 1])
  for (const path of [['z'], ['absent'], ['deep', 'a'], ['list'], ['kind', 'x'], ['list', 'x'], ['toString']])
    assert.equal(find(...path), undefined, path.join('.'))
  assert.equal(own(object, 'n'), -1500)
})
