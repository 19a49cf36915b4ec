/** Tests user-defined schemas: rejections with reasons, and validation by accepted schemas. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { maxFaults } from '../../../src/api/model/field-error.ts'
import { asObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { fillWithinLimits } from '../../../src/api/schema/bounded-defaults.ts'
import { decode, decodeSliced } from '../../../src/api/schema/decode.ts'
import { fillDefaults } from '../../../src/api/schema/defaults.ts'
import type { ObjectSchema } from '../../../src/api/schema/schema.ts'
import { validate, validateSliced } from '../../../src/api/schema/validate.ts'
import { objectRules } from '../../../src/apiserver/custom/objects/object-rules.ts'
import { readStructuralSchema } from '../../../src/apiserver/custom/schema/structural-schema.ts'
import { runToCompletion, type Sliced } from '../../../src/base/concurrency/time-slice.ts'

const vendor = vendorOf('orch')
const context = { vendor, subresource: '' }

function about(property: Json): JsonObject {
  return { type: 'object', properties: { a: property } }
}

async function faultsOf(schema: Json): Promise<string[]> {
  const read = await readStructuralSchema(schema, vendor, { path: '' })
  if (read.outcome === 'schema') return []
  return read.faults.map(({ fault, path }) => `${path} ${fault.replace('FieldValue', '')}`).sort()
}

async function schemaOf(schema: Json): Promise<ObjectSchema> {
  const read = await readStructuralSchema(schema, vendor, { path: '' })
  assert.equal(read.outcome, 'schema', JSON.stringify(read))
  return (read as { schema: ObjectSchema }).schema
}

function nest(depth: number): Json {
  return depth === 0 ? { type: 'string' } : about(nest(depth - 1))
}

describe('rejected structural schemas', () => {
  const listed = (fields: JsonObject) => about({ type: 'array', 'x-orch-list-type': 'map', ...fields })
  const item = { type: 'object', properties: { n: { type: 'string' } } }
  const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`p${i}`, { type: 'string' }]))
  const at = 'properties[a]'
  const text = { type: 'string' }
  const whole = (fields: JsonObject) => about({ type: 'object', 'x-orch-embedded-resource': true, ...fields })
  const ofPod = (sent: JsonObject) =>
    whole({ properties: { kind: text }, default: { apiVersion: 'v1', kind: 'Pod', ...sent } })
  const inWhole = (properties: JsonObject) => whole({ properties })
  const ofName = (fields: JsonObject) =>
    inWhole({ metadata: { type: 'object', properties: { name: { type: 'string', ...fields } } } })
  const embeddedDefaults: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['an embedded object as a default', ofPod({ metadata: { name: 'a', unknown: 1 } }), []],
    [
      'an embedded default without apiVersion and kind',
      whole({ properties: { kind: text }, default: {} }),
      [`${at}.default.apiVersion Required`, `${at}.default.kind Required`],
    ],
    [
      'an embedded default without a kind',
      ofPod({ kind: '%', apiVersion: 'a/b/c' }),
      [`${at}.default.apiVersion Invalid`, `${at}.default.kind Invalid`],
    ],
    ['an embedded default of a wrong type', ofPod({ kind: 42, apiVersion: 'a/b/c' }), [`${at}.default.kind Invalid`]],
    ['embedded metadata of a wrong type', ofPod({ metadata: { annotations: 42 } }), [`${at}.default.metadata Invalid`]],
    [
      'invalid embedded metadata',
      ofPod({ metadata: { name: '../x', labels: { '-': 'a' } } }),
      [`${at}.default.metadata.labels Invalid`, `${at}.default.metadata.name Invalid`],
    ],
    ['unknown fields beside an embedded default', ofPod({ other: 1 }), [`${at}.default Invalid`]],
    [
      'an embedded object inside a default',
      about({
        type: 'object',
        properties: { e: { type: 'object', 'x-orch-embedded-resource': true, properties: { kind: text } } },
        default: { e: { kind: '%', apiVersion: 'v1' } },
      }),
      [`${at}.default.e.kind Invalid`],
    ],
    ['a kind with a default', inWhole({ kind: { ...text, default: 'Pod' } }), []],
    [
      'a kind with an invalid default',
      inWhole({ kind: { ...text, default: '%' } }),
      [`${at}.properties[kind].default Invalid`],
    ],
    ['a name with a default', ofName({ default: 'a' }), []],
    [
      'a name with an invalid default',
      ofName({ default: '..' }),
      [`${at}.properties[metadata].properties[name].default Invalid`],
    ],
    ['metadata with a default', inWhole({ metadata: { type: 'object', default: { unknown: 1, name: 'a' } } }), []],
    [
      'metadata with an invalid default',
      inWhole({ metadata: { type: 'object', default: { labels: { a: 'x y' } } } }),
      [`${at}.properties[metadata].default Invalid`],
    ],
  ]
  const cases: readonly (readonly [string, Json, readonly string[]])[] = [
    ['none', null, [' Required']],
    ['without a type', {}, ['type Required']],
    ['a root that is not an object', { type: 'string' }, ['type Invalid']],
    ['a property without a type', about({}), [`${at}.type Required`]],
    ['a property that is not a schema', about('x'), [`${at} TypeInvalid`]],
    ['an unknown type', about({ type: 'integr' }), [`${at}.type NotSupported`]],
    ['a list without items', about({ type: 'array' }), [`${at}.items Required`]],
    ['items as a list', about({ type: 'array', items: [{ type: 'string' }] }), [`${at}.items Forbidden`]],
    [
      'properties and additionalProperties',
      about({ type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } }),
      [`${at}.additionalProperties Forbidden`],
    ],
    ['references', about({ $ref: '#/x' }), [`${at}.$ref Forbidden`]],
    [
      'unique items',
      about({ type: 'array', uniqueItems: true, items: { type: 'string' } }),
      [`${at}.uniqueItems Forbidden`],
    ],
    [
      'integer or string in a nested anyOf',
      about({ type: 'object', allOf: [{ not: { anyOf: [{ type: 'integer' }, { type: 'string' }] } }] }),
      [`${at}.allOf[0].not.anyOf[0].type Forbidden`, `${at}.allOf[0].not.anyOf[1].type Forbidden`],
    ],
    [
      'integer or string as the second element of allOf',
      about({ 'x-orch-int-or-string': true, allOf: [{}, { anyOf: [{ type: 'integer' }, { type: 'string' }] }] }),
      [`${at}.allOf[1].anyOf[0].type Forbidden`, `${at}.allOf[1].anyOf[1].type Forbidden`],
    ],
    ['a type inside anyOf', about({ type: 'object', anyOf: [{ type: 'object' }] }), [`${at}.anyOf[0].type Forbidden`]],
    [
      'labels',
      { type: 'object', properties: { metadata: about({ type: 'object' }) } },
      ['properties[metadata] Forbidden'],
    ],
    [
      'a default for the name',
      {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'x' } } } },
      },
      ['properties[metadata].properties[name].default Forbidden'],
    ],
    ['a bad pattern', about({ type: 'string', pattern: '(' }), [`${at}.pattern Invalid`]],
    ['a pattern with a back-reference', about({ type: 'string', pattern: '(a)\\1' }), [`${at}.pattern Invalid`]],
    [
      'a pattern that is too large',
      about({ type: 'string', pattern: '((a{100}){100}){100}' }),
      [`${at}.pattern Invalid`],
    ],
    ['a pattern that is too long', about({ type: 'string', pattern: 'a'.repeat(5000) }), [`${at}.pattern Invalid`]],
    ['a malformed keyword', about({ type: 'integer', minimum: 'x' }), [`${at}.minimum TypeInvalid`]],
    ['a negative length', about({ type: 'string', maxLength: -1 }), [`${at}.maxLength TypeInvalid`]],
    ['a multipleOf of zero', about({ type: 'integer', multipleOf: 0 }), [`${at}.multipleOf Invalid`]],
    ['too deep', nest(100), [' Forbidden']],
    ['too large', { type: 'object', properties: many }, [' Forbidden']],
    [
      'preserve-unknown-fields set to false',
      { type: 'object', 'x-orch-preserve-unknown-fields': false },
      ['x-orch-preserve-unknown-fields Invalid'],
    ],
    ['a list type of a string', about({ type: 'string', 'x-orch-list-type': 'set' }), [`${at}.type Invalid`]],
    [
      'an unknown list type',
      listed({ 'x-orch-list-type': 'bag', items: item }),
      [`${at}.x-orch-list-type NotSupported`],
    ],
    ['a keyed list without keys', listed({ items: item }), [`${at}.x-orch-list-map-keys Required`]],
    ['an unknown key', listed({ 'x-orch-list-map-keys': ['z'], items: item }), [`${at}.x-orch-list-map-keys Invalid`]],
    [
      'an optional list key',
      listed({ 'x-orch-list-map-keys': ['n'], items: item }),
      [`${at}.items.properties[n].default Required`],
    ],
    ['a set of objects', listed({ 'x-orch-list-type': 'set', items: item }), [`${at}.items.x-orch-map-type Invalid`]],
    [
      'an unknown map type',
      about({ type: 'object', 'x-orch-map-type': 'odd' }),
      [`${at}.x-orch-map-type NotSupported`],
    ],
    [
      'an embedded resource without properties',
      about({ type: 'object', 'x-orch-embedded-resource': true }),
      [`${at}.properties Required`],
    ],
    ['a default of the wrong type', about({ type: 'integer', default: 'x' }), [`${at}.default Invalid`]],
    ['a default outside the limits', about({ type: 'integer', maximum: 5, default: 6 }), [`${at}.default Invalid`]],
    ['a default with unknown fields', about({ ...item, default: { c: 'd' } }), [`${at}.default Invalid`]],
    [
      'parts of a default, each with its path',
      about({
        type: 'object',
        required: ['c'],
        properties: {
          a: { type: 'integer' },
          b: { type: 'string', enum: ['x'] },
          l: { type: 'array', items: { type: 'integer' } },
        },
        default: { a: 'x', b: 'y', l: ['z'] },
      }),
      [
        `${at}.default.a Invalid`,
        `${at}.default.b NotSupported`,
        `${at}.default.c Required`,
        `${at}.default.l Invalid`,
      ],
    ],
    [
      'a default of list elements',
      about({ type: 'array', items: { type: 'integer', default: 'x' } }),
      [`${at}.items.default Invalid`],
    ],
    [
      'a default that matches none of two alternatives',
      about({ type: 'integer', default: 5, anyOf: [{ maximum: 3 }, { minimum: 7 }] }),
      [`${at}.default Invalid`, `${at}.default Invalid`],
    ],
    ['a default of map values', about({ type: 'object', additionalProperties: { type: 'integer', default: 'x' } }), []],
    [
      'elements of a default',
      about({ type: 'array', items: { type: 'integer' }, default: ['x'] }),
      [`${at}.default Invalid`],
    ],
    ...embeddedDefaults,
  ]
  for (const [name, schema, expected] of cases)
    test(name, async () => {
      assert.deepEqual(await faultsOf(schema), expected)
    })

  const newer: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ['a nullable root', { ...about(text), nullable: true }, ['nullable Forbidden']],
    [
      'additional keywords at the root',
      { type: 'object', additionalProperties: text },
      ['additionalProperties Forbidden'],
    ],
    [
      'a wrong type of kind and metadata',
      { type: 'object', properties: { kind: { type: 'integer' }, metadata: text } },
      ['properties[kind].type Invalid', 'properties[metadata].type Invalid'],
    ],
    [
      'constraints on metadata other than names',
      { type: 'object', properties: { metadata: { type: 'object', required: ['name'] } } },
      ['properties[metadata] Forbidden'],
    ],
    [
      'a default anywhere in metadata',
      { type: 'object', properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'a' } } } } },
      ['properties[metadata].properties[name].default Forbidden'],
    ],
    [
      'a kind without a type in an embedded object',
      whole({ properties: { kind: {} } }),
      [`${at}.properties[kind].type Invalid`, `${at}.properties[kind].type Required`],
    ],
    [
      'additionalProperties of an embedded object',
      whole({ 'x-orch-preserve-unknown-fields': true, additionalProperties: text }),
      [`${at}.additionalProperties Forbidden`],
    ],
    [
      'an int-or-string that preserves unknown fields',
      about({ 'x-orch-int-or-string': true, 'x-orch-preserve-unknown-fields': true }),
      [`${at}.x-orch-preserve-unknown-fields Invalid`],
    ],
    [
      'nullable elements of a set',
      about({ type: 'array', 'x-orch-list-type': 'set', items: { ...text, nullable: true } }),
      [`${at}.items.nullable Forbidden`],
    ],
    [
      'constraints on undeclared fields',
      { ...about(text), anyOf: [{ properties: { b: {}, a: { not: { properties: { c: {} } } } } }] },
      ['properties[a].properties[c] Required', 'properties[b] Required'],
    ],
    [
      'constraints on metadata',
      about({ type: 'object', not: { properties: { metadata: {} } } }),
      [`${at}.not.properties[metadata] Forbidden`],
    ],
    ['an id', about({ ...text, id: 'x' }), [`${at}.id Forbidden`]],
  ]
  for (const [name, schema, expected] of newer)
    test(`a schema is rejected unless it was stored before: ${name}`, async () => {
      assert.deepEqual(await faultsOf(schema), expected)
      const read = await readStructuralSchema(schema, vendor, { path: '', stored: true })
      const left = read.outcome === 'invalid' ? read.faults.map(({ fault }) => fault) : []
      assert.deepEqual(left, name.startsWith('a kind') ? ['FieldValueRequired'] : [])
    })

  test('with a status subresource, only a few keywords are allowed at the root of the schema', async () => {
    const read = (schema: Json) => readStructuralSchema(schema, vendor, { path: '', hasStatus: true })
    assert.equal((await read({ ...about(text), required: ['a'], nullable: false })).outcome, 'schema')
    const refused = await read({ ...about(text), maxProperties: 3 })
    assert.deepEqual(refused.outcome === 'invalid' && refused.faults.map(({ fault }) => fault), ['FieldValueInvalid'])
  })

  test('all schema errors are reported at once, up to a limit', async () => {
    const all = { properties: { a: {}, b: { type: 'array' }, c: { type: 'null' } }, nullable: true }
    assert.deepEqual(await faultsOf(all), [
      'nullable Forbidden',
      'properties[a].type Required',
      'properties[b].items Required',
      'properties[c].type Forbidden',
      'properties[c].type NotSupported',
      'type Required',
    ])
    const bad = { type: 'null', uniqueItems: true, id: 'x', multipleOf: 0, $ref: 'y', default: 1 }
    const members = Object.fromEntries(Array.from({ length: 19_000 }, (_, i) => [`p${i}`, bad]))
    assert.ok((await faultsOf({ type: 'object', properties: members })).length <= 1100)
  })

  test('a default or a schema keyword with the value null is ignored', async () => {
    assert.deepEqual(await faultsOf(about({ type: 'string', default: null, pattern: null })), [])
  })
})

describe('which types int-or-string schemas allow', () => {
  const either = [{ type: 'integer' }, { type: 'string' }]
  const marked = { 'x-orch-int-or-string': true }
  const cases: readonly (readonly [string, JsonObject])[] = [
    ['anyOf', { ...marked, anyOf: either }],
    ['anyOf as the first element of allOf', { ...marked, allOf: [{ anyOf: either }, { pattern: '^a' }] }],
  ]
  for (const [name, property] of cases)
    test(name, async () => {
      const schema = await schemaOf(about(property))
      const textsFor = (a: Json) => validate(schema, { metadata: {}, a }, context).map(({ path, text }) => [path, text])
      assert.deepEqual(textsFor(7), [])
      assert.deepEqual(textsFor('abc'), [])
      const texts = textsFor(true).map(([path, text]) => `${path}: ${text}`)
      assert.ok(texts.includes('a: Invalid value: "boolean": a in body must be of type integer,string: "boolean"'))
      assert.ok(texts.includes('<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)'))
      assert.ok(texts.includes('a: Invalid value: "boolean": a in body must be of type integer: "boolean"'))
    })
})

describe('value constraints in a schema', () => {
  const scalar = (fields: JsonObject) => ({ type: 'string', ...fields })
  const list = { type: 'array', items: { type: 'string', maxLength: 3 }, minItems: 1, maxItems: 2 }
  const cases: readonly (readonly [string, JsonObject, Json, readonly string[]])[] = [
    ['a type', { type: 'integer' }, 'five', ['a Invalid']],
    ['an integer', { type: 'integer' }, 1.5, ['a Invalid']],
    ['a large integer is an integer', { type: 'integer' }, 2n ** 60n, []],
    ['a minimum', { type: 'integer', minimum: 1 }, 0, ['a Invalid']],
    ['an exclusive minimum', { type: 'number', minimum: 0, exclusiveMinimum: true }, 0, ['a Invalid']],
    ['a maximum', { type: 'integer', maximum: 10 }, 11, ['a Invalid']],
    ['a multiple', { type: 'integer', multipleOf: 2 }, 3, ['a Invalid']],
    ['an enum', scalar({ enum: ['red'] }), 'green', ['a NotSupported']],
    [
      'a pattern, not reported if the text is too short',
      scalar({ pattern: '^[a-z]+$', minLength: 2 }),
      '!',
      ['a Invalid'],
    ],
    ['lengths in characters, not UTF-16 units', scalar({ maxLength: 1 }), '😀', []],
    ['elements', list, ['abcd', 'b', 'c'], ['a Invalid', 'a Invalid']],
    ['some elements', list, [], ['a Invalid']],
    ['duplicates in an atomic list are allowed', list, ['b', 'b'], []],
    [
      'values of a map',
      { type: 'object', additionalProperties: { type: 'boolean' }, maxProperties: 1 },
      { x: 1 },
      ['a.x Invalid'],
    ],
    ['few members', { type: 'object', additionalProperties: true, maxProperties: 1 }, { x: 1, y: 2 }, ['a Invalid']],
    ['members', { type: 'object', required: ['b'], properties: { b: { type: 'string' } } }, {}, ['a.b Required']],
    [
      'an empty member satisfies required',
      { type: 'object', required: ['b'], properties: { b: { type: 'string' } } },
      { b: '' },
      [],
    ],
    ['a time', scalar({ format: 'date-time' }), 'yesterday', ['a Invalid']],
    ['number formats are not enforced', { type: 'integer', format: 'int32' }, 2 ** 31, []],
    ['the format byte', scalar({ format: 'byte' }), '', ['a Invalid']],
    ['a duration', scalar({ format: 'duration' }), '3 fortnights', ['a Invalid']],
    ['a duration in words', scalar({ format: 'duration' }), '3 days', []],
    ['an enum together with a type', scalar({ enum: ['red'] }), 17, ['a Invalid', 'a NotSupported']],
    ['equal errors of several elements are reported once', list, ['abcd', 'efgh'], ['a Invalid']],
    [
      'too few members, whose values are not validated',
      { type: 'object', minProperties: 2, properties: { b: { type: 'string' } } },
      { b: 1 },
      ['a Invalid'],
    ],
    ['null is not checked against an enum', scalar({ nullable: true, enum: ['x'] }), null, ['a NotSupported']],
    [
      'errors of the closest failing alternative',
      {
        type: 'object',
        'x-orch-preserve-unknown-fields': true,
        anyOf: [{ required: ['x'] }, { properties: { y: { enum: [1] }, z: { maximum: 1 } } }],
      },
      { y: 2, z: 2 },
      ['<nil> Invalid', 'a.y NotSupported', 'a.z Invalid'],
    ],
    ['unknown formats are ignored', scalar({ format: 'whatever' }), 'x', []],
    ['an int-or-string', { 'x-orch-int-or-string': true }, true, ['a Invalid']],
    ['a string as int-or-string', { 'x-orch-int-or-string': true }, 'http', []],
    ['null where it is allowed', scalar({ nullable: true, minLength: 3 }), null, []],
    [
      'unique elements',
      { type: 'array', 'x-orch-list-type': 'set', items: { type: 'integer' } },
      [2n ** 60n, 2n ** 60n],
      ['a[1] Duplicate'],
    ],
    [
      'elements of a keyed list must be objects with unique keys',
      {
        type: 'array',
        items: {
          type: 'object',
          required: ['n'],
          properties: {
            n: { type: 'string' },
            l: { type: 'array', 'x-orch-list-type': 'set', items: { type: 'integer' } },
          },
        },
        'x-orch-list-type': 'map',
        'x-orch-list-map-keys': ['n'],
      },
      [{ n: 'a', l: [1, 1] }, { n: 'a' }, 'b'],
      ['a Invalid', 'a[0].l[1] Duplicate', 'a[1] Duplicate', 'a[2] Invalid'],
    ],
    [
      'a oneOf constraint',
      { type: 'object', 'x-orch-preserve-unknown-fields': true, oneOf: [{ required: ['x'] }, { required: ['y'] }] },
      { x: 1, y: 1 },
      ['<nil> Invalid'],
    ],
    [
      'an anyOf constraint',
      { type: 'integer', anyOf: [{ minimum: 5 }, { multipleOf: 2 }] },
      3,
      ['<nil> Invalid', 'a Invalid'],
    ],
    [
      'an allOf constraint',
      { type: 'integer', allOf: [{ minimum: 5 }, { multipleOf: 2 }] },
      7,
      ['<nil> Invalid', 'a Invalid'],
    ],
    ['a not constraint', { type: 'integer', not: { enum: [13] } }, 13, ['<nil> Invalid']],
    [
      'required fields of an embedded object',
      { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true },
      { apiVersion: 'v1', metadata: { labels: { 'a b': 'c' } } },
      ['a.kind Required', 'a.metadata.labels Invalid'],
    ],
    [
      'schema constraints on embedded metadata',
      {
        type: 'object',
        'x-orch-embedded-resource': true,
        properties: {
          metadata: {
            type: 'object',
            required: ['namespace'],
            properties: { name: { type: 'string', maxLength: 2 }, labels: { type: 'object', maxProperties: 1 } },
          },
        },
      },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'abc', labels: { a: '', b: '' } } },
      ['a.metadata.labels Invalid', 'a.metadata.name Invalid', 'a.metadata.namespace Required'],
    ],
    [
      'metadata validation of an embedded object',
      { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: '../x',
          namespace: 'A_',
          finalizers: ['a', 'b c'],
          annotations: { 'a/b/c': '' },
          generateName: 'a/',
        },
      },
      ['annotations', 'finalizers', 'generateName', 'name', 'namespace'].map((name) => `a.metadata.${name} Invalid`),
    ],
    [
      'a property name inherited from Object',
      { type: 'object', properties: { constructor: { type: 'string' }, toString: { type: 'string' } } },
      {},
      [],
    ],
  ]
  for (const [name, property, value, expected] of cases)
    test(name, async () => {
      const schema = await schemaOf(about(property))
      const decoded = decode(schema, { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, a: value })
      const rules = objectRules(schema, undefined)
      const errors = [
        ...validate(schema, decoded.value, context),
        ...(rules === undefined ? [] : runToCompletion(rules(asObject(decoded.value)))),
      ]
      assert.deepEqual(errors.map(({ fault, path }) => `${path} ${fault.replace('FieldValue', '')}`).sort(), expected)
    })

  test('matching a hostile schema pattern takes linear time', async () => {
    const schema = await schemaOf(about({ type: 'string', pattern: '^(a+)+$' }))
    const decoded = decode(schema, { metadata: {}, a: `${'a'.repeat(50_000)}!` })
    assert.equal(validate(schema, decoded.value, context).length, 1)
  })
})

describe('a large value is validated in short steps that can be interrupted', () => {
  const many = 20_000
  const list = <T>(item: (i: number) => T) => Array.from({ length: many }, (_, i) => item(i))
  const text = { type: 'string', maxLength: 20 }
  const namedSchema = { type: 'object', required: ['name'], properties: { name: text } }
  const set = { type: 'array', 'x-orch-list-type': 'set', items: text }
  const embedded = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
  const object = () => ({ apiVersion: 'v1', kind: 'A', metadata: { labels: { a: 'b' } } })
  const rows: readonly (readonly [string, JsonObject, Json])[] = [
    ['embedded objects', { type: 'array', items: embedded }, list(object)],
    ['embedded objects in a map', { type: 'object', additionalProperties: embedded }, { ...list(object) }],
    [
      'embedded objects in many small lists',
      { type: 'array', items: { type: 'array', items: embedded } },
      list((i) => i).flatMap((i) => (i % 100 === 0 ? [Array.from({ length: 100 }, object)] : [])),
    ],
    ['the elements of a set', set, list((i) => `e${i}`)],
    [
      'elements of a keyed list',
      { type: 'array', 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'], items: namedSchema },
      list((i) => ({ name: `e${i}` })),
    ],
    ['a list in a list', { type: 'array', items: set }, [list((i) => `e${i}`)]],
    ['a set in an embedded object', { ...embedded, properties: { s: set } }, { ...object(), s: list((i) => `e${i}`) }],
  ]

  /** Returns the result of the work and how often it yielded. */
  function run<T>(work: Sliced<T>): { steps: number; result: T } {
    for (let steps = 0; ; steps++) {
      const step = work.next()
      if (step.done) return { steps, result: step.value }
    }
  }

  for (const [what, property, value] of rows)
    test(what, async () => {
      const schema = await schemaOf(about(property))
      const decoding = run(decodeSliced(schema, { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, a: value }))
      assert.ok(decoding.steps >= many / 1000, `decoded in ${decoding.steps} steps`)
      const decoded = decoding.result.value
      const judging = run(objectRules(schema, undefined)!(asObject(decoded)))
      assert.deepEqual(judging.result, [])
      assert.ok(judging.steps >= many / 1000, `judged in ${judging.steps} steps`)
      const validating = run(validateSliced(schema, decoded, context))
      assert.deepEqual(validating.result, validate(schema, decoded, context))
      if (validating.steps > 0) assert.ok(validating.steps >= many / 1000, `validated in ${validating.steps} steps`)
    })

  test('schema defaults are applied to the elements of large lists and maps', async () => {
    const item = { type: 'object', default: {}, properties: { p: { type: 'integer', default: 3 } } }
    const lists = {
      type: 'object',
      properties: { l: { type: 'array', items: item }, m: { type: 'object', additionalProperties: item } },
    }
    const schema = await schemaOf(about(lists))
    const values = () => ({ l: [null, ...list(() => ({}))], m: { ...list((i) => (i === 1 ? { p: 4 } : {})) } })
    const filled = { a: values() }
    const whole = { a: values() }
    const filling = run(fillWithinLimits(schema, filled, context))
    assert.equal(filling.result, undefined)
    assert.ok(filling.steps >= many / 500, `filled in ${filling.steps} steps`)
    fillDefaults(schema, whole, { context })
    assert.deepEqual(filled, whole)
    assert.deepEqual(filled.a.l[0], { p: 3 })
    const tooMany = { a: { l: list(() => ({ q: { r: { s: 1 } } })), m: {} } }
    assert.equal(run(fillWithinLimits(schema, tooMany, context)).result?.path, 'a.l[19996].p')
  })

  test('large values get the same validation errors as small values', async () => {
    const schema = await schemaOf(about(rows[0]![1]))
    const faulty = { kind: 'A', metadata: { name: '..', finalizers: ['a', 'a'] } }
    const faultsOf = (a: Json) => run(objectRules(schema, undefined)!(asObject({ a }))).result
    const few = faultsOf([faulty])
    assert.deepEqual(
      few.map(({ path }) => path),
      ['a[0].apiVersion', 'a[0].metadata.name', 'a[0].metadata.finalizers[1]'],
    )
    assert.deepEqual(faultsOf([faulty, ...list(object)]), few)
    const all = faultsOf(list(() => faulty))
    assert.equal(all.length, maxFaults)
    assert.deepEqual(all.slice(0, few.length), few)
  })
})

