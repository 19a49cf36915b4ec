/** Tests that indenting JSON without parsing it produces the same text as the native writer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indentText } from '../../../src/api/codec/indent-json.ts'

const values: { readonly [name: string]: unknown } = {
  'objects and lists': { b: [1, { c: null, d: [true, false] }, 'x'], a: { e: { f: -1.5e-7 } } },
  'empty containers': { a: {}, b: [], c: [{}, [], [[]]] },
  'a plain value': 7,
  'text with punctuation': { 'a{":,}': '[]{},:"\\', b: '\\\\', c: '\\"', '': '\\\\\\"', d: '\n\t\u2028 "x": [1]' },
  'a long text': ['\\"'.repeat(100_000)],
}

for (const [name, value] of Object.entries(values))
  test(name, () => {
    assert.equal(indentText(`${JSON.stringify(value)}\n`), JSON.stringify(value, null, 2))
    assert.equal(
      `[${indentText(JSON.stringify(value), '    ')}]`,
      `[${JSON.stringify(value, null, 2).replaceAll('\n', '\n    ')}]`,
    )
  })

test('indenting JSON keeps the order of members and all digits of integers', () => {
  assert.equal(indentText('{"9":9007199254740993,"10":1}'), '{\n  "9": 9007199254740993,\n  "10": 1\n}')
})
