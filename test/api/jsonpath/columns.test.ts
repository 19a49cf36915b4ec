/** Tests the JSON paths in printer columns: results and invalid paths. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { parseColumnPath } from '../../../src/api/jsonpath/columns.ts'

const object: Json = {
  metadata: { annotations: { 'a.b/c': 'dotted' } },
  spec: {
    size: 3,
    ports: [{ name: 'web', port: 80 }, { port: 81 }],
    'odd name': true,
    none: null,
    letters: ['a', 'b'],
    two: 2,
  },
  status: {
    conditions: [
      { type: 'Synced', status: 'False', at: 1 },
      { type: 'Ready', status: 'True', at: 2 },
    ],
  },
}

describe('valid JSONPath column expressions', () => {
  const found: readonly (readonly [string, Json | undefined])[] = [
    ['.spec.size', 3],
    [' .spec.size ', 3],
    ['.spec.ports[0].name', 'web'],
    ['.spec.ports[-1].port', 81],
    ['.spec.ports[7].port', undefined],
    ['.spec.ports[*].name', 'web'],
    ['.spec.*', 3],
    ["['spec']['odd name']", true],
    ['.metadata.annotations.a\\.b/c', 'dotted'],
    ['.status.conditions[?(@.type=="Ready")].status', 'True'],
    [".status.conditions[?(@.type == 'Absent')].status", undefined],
    ['.status.conditions[?(@.at>1)].type', 'Ready'],
    ['.status.conditions[?(@.at!=1)].type', 'Ready'],
    ['.status.conditions[-1:].type', 'Ready'],
    ['.status.conditions[0:1].type', 'Synced'],
    ['.status.conditions[0:2:2].type', 'Synced'],
    ['.spec.ports[1,0].port', 81],
    ["['spec','status']['size']", 3],
    ['..port', 80],
    ['.spec..name', 'web'],
    ['.spec.ports[?(@.name)].port', 80],
    ['.spec.ports[?(@.absent)].port', undefined],
    ['.spec.letters[?(@=="b")]', 'b'],
    ['.spec.size[?(@ == "x")]', undefined],
    ['.status.conditions[?(@.at=="1")].type', undefined],
    ['.status.conditions[?(@.at==$.spec.two)].type', 'Ready'],
    ['.spec.none', null],
    ['.spec.size.deeper', undefined],
    ['.__proto__', undefined],
    ['.constructor.name', undefined],
  ]
  for (const [path, value] of found)
    test(`the JSONPath ${path} evaluates to ${JSON.stringify(value)}`, () =>
      assert.deepEqual(parseColumnPath(path)!(object), value))
})

describe('invalid JSONPath column expressions', () => {
  for (const text of ['', '.spec[', 'spec', '..', '.a[x]', '.a[?(b)]', '.a[]', '.a b', `.${'a'.repeat(1001)}`])
    test(JSON.stringify(text.slice(0, 20)), () => assert.equal(parseColumnPath(text), undefined))
})

test('a JSONPath search that visits too many values is aborted', () => {
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, { a: [1, 2, { b: i }] }]))
  assert.equal(parseColumnPath(`${'..*'.repeat(20)}..nothing`)!(wide), undefined)
})
