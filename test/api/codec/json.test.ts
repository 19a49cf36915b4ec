/**
 * Tests strict parsing with input that the native parser accepts or, in some versions, misreads. Also tests that the
 * fast writer for stored objects produces the same canonical output as the general writer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  parseJson,
  parseOwnJson,
  parseOwnSliced,
  parseSliced,
  stringifyJson,
  stringifyStored,
} from '../../../src/api/codec/json.ts'
import { plainScalar } from '../../../src/api/codec/yaml-scalar.ts'
import type { Json } from '../../../src/api/json/json.ts'
import { mergePatchSliced } from '../../../src/api/merge/merge-patch.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'
import { assertBelow, cpuMs } from '../../support/effort.ts'

test('the escape sequences in a key are decoded correctly even if other keys were parsed before the key', () => {
  const strictly = (text: string) => parseJson(Buffer.from(text)).value
  for (const parse of [strictly, (text: string) => parseOwnJson(Buffer.from(text))]) {
    assert.deepEqual(parse('{"a":1,"\\\\":2}'), { a: 1, '\\': 2 })
    assert.deepEqual(parse('{"a":1,"\\"":2}'), { a: 1, '"': 2 })
    assert.deepEqual(parse('{"a":1,"\\u0023":2}'), { a: 1, '#': 2 })
    assert.deepEqual(parse('{".":{},"k:{\\u005c":{}}'), { '.': {}, 'k:{\\': {} })
    assert.deepEqual(parse('{".":{},"k:{\\"a\\":1}":{}}'), { '.': {}, 'k:{"a":1}': {} })
    assert.deepEqual(parse('{"b":1,"x\\\\ny":2}'), { b: 1, 'x\\ny': 2 })
    assert.deepEqual(parse('{"b":1,"x\\ny":2}'), { b: 1, 'x\ny': 2 })
    assert.deepEqual(parse('{ "b" : "x\\"y:\\\\" , "\\\\" : [{"c":9007199254740993,"\\\\":1,"\\\\":2}] }'), {
      b: 'x"y:\\',
      '\\': [{ c: 9007199254740993n, '\\': 2 }],
    })
    assert.deepEqual(Object.keys(parse('{"\\\\":1,"\\u005f_proto__":2}') as object), ['\\', '__proto__'])
    assert.throws(() => parse('{"a":1,"\\\\":}'))
  }
})

test('the parser preserves all digits of numbers', () => {
  const parse = (text: string) => parseJson(Buffer.from(text)).value
  assert.deepEqual(parse('[1e1,1E+2,1e-7,-0.5,123456789012345]'), [10, 100, 1e-7, -0.5, 123456789012345])
  assert.deepEqual(parse('[9007199254740993,1e100]'), [9007199254740993n, 1e100])
  for (const text of ['1e400', '-1e999', '[1E0400]']) assert.throws(() => parse(text), /out of range/)
})

/** Fractional numbers that become integers when they are rounded to a double. */
const roundedToWhole = ['1.00000000000000000001', '4503599627370497.5', '9007199254740993.5', '-1e-400', '0.1e-9999']
const whole: readonly (readonly [string, number])[] = [
  ['10.000000000000000000000e-1', 1],
  ['0.1000000000000000000000e1', 1],
  ['0.0000000000000000000000', 0],
  ['0e-99999', 0],
  ['123456789012345.000000', 123456789012345],
]

test('fractional numbers are not rounded to integers', () => {
  for (const text of roundedToWhole) {
    assert.throws(() => parseJson(Buffer.from(`{"a":${text}}`)), /out of range/, text)
    assert.throws(() => plainScalar(text), /out of range/, text)
  }
  for (const [text, value] of whole) {
    assert.deepEqual(parseJson(Buffer.from(`{"a":${text}}`)).value, { a: value }, text)
    assert.equal(plainScalar(text), value, text)
  }
})

test('an integer that exceeds double precision does not change adjacent values when a body is parsed', () => {
  const rest = [
    ...[
      '0',
      '-0',
      '1.5e-3',
      '"plain"',
      '""',
      '"\\\\"',
      '"a\\"b\\\\\\"c"',
      '"\\u00e9\\n, ]}"',
      '"{[:,"',
      'true',
      'false',
      'null',
    ],
    ...[
      '[]',
      '{}',
      '[[],[{}]]',
      '{"":{"":[]}}',
      '{"a\\\\":1,"b\\n":{"c":[1,2]},"a\\\\":3}',
      ' [ 1 ,\n\t{ "k" : "v" } ]\r',
    ],
    '{"__proto__":{"x":1},"constructor":2}',
  ]
  for (const text of [...rest, `[${rest.join(' , ')}]`, `{${rest.map((one, i) => `"k${i}":${one}`).join()}}`]) {
    const found = parseJson(Buffer.from(`[12345678901234567890,${text}]`)).value as Json[]
    assert.equal(found[0], 12345678901234567890n)
    assert.deepEqual(found[1], JSON.parse(text), text)
    assert.deepEqual(Object.keys(Object(found[1])), Object.keys(Object(JSON.parse(text))), text)
    assert.deepEqual(parseOwnJson(Buffer.from(`[12345678901234567890,${text}]`)), found)
  }
  for (const text of ['[12345678901234567890', '[12345678901234567890,]', '{"a":12345678901234567890 "b"}'])
    assert.throws(() => parseJson(Buffer.from(text)), /not valid JSON/)
})