describe('decoding values with a schema', () => {
  async function completed(schema: Json, value: JsonObject): Promise<{ value: Json; unknown: readonly string[] }> {
    const read = await schemaOf(schema)
    const { value: decoded, unknown } = decode(read, value)
    fillDefaults(read, decoded, { context })
    const { metadata: _, ...rest } = decoded as JsonObject
    return { value: rest, unknown }
  }

  test('decoding with a schema prunes unknown fields unless the schema preserves them', async () => {
    const known = { type: 'object', properties: { k: { type: 'string' } } }
    const free = { type: 'object', 'x-orch-preserve-unknown-fields': true, properties: { known } }
    const schema = { type: 'object', properties: { free, list: { type: 'array', items: known } } }
    const sent = { top: 1, free: { any: [null, { two: 3 }], known: { k: 'k', l: 'm' } }, list: [{ k: '1', m: 2 }] }
    assert.deepEqual(await completed(schema, sent), {
      value: { free: { any: [null, { two: 3 }], known: { k: 'k' } }, list: [{ k: '1' }] },
      unknown: ['top', 'free.known.l', 'list[0].m'],
    })
  })

  test('a list whose schema preserves unknown fields keeps them in its elements', async () => {
    const known = { type: 'object', properties: { k: { type: 'object', properties: { n: { type: 'string' } } } } }
    const free = { type: 'array', 'x-orch-preserve-unknown-fields': true, items: known }
    const deep = { ...free, items: { type: 'array', items: known } }
    const sent = { free: [{ x: 1, k: { n: 'n', o: 2 } }], deep: [[{ y: 1 }]] }
    assert.deepEqual(await completed({ type: 'object', properties: { free, deep } }, sent), {
      value: { free: [{ x: 1, k: { n: 'n' } }], deep: [[{ y: 1 }]] },
      unknown: ['free[0].k.o'],
    })
  })

  test('schema constraints on members apply even to values without a type', async () => {
    const known = { type: 'object', properties: { n: { type: 'integer', default: 1 } } }
    const a = { 'x-orch-preserve-unknown-fields': true, properties: { known } }
    assert.deepEqual((await completed(about(a), { a: { known: { x: 1 }, other: 2 } })).value, {
      a: { other: 2, known: { n: 1 } },
    })
    assert.deepEqual((await completed(about(a), { a: 'text' })).value, { a: 'text' })
    assert.deepEqual(validate(await schemaOf(about(a)), { metadata: {}, a: 'text' }, context), [])
  })

  test('a null value is dropped if the field is not nullable, or replaced by the default', async () => {
    const properties = {
      opt: { type: 'string', nullable: true, default: 'd' },
      size: { type: 'integer', default: 3 },
      color: { type: 'string' },
      map: { type: 'object', additionalProperties: { type: 'string' } },
    }
    const sent = { opt: null, size: null, color: null, map: { a: null, b: 'b' } }
    assert.deepEqual((await completed({ type: 'object', properties }, sent)).value, {
      opt: null,
      size: 3,
      map: { b: 'b' },
    })
  })

  test('a null value in a list or map is replaced by the default of the element', async () => {
    const text = { type: 'string', default: 'd' }
    const object = { type: 'object', default: { a: 1 }, properties: { a: { type: 'integer' }, b: text } }
    const properties = {
      list: { type: 'array', items: text },
      map: { type: 'object', additionalProperties: text },
      objects: { type: 'array', items: object },
      nullable: { type: 'array', items: { ...text, nullable: true } },
      none: { type: 'array', items: { type: 'string' } },
    }
    const map = JSON.parse('{"__proto__":null,"x":"y"}')
    const sent = { list: [null, 'a'], map, objects: [null, {}], nullable: [null], none: [null] }
    const { value } = await completed({ type: 'object', properties }, sent)
    assert.equal(
      JSON.stringify(value),
      '{"list":["d","a"],"map":{"__proto__":"d","x":"y"},"objects":[{"a":1,"b":"d"},{"b":"d"}],"nullable":[null],"none":[null]}',
    )
  })

  test('fields in map values without a schema type are treated as unknown', async () => {
    const properties = { map: { type: 'object', additionalProperties: true } }
    const sent = { map: { a: 1, b: { c: 1 }, d: [{ e: 1 }, 'f'] } }
    assert.deepEqual((await completed({ type: 'object', properties }, sent)).value, {
      map: { a: 1, b: {}, d: [{}, 'f'] },
    })
  })

  test('schema defaults are applied to the metadata of embedded resources', async () => {
    const text = { type: 'string' }
    const properties = {
      name: { ...text, default: 'n' },
      labels: { type: 'object', additionalProperties: text, default: { a: 'b' } },
    }
    const whole = (metadata: JsonObject) =>
      about({
        type: 'object',
        'x-orch-embedded-resource': true,
        properties: { metadata: { type: 'object', ...metadata } },
      })
    const pod = { apiVersion: 'v1', kind: 'Pod' }
    const filled = async (schema: JsonObject, metadata?: JsonObject) =>
      ((await completed(schema, { a: { ...pod, ...(metadata && { metadata }) } })).value as { a: JsonObject }).a
        .metadata
    assert.deepEqual(await filled(whole({ properties }), { name: 'm', labels: {} }), { name: 'm', labels: { a: 'b' } })
    assert.equal(await filled(whole({ properties })), undefined)
    assert.deepEqual(await filled(whole({ properties, default: { name: 'o' } })), { name: 'o', labels: { a: 'b' } })
  })

  test('schema defaults are applied inside other defaults', async () => {
    const size = { type: 'integer', default: 3 }
    const spec = { type: 'object', default: {}, properties: { size, nested: about(size) } }
    assert.deepEqual((await completed({ type: 'object', properties: { spec } }, {})).value, { spec: { size: 3 } })
  })

  test('decoding with a schema preserves zero values', async () => {
    const properties = {
      a: { type: 'string' },
      b: { type: 'integer' },
      c: { type: 'boolean' },
      d: about({ type: 'string' }),
    }
    const sent = { a: '', b: 0, c: false, d: {} }
    assert.deepEqual((await completed({ type: 'object', properties }, sent)).value, sent)
  })

  test('a schema field may have any name', async () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"object","properties":{"x":{"type":"integer","default":1}}},"constructor":{"type":"string","default":"c"}}',
    )
    const { value } = await completed({ type: 'object', properties }, JSON.parse('{"__proto__":{}}'))
    assert.equal(JSON.stringify(value), '{"__proto__":{"x":1},"constructor":"c"}')
  })
})
