/**
 * Tests the OpenAPI schemas of custom kinds. In version 3, they are complete. In version 2, they are reduced to the
 * features that kubectl supports.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { Definitions } from '../../../src/api/schema/openapi.ts'
import { readStructuralSchema } from '../../../src/apiserver/custom/schema/structural-schema.ts'

const vendor = vendorOf('orch')

async function published(schema: JsonObject, version: 2 | 3): Promise<JsonObject> {
  const read = await readStructuralSchema(schema, vendor, { path: '' })
  assert.equal(read.outcome, 'schema', JSON.stringify(read))
  if (read.outcome !== 'schema') return {}
  return new Definitions(vendor, version).write(read.schema, '.com.example.v1')
}

/** Returns the published schema of one property of the spec. */
async function ofProperty(property: JsonObject, version: 2 | 3): Promise<Json | undefined> {
  const { properties } = await published({ type: 'object', properties: { a: property } }, version)
  return (properties as JsonObject).a
}

const open = { 'x-orch-preserve-unknown-fields': true }
const members = { type: 'object', properties: { b: { type: 'string' } } }

describe('OpenAPI version 2', () => {
  const cases: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['an integer gets no added format', { type: 'integer' }, { type: 'integer' }],
    [
      'limits, patterns, enums and formats are kept, defaults are dropped',
      { type: 'string', minLength: 0, maxLength: 5, pattern: '^a', enum: ['a'], format: 'x', title: 't', default: 'a' },
      { type: 'string', minLength: 0, maxLength: 5, pattern: '^a', enum: ['a'], format: 'x', title: 't' },
    ],
    [
      'large limits stay exact',
      { type: 'integer', maximum: 2n ** 60n, exclusiveMinimum: false },
      { type: 'integer', maximum: 2n ** 60n },
    ],
    ['a list gets no added list type', { type: 'array', items: members }, { type: 'array', items: members }],
    [
      'list types are kept',
      { type: 'array', 'x-orch-list-type': 'set', items: { type: 'string' } },
      { type: 'array', 'x-orch-list-type': 'set', items: { type: 'string' } },
    ],
    ['an object with preserved fields keeps only the extension', { ...members, ...open }, open],
    ['a list with preserved fields keeps only the extension', { type: 'array', items: members, ...open }, open],
    [
      'a nullable value has no type and no members',
      { ...members, nullable: true, description: 'd' },
      { description: 'd' },
    ],
    [
      'a nullable member is not required',
      {
        type: 'object',
        required: ['b', 'c'],
        properties: { b: { type: 'string', nullable: true }, c: { type: 'string' } },
      },
      { type: 'object', required: ['c'], properties: { b: {}, c: { type: 'string' } } },
    ],
    [
      'a map of nullable values',
      { type: 'object', additionalProperties: { type: 'string', nullable: true } },
      { type: 'object', additionalProperties: {} },
    ],
    [
      'a map of any values',
      { type: 'object', additionalProperties: true },
      { type: 'object', additionalProperties: true },
    ],
    [
      'an int-or-string keeps only the extension',
      { 'x-orch-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^1' },
      { 'x-orch-int-or-string': true, pattern: '^1' },
    ],
    [
      'logic keywords and rules are dropped',
      { type: 'integer', not: { minimum: 1 }, oneOf: [{ maximum: 9 }], 'x-orch-validations': [{ rule: 'self > 0' }] },
      { type: 'integer' },
    ],
    [
      'an embedded object with preserved fields',
      { type: 'object', ...open, 'x-orch-embedded-resource': true },
      {
        ...open,
        'x-orch-embedded-resource': true,
      },
    ],
  ]
  for (const [name, property, expected] of cases)
    test(name, async () => {
      assert.deepEqual(await ofProperty(property, 2), expected)
    })

  test('if a type preserves unknown fields at the root, OpenAPI describes the type as a plain object', async () => {
    assert.deepEqual(await published({ ...members, ...open }, 2), { type: 'object' })
  })

  test('every published custom type has apiVersion, kind and metadata, regardless of its schema', async () => {
    const properties = { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } }
    const written = await published({ type: 'object', properties, required: ['metadata'] }, 2)
    assert.deepEqual(Object.keys(written.properties as JsonObject).sort(), ['apiVersion', 'kind', 'metadata'])
    assert.match(JSON.stringify(written), /"\$ref":"#\/definitions\/[\w.]*meta\.v1\.ObjectMeta"/)
  })

  test('an embedded resource is published with its own apiVersion, kind and metadata', async () => {
    const written = (await ofProperty(
      { ...members, required: ['b'], 'x-orch-embedded-resource': true },
      2,
    )) as JsonObject
    assert.deepEqual(written.required, ['b', 'kind', 'apiVersion'])
    assert.deepEqual(Object.keys(written.properties as JsonObject).sort(), ['apiVersion', 'b', 'kind', 'metadata'])
  })
})

test('OpenAPI version 3 contains the complete schema', async () => {
  const property = {
    type: 'object',
    nullable: true,
    default: { b: 1 },
    required: ['b'],
    properties: { b: { type: 'integer', minimum: 0 } },
    ...open,
    anyOf: [{ required: ['b'] }, { properties: { b: { maximum: 3 } } }],
    not: { required: ['c'] },
    'x-orch-validations': [{ rule: 'self.b > 0', message: 'm' }],
  }
  assert.deepEqual(await ofProperty(property, 3), property)
})
