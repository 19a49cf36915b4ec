/** Tests CEL rules as users see them: rejected definitions and objects, with paths and messages. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { assertBrief } from '../../support/effort.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { type InProcess, serve, startInProcess } from '../../support/in-process.ts'
import { define, definitionOf, definitions } from './definitions.ts'

let server: InProcess
let client: HttpClient
before(async () => {
  server = await startInProcess()
  client = server.client
})
after(() => server.stop())

const rules = 'x-orch-validations'
const text: JsonObject = { type: 'string', maxLength: 20 }
const integer: JsonObject = { type: 'integer' }

function objectOf(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...more }
}

function about(spec: JsonObject): JsonObject {
  return objectOf({ spec, status: objectOf({ size: integer }, { [rules]: [{ rule: 'self.size >= 0' }] }) })
}

interface Cause {
  readonly field: string
  readonly message: string
  readonly reason: string
}

/** Returns each cause in the form `path message`. */
function causesOf(answer: { readonly body: { readonly details?: { readonly causes?: readonly Cause[] } } }): string[] {
  return (answer.body.details?.causes ?? []).map(({ field, message }) => `${field} ${message}`)
}

describe('validation rules in definitions', () => {
  const place = 'spec.versions[0].schema.openAPIV3Schema'
  const shown = (rule: string) =>
    `Invalid value: apiextensions.ValidationRule{Rule:${JSON.stringify(rule)}, Message:""}`
  const inSpec = `${place}.properties[spec].${rules}[0]`
  const excess = (what: string, factor: string) =>
    `Forbidden: ${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
  const listOf = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more })
  const ruled = (schema: JsonObject, ...all: string[]) => ({ ...schema, [rules]: all.map((rule) => ({ rule })) })

  const refused: { readonly [title: string]: readonly [JsonObject, readonly string[]] } = {
    'a rule with an unknown field': [
      ruled(objectOf({ a: integer }), 'self.b > 1'),
      [
        `${inSpec}.rule ${shown('self.b > 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^`,
      ],
    ],
    'a rule that is not boolean': [
      ruled(integer, 'self + 1'),
      [`${inSpec}.rule ${shown('self + 1')}: cel expression must evaluate to a bool`],
    ],
    'an empty rule': [ruled(integer, ' '), [`${inSpec}.rule Required value: rule is not specified`]],
    'a blank message': [
      { ...integer, [rules]: [{ rule: 'self > 0', message: ' ' }] },
      [`${inSpec}.message Invalid value: " ": message must be non-empty if specified`],
    ],
    'a multi-line rule without a message': [
      ruled(integer, 'self > 0\n&& self < 5'),
      [`${inSpec}.message Required value: message must be specified if rule contains line breaks`],
    ],
    'a rule with too high a cost': [
      ruled(listOf({ type: 'string' }), 'self.all(a, self.all(b, a == b))'),
      [
        `${inSpec}.rule ${excess('estimated rule cost', 'more than 100x')}`,
        `${inSpec}.rule Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
        `${place} ${excess('x-orch-validations estimated rule cost total for entire OpenAPIv3 schema', 'more than 100x')}`,
      ],
    ],
    'a rule in an unbounded list': [
      listOf(ruled(text, 'self.contains("aaaaaaaaaaaaaaa")')),
      [`${place}.properties[spec].items.${rules}[0].rule ${excess('estimated rule cost', '1.8x')}`],
    ],
    'oldSelf in an uncorrelated list': [
      listOf(ruled(text, 'self == oldSelf'), { maxItems: 5 }),
      [
        `${place}.properties[spec].items.${rules}[0].rule Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${place}.properties[spec]`,
      ],
    ],
    'a rule on an untyped schema': [
      { 'x-orch-preserve-unknown-fields': true, [rules]: [{ rule: 'true' }] },
      [
        `${place}.properties[spec].${rules} Internal error: rule declared on schema that does not support validation rules type: '' x-orch-preserve-unknown-fields: 'true'`,
      ],
    ],
    'a rule in a logic keyword': [
      objectOf({ a: integer }, { allOf: [{ [rules]: [{ rule: 'true' }] }] }),
      [`${place}.properties[spec].allOf[0].${rules} Forbidden: must be empty to be structural`],
    ],
    'a default that violates a rule': [
      objectOf({ a: { ...ruled(integer, 'self > 5'), default: 1 } }),
      [`${place}.properties[spec].properties[a].default Invalid value: "integer": failed rule: self > 5`],
    ],
  }
  for (const [title, [spec, causes]] of Object.entries(refused)) {
    test(title, async () => {
      const answer = await client.post(
        definitions,
        definitionOf({ plural: 'refuseds', kind: 'Refused', schema: objectOf({ spec }) }),
      )
      assert.equal(answer.status, 422, answer.text)
      assert.deepEqual(causesOf(answer), causes)
    })
  }

  test('a definition with 10,000 rules does not block other requests', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `self.all(x, x > ${i})`)
    const schema = objectOf({ spec: ruled(listOf(integer, { maxItems: 100 }), ...many) })
    const definition = definitionOf({ plural: 'manys', kind: 'Many', schema })
    const { result } = await assertBrief(60, () => client.post(`${definitions}?dryRun=All`, definition))
    assert.ok([201, 422].includes(result.status), result.text.slice(0, 300))
  })
})

describe('validation rules on objects', () => {
  const path = '/apis/stable.example.com/v1/namespaces/default/ruleds'
  const keyed = { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'], maxItems: 10 }
  const part = objectOf(
    { name: text, size: { ...integer, [rules]: [{ rule: 'self >= oldSelf', message: 'may only grow' }] } },
    { required: ['name'], [rules]: [{ rule: 'self.name != "bad"' }] },
  )
  const spec = objectOf(
    {
      min: integer,
      max: integer,
      fixed: { ...text, [rules]: [{ rule: 'self == oldSelf', message: 'is immutable' }] },
      parts: { type: 'array', items: part, ...keyed },
      labels: {
        type: 'object',
        maxProperties: 10,
        additionalProperties: { ...text, [rules]: [{ rule: 'self != ""' }] },
      },
      port: { 'x-orch-int-or-string': true, [rules]: [{ rule: 'self < 10' }] },
      pattern: { ...text, pattern: '^a' },
    },
    { [rules]: [{ rule: '!has(self.min) || self.min <= self.max', message: ' min is above max ' }] },
  )
  const schema: JsonObject = { ...about(spec), [rules]: [{ rule: 'self.metadata.name.startsWith("ok-")' }] }
  before(() => define(client, { plural: 'ruleds', kind: 'Ruled', schema, version: { subresources: { status: {} } } }))

  const objectWith = (spec: JsonObject, more: JsonObject = {}) => ({
    apiVersion: 'stable.example.com/v1',
    kind: 'Ruled',
    metadata: { name: 'ok-new' },
    spec,
    ...more,
  })

  const rows: { readonly [title: string]: readonly [JsonObject, readonly string[]] } = {
    'a rule that holds': [{ min: 1, max: 2 }, []],
    'the message of a rule': [{ min: 3, max: 2 }, ['spec Invalid value: "object": min is above max']],
    'a missing field': [
      { min: 3 },
      ['spec Invalid value: "object": no such key: max evaluating rule: min is above max'],
    ],
    'transition rules are skipped on create': [{ fixed: 'a', parts: [{ name: 'a', size: 1 }] }, []],
    'elements of a list': [
      { parts: [{ name: 'a' }, { name: 'bad' }] },
      ['spec.parts[1] Invalid value: "object": failed rule: self.name != "bad"'],
    ],
    'values of a map': [
      { labels: { 'a.b': '' } },
      ['spec.labels[a.b] Invalid value: "string": failed rule: self != ""'],
    ],
    'a value of a wrong type': [
      { port: 'x' },
      [
        `spec.port Invalid value: "": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self < 10`,
      ],
    ],
    'schema errors come first': [
      { pattern: 'b', min: 3, max: 2 },
      [`spec.pattern Invalid value: "b": spec.pattern in body should match '^a'`],
    ],
  }
  for (const [title, [spec, causes]] of Object.entries(rows)) {
    test(title, async () => {
      const answer = await client.post(`${path}?dryRun=All`, objectWith(spec))
      assert.equal(answer.status, causes.length === 0 ? 201 : 422, answer.text)
      assert.deepEqual(causesOf(answer), causes)
    })
  }

  test('the error for a rule that applies to the whole custom object contains no field path', async () => {
    const answer = await client.post(path, { ...objectWith({}), metadata: { name: 'new' } })
    assert.deepEqual(causesOf(answer), [
      '<nil> Invalid value: "object": failed rule: self.metadata.name.startsWith("ok-")',
    ])
    assert.match(
      answer.body.message,
      /^Ruled.stable.example.com "new" is invalid: <nil>: Invalid value: "object": failed rule/,
    )
  })

  test('validation rules compare the new value with the previous value in every kind of update', async () => {
    const name = `${path}/ok-all`
    const first = { fixed: 'a', parts: [{ name: 'a', size: 5 }, { name: 'b', size: 5 }] } // biome-ignore format: one line
    const made = await client.post(path, { ...objectWith(first), metadata: { name: 'ok-all' } })
    assert.equal(made.status, 201, made.text)
    const grown = { ...made.body, spec: { fixed: 'a', parts: [{ name: 'b', size: 6 }, { name: 'a', size: 4 }] } } // biome-ignore format: one line
    const updated = await client.send(name, { method: 'PUT', body: grown })
    assert.deepEqual(causesOf(updated), ['spec.parts[1].size Invalid value: "integer": may only grow'])
    const patch = (type: string, body: unknown, at = name) =>
      client.send(at, { method: 'PATCH', headers: { 'content-type': `application/${type}` }, body })
    const merged = await patch('merge-patch+json', { spec: { fixed: 'b' } })
    assert.deepEqual(causesOf(merged), ['spec.fixed Invalid value: "string": is immutable'])
    const patched = await patch('json-patch+json', [{ op: 'replace', path: '/spec/fixed', value: 'b' }])
    assert.deepEqual(causesOf(patched), ['spec.fixed Invalid value: "string": is immutable'])
    const applied = await patch(
      'apply-patch+yaml',
      objectWith({ fixed: 'b' }, { metadata: { name: 'ok-all' } }),
      `${name}?fieldManager=m&force=true`,
    )
    assert.deepEqual(causesOf(applied), ['spec.fixed Invalid value: "string": is immutable'])
    const status = await patch('merge-patch+json', { status: { size: -1 } }, `${name}/status`)
    assert.deepEqual(causesOf(status), ['status Invalid value: "object": failed rule: self.size >= 0'])
    const sound = await patch('merge-patch+json', { spec: { parts: [{ name: 'a', size: 6 }, { name: 'c', size: 1 }] } }) // biome-ignore format: one line
    assert.equal(sound.status, 200, sound.text)
  })

  test('a custom object whose validation takes too long is rejected without blocking other requests', async () => {
    const items = { type: 'array', items: { type: 'integer' }, maxItems: 1100 }
    const slow = { ...items, [rules]: [{ rule: 'self.all(a, self.all(b, a + b >= 0))' }] }
    await define(client, { plural: 'slows', kind: 'Slow', schema: objectOf({ spec: slow }) })
    const spec = Array.from({ length: 1100 }, (_, i) => i)
    const body = { apiVersion: 'stable.example.com/v1', kind: 'Slow', metadata: { name: 'a' }, spec }
    const url = '/apis/stable.example.com/v1/namespaces/default/slows'
    const { result } = await assertBrief(80, () => client.post(`${url}?dryRun=All`, body))
    const why = `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule`
    assert.deepEqual(causesOf(result), [`spec Invalid value: "array": ${why}: self.all(a, self.all(b, a + b >= 0))`])
  })
})

test('with the feature gate disabled, validation rules are stored but not enforced', async (t) => {
  const served = await serve(t, ['--feature-gates=CustomResourceValidationExpressions=false'])
  const client = served.client()
  const broken = { rule: 'self.nothing(', message: 'm' }
  const schema = objectOf({ spec: { ...integer, [rules]: [{ rule: 'self > 5' }, broken] } })
  await define(client, { schema })
  const kept = await client.get(`${definitions}/widgets.stable.example.com`)
  assert.deepEqual(kept.body.spec.versions[0].schema.openAPIV3Schema.properties.spec[rules][1], broken)
  const body = { apiVersion: 'stable.example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: 1 }
  const made = await client.post('/apis/stable.example.com/v1/namespaces/default/widgets', body)
  assert.equal(made.status, 201, made.text)
})