const long = Array.from({ length: 70_000 }, (_, i) => `1234567890123456789012345678901234${100_000 + i}`)
const longIntegers = Buffer.from(`{"list":[${long.join()}]}`)

test('parsing a body of 40-digit integers regularly yields to other tasks', async () => {
  await assertBelow(100, 'ms at a stretch', () => longestStep(parseSliced(longIntegers)))
  await assertBelow(100, 'ms at a stretch', () => longestStep(parseOwnSliced(longIntegers)))
})

test('parsing a long stored document in slices regularly yields to other tasks and returns the same result', () => {
  const members = Object.fromEntries(
    long.slice(0, 20_000).map((_, i) => [`v:"\\${i}"`, { i, 'a.b': [1.5, null, true] }]),
  )
  const bytes = Buffer.from(JSON.stringify(members))
  const work = parseOwnSliced(bytes)
  let steps = 0
  let step = work.next()
  for (; !step.done; step = work.next()) steps++
  assert.deepEqual(step.value, JSON.parse(bytes.toString()))
  assert.ok(steps > 20, `${steps} steps`)
})

test('merging an object with very many members regularly yields to other tasks', async () => {
  const members = long.slice(0, 50_000).map((digits, i) => `"k${i}":${digits}`)
  const { value } = parseJson(Buffer.from(`{"data":{${members.join()}}}`))
  await assertBelow(100, 'ms at a stretch', () => longestStep(mergePatchSliced(value, value)))
  assert.deepEqual(runToCompletion(mergePatchSliced(value, { data: { k1: null } })), {
    data: Object.fromEntries(Object.entries((value as { data: object }).data).filter(([key]) => key !== 'k1')),
  })
})

/** Returns the longest CPU time between two consecutive yields, in milliseconds. */
function longestStep(work: Generator<void, unknown>): number {
  let longest = 0
  for (let done = false; !done; )
    longest = Math.max(
      longest,
      cpuMs(() => {
        done = work.next().done === true
      }),
    )
  return longest
}

test('duplicate keys are reported with their paths, even if they are escaped differently', () => {
  const duplicates = (text: string) => parseJson(Buffer.from(text)).duplicates
  assert.deepEqual(duplicates('{"a":[{"b":1,"c":{"b":2},"b":3}],"\\u0061":":"}'), ['a[0].b', 'a'])
  assert.deepEqual(duplicates('{"__proto__":{"b":1,"b":2},"__proto__":{},"c":[]}'), ['__proto__.b', '__proto__'])
  assert.deepEqual(duplicates('{"a":"{\\"b\\":1,\\"b\\":2}","b":[{"a":1},{"a":1}],"c":[[{}],":"]}'), [])
})

const inAnyOrder: { readonly [name: string]: Json } = {
  'unsorted keys': { b: { z: [1, { d: 2, c: { y: null, x: true } }], a: 'text' }, a: 0.5 },
  'sorted keys above unsorted ones': { a: [{ c: 1, b: 2 }], b: { d: {}, c: [] } },
  'numeric keys': { b: { 10: 1, 9: 2, a: 3 }, a: { 2: 0, 1: 0 }, 7: 'seven' },
  'sorted numeric keys': { a: { 1: { c: 1, b: 2 }, 2: 0 }, b: 1 },
  'an inherited key': JSON.parse('{"b":1,"__proto__":{"d":1,"c":2},"a":3}'),
  'keys beyond the BMP': { '\u{1f600}': { b: 1, a: 2 }, '\uff5e': 2 },
  'integers of any size': { b: 9007199254740993n, a: [-0, 1e21] },
  'text that looks like an escape': { b: '\\ud800', a: '"\\ud800"', '\\ud': '\n' },
}

for (const [name, value] of Object.entries(inAnyOrder))
  test(`stringifyStored() writes the same text as stringifyJson(): ${name}`, () => {
    assert.equal(stringifyStored(value, undefined, 1), stringifyJson([value]).slice(1, -1))
  })
