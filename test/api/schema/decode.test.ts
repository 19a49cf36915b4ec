/** Tests the decoding of quantities, times and bytes: accepted formats, canonical forms, and errors with paths. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, sameJson } from '../../../src/api/json/json.ts'
import { customResourceDefinition } from '../../../src/api/kinds/apiextensions/custom-resource-definition.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { decode, decodeSliced } from '../../../src/api/schema/decode.ts'
import { isExplicitlyEmpty } from '../../../src/api/schema/explicit-empty.ts'
import { field, s } from '../../../src/api/schema/schema.ts'

const vendor = vendorOf('orch')
const schema = s.object({ amounts: field(1, s.map(s.quantity())), limit: field(2, s.quantity()) })

test('a quantity field accepts strings and numbers, and decodes them to canonical strings', () => {
  const amounts = { a: '1024Mi', b: ' 0.1 ', c: 1000, d: 1.5, e: 2n ** 60n, f: null, g: '0' }
  const { value } = decode(schema, { amounts, limit: '0' })
  const expected = { a: '1Gi', b: '100m', c: '1k', d: '1500m', e: '1152921504606846976', f: '0', g: '0' }
  assert.deepEqual(value, { amounts: expected, limit: '0' })
})

test('an invalid quantity returns 400, and the error contains the path', () => {
  const bad: Json[] = ['1GB', '', {}, [], true, '1'.repeat(1000)]
  for (const value of bad) {
    assert.throws(() => decode(schema, { amounts: { storage: value } }), {
      code: 400,
      message: /^amounts\[storage\]: /,
    })
    assert.throws(() => decode(schema, { limit: value }), { code: 400, message: /^limit: / })
  }
})

const times = s.object({ at: field(1, s.time()), exactly: field(2, s.microTime()) })

test('a time is converted to UTC with seconds or microseconds', () => {
  const sent = { at: '2020-01-01T01:30:00.999+01:30', exactly: '2020-01-01T01:30:00.000120+01:30' }
  assert.deepEqual(decode(times, sent).value, { at: '2020-01-01T00:00:00Z', exactly: '2020-01-01T00:00:00.000120Z' })
})

test('a time field with microseconds requires six decimal places', () => {
  for (const decimals of ['', '.1', '.12345', '.1234567'])
    assert.throws(() => decode(times, { exactly: `2020-01-01T00:00:00${decimals}Z` }), {
      code: 400,
      message: /^exactly: .*05\.000000Z"$/,
    })
})

test('base64 is decoded strictly, except for unused bits of the last character, and is returned in canonical form', () => {
  const bytes = s.object({ b: field(1, s.bytes(), { zeroValue: 'keep' }) })
  const read = (b: string) => (decode(bytes, { b }).value as JsonObject).b
  const taken = [
    ['', ''],
    ['YQ==', 'YQ=='],
    ['YR==', 'YQ=='],
    ['Yf==', 'YQ=='],
    ['YWJ=', 'YWI='],
    ['QUJDYWJ=', 'QUJDYWI='],
    ['+/+/', '+/+/'],
    ['Y\r\nQ=\n=', 'YQ=='],
  ] as const
  for (const [sent, kept] of taken) assert.equal(read(sent), kept, sent)
  for (const sent of [
    'Y',
    'YQ',
    'YQ=',
    'Y===',
    '====',
    'YQ==YQ==',
    'YQ=a',
    'Y=Q=',
    '-_-_',
    'Y Q==',
    'YR=\u00e9',
    'Y-==',
  ])
    assert.throws(() => read(sent), { code: 400 }, sent)
})

test('the decoder omits empty lists from a value but remembers which lists were explicitly empty, even in copies of the value', () => {
  const groups = s.object({
    ids: field(1, s.list(s.int32()), { emptyCounts: true }),
    more: field(2, s.list(s.int32())),
  })
  const read = (sent: JsonObject) => decode(groups, sent).value as JsonObject
  const stated = read({ ids: [], more: [] })
  const copy = { ...stated, other: 1 }
  assert.ok(isExplicitlyEmpty(copy, 'ids'))
  assert.equal(JSON.stringify(stated), '{}')
  assert.ok(sameJson(stated, {}))
  const others = [
    isExplicitlyEmpty(stated, 'more'),
    ...[{}, { ids: null }, { ids: [1] }].map((sent) => isExplicitlyEmpty(read(sent), 'ids')),
  ]
  assert.deepEqual(others, [false, false, false, false])
})

test('decoding a large schema of a CustomResourceDefinition in steps gives the same result as decoding it at once', () => {
  const property = { type: 'object', properties: { a: { type: 'string', description: 'words' } }, unknown: 1 }
  const properties = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`p${i}`, property]))
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties } },
  }
  const definition = { metadata: { name: 'a' }, spec: { group: 'a.example.com', versions: [version] } }
  const { schema: fields } = customResourceDefinition
  const decoding = decodeSliced(fields, definition, { vendor })
  let steps = 0
  let step = decoding.next()
  for (; !step.done; step = decoding.next()) steps++
  assert.deepEqual(step.value, decode(fields, definition, { vendor }))
  assert.equal(step.value.unknown.length, 3000)
  assert.ok(steps >= 30, `${steps} steps`)
})
