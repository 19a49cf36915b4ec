/** Tests the values that rules see for JSON data, according to the schema of the data. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { outcomeOf } from './evaluate-rule.ts'

const text: JsonObject = { type: 'string' }
const integer: JsonObject = { type: 'integer' }
const objectOf = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})
const about = (a: JsonObject): JsonObject => objectOf({ a })

interface Row {
  readonly schema: JsonObject
  readonly self: Json
  readonly oldSelf?: Json
  /** `rules` must be true for the data, and the rules in `not` must be false. */
  readonly rules: readonly string[]
  readonly not?: readonly string[]
}

const rows: { readonly [title: string]: Row } = {
  'scalars have their types': {
    schema: objectOf({ s: text, i: integer, n: { type: 'number' }, b: { type: 'boolean' } }),
    self: { s: 'x', i: 5, n: 2, b: true },
    rules: ['self.s == "x"', 'self.i + 1 == 6', 'self.n + 0.5 == 2.5', 'self.b', 'type(self.n) == double'],
  },
  'formats produce bytes and times': {
    schema: objectOf({
      d: { ...text, format: 'duration' },
      t: { ...text, format: 'date-time' },
      day: { ...text, format: 'date' },
      b: { ...text, format: 'byte' },
    }),
    self: { d: '1h30m', t: '2020-01-01T00:00:00Z', day: '2020-01-02', b: 'YWI=' },
    rules: [
      'self.d == duration("90m")',
      'self.t.getFullYear() == 2020',
      'self.day > self.t',
      'self.b == b"ab"',
      'size(self.b) == 2',
    ],
  },
  'the value determines the type of int-or-string': {
    schema: objectOf({ p: { 'x-orch-int-or-string': true }, q: { 'x-orch-int-or-string': true } }),
    self: { p: 5, q: '50%' },
    rules: ['type(self.p) == int && self.p < 6', 'type(self.q) == string && self.q.endsWith("%")', 'self.p != self.q'],
  },
  'names are escaped': {
    schema: objectOf({
      'a.b': integer,
      'a-b': integer,
      'a/b': integer,
      a__b: integer,
      namespace: integer,
      'x y': integer,
    }),
    self: { 'a.b': 1, 'a-b': 2, 'a/b': 3, a__b: 4, namespace: 5 },
    rules: [
      'self.a__dot__b == 1 && self.a__dash__b == 2 && self.a__slash__b == 3 && self.a__underscores__b == 4',
      'self.__namespace__ == 5',
      'self.namespace == 5 && has(self.namespace)',
      'has(self.a__dot__b)',
    ],
  },
  'maps are read by their keys': {
    schema: about({ type: 'object', additionalProperties: integer }),
    self: { a: { x: 1, 'y.z': 2, ['__proto__']: 3 } } as Json,
    rules: [
      'self.a["y.z"] == 2',
      'self.a.all(k, self.a[k] > 0)',
      '"x" in self.a',
      '!("toString" in self.a)',
      'has(self.a.x)',
    ],
  },
  'inherited members are invisible': {
    schema: objectOf({ constructor: text, toString: text }),
    self: {},
    rules: ['!has(self.constructor)', '!has(self.toString)'],
  },
  'lists are equal element by element': {
    schema: about({ type: 'array', items: text }),
    self: { a: ['x', 'y'] },
    oldSelf: { a: ['y', 'x'] },
    rules: ['self.a == ["x", "y"]', 'self.a != oldSelf.a', 'self != oldSelf', 'self.a + ["z"] == ["x", "y", "z"]'],
  },
  'sets are equal in any order': {
    schema: about({ type: 'array', items: text, 'x-orch-list-type': 'set' }),
    self: { a: ['x', 'y'] },
    oldSelf: { a: ['y', 'x'] },
    rules: ['self.a == oldSelf.a', 'self == oldSelf', 'self.a == ["y", "x"]'],
    not: ['self.a == ["y", "z"]'],
  },
  'lists of type map are equal by their keys': {
    schema: about({
      type: 'array',
      items: objectOf({ k: text, v: integer }),
      'x-orch-list-type': 'map',
      'x-orch-list-map-keys': ['k'],
    }),
    self: { a: [{ k: 'x', v: 1 }, { k: 'y', v: 2 }] }, // biome-ignore format: one line
    oldSelf: { a: [{ k: 'y', v: 2 }, { k: 'x', v: 1 }] }, // biome-ignore format: one line
    rules: ['self.a == oldSelf.a', 'self.a.exists_one(e, e.k == "x")'],
    not: ['self.a[0] == oldSelf.a[0]'],
  },
  'data without a schema counts in comparisons': {
    schema: objectOf({ a: { 'x-orch-preserve-unknown-fields': true } }, { 'x-orch-preserve-unknown-fields': true }),
    self: { a: { deep: [1] }, more: 1 },
    oldSelf: { a: { deep: [2] }, more: 1 },
    rules: ['self != oldSelf'],
  },
  'large integers are exact': {
    schema: about(integer),
    self: { a: 9_007_199_254_740_993n },
    rules: ['self.a == 9007199254740993', 'self.a - 1 == 9007199254740992'],
  },
  'null is a value of a nullable field, which counts as absent': {
    schema: about({ type: 'object', nullable: true, properties: { b: text } }),
    self: { a: null },
    rules: ['!has(self.a) && self.a == null'],
  },
}

for (const [title, { schema, self, oldSelf = {}, rules, not = [] }] of Object.entries(rows)) {
  test(title, () => {
    for (const rule of rules) assert.equal(outcomeOf(rule, { schema, self, oldSelf }), true, rule)
    for (const rule of not) assert.equal(outcomeOf(rule, { schema, self, oldSelf }), false, rule)
  })
}

describe('data that rules cannot see', () => {
  const hidden = (schema: JsonObject, rule: string, field: string) => {
    assert.match(String(outcomeOf(rule, { schema })), new RegExp(`undefined field '${field}'`))
  }
  test('rules cannot access fields that the schema does not describe', () => hidden(about(text), 'self.b == 1', 'b'))
  test('rules cannot access values whose type the schema does not specify', () =>
    hidden(about({ 'x-orch-preserve-unknown-fields': true }), 'has(self.a)', 'a'))
  test('rules cannot access lists whose element type the schema does not specify', () => {
    hidden(about({ type: 'array', items: { 'x-orch-preserve-unknown-fields': true } }), 'has(self.a)', 'a')
  })
  test('rules can access only the name in the metadata of an embedded object', () => {
    const schema = about(objectOf({ spec: text }, { 'x-orch-embedded-resource': true }))
    assert.equal(outcomeOf('self.a.metadata.name == "n"', { schema, self: { a: { metadata: { name: 'n' } } } }), true)
    hidden(schema, 'has(self.a.metadata.labels)', 'labels')
  })
})
