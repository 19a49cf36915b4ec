/** Decoding of a quantity field: read from text and numbers, written one way, refused with the place named. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/model/json.ts'
import { decode } from '../../src/schema/decode.ts'
import { field, s } from '../../src/schema/schema.ts'

const schema = s.object({ amounts: field(1, s.map(s.quantity())), limit: field(2, s.quantity()) })

test('a quantity field takes text and numbers and gives canonical text', () => {
  const amounts = { a: '1024Mi', b: ' 0.1 ', c: 1000, d: 1.5, e: 2n ** 60n, f: null, g: '0' }
  const { value } = decode(schema, { amounts, limit: '0' })
  const expected = { a: '1Gi', b: '100m', c: '1k', d: '1500m', e: '1152921504606846976', f: '0', g: '0' }
  assert.deepEqual(value, { amounts: expected, limit: '0' })
})

test('what is no quantity is a 400 that names the place', () => {
  const bad: Json[] = ['1GB', '', {}, [], true, '1'.repeat(1000)]
  for (const value of bad) {
    assert.throws(() => decode(schema, { amounts: { storage: value } }), {
      code: 400,
      message: /^amounts\[storage\]: /,
    })
    assert.throws(() => decode(schema, { limit: value }), { code: 400, message: /^limit: / })
  }
})
