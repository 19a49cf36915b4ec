/**
 * Tests custom resources as served by Kubernetes 1.25 and later: ratcheting validation, selectable fields, error causes
 * and formats.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { serve } from '../../support/in-process.ts'
import { define, definitionOf, definitions } from './definitions.ts'

const client = (await serve({ after }, ['--emulated-version=1.36'])).client()

function patch(path: string, type: 'json-patch' | 'merge-patch', body: unknown) {
  return client.send(path, { method: 'PATCH', headers: { 'content-type': `application/${type}+json` }, body })
}

const rules = 'x-orch-validations'
const wholeNumber: JsonObject = { type: 'integer' }
const text: JsonObject = { type: 'string' }
const objectOf = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})
const about = (spec: JsonObject): JsonObject => objectOf({ spec, status: objectOf({ phase: text }) })

let count = 0

/** Defines a kind and returns the path of its objects. */
async function kindWith(spec: JsonObject, version: JsonObject = {}) {
  const group = `g${++count}.example.com`
  const name = await define(client, { group, schema: about(spec), version })
  const path = `/apis/${group}/v1/namespaces/default/widgets`
  const widget = (name: string, spec: unknown) => ({
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name },
    spec,
  })
  /** Replaces the schema of the spec, and waits until the new schema is in effect. */
  const tighten = async (next: JsonObject, wrong: unknown) => {
    const value = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec', value: next }]
    const changed = await patch(`${definitions}/${name}`, 'json-patch', value)
    assert.equal(changed.status, 200, changed.text)
    for (let left = 200; left > 0; left--)
      if ((await client.post(`${path}?dryRun=All`, widget('probe', wrong))).status === 422) return
    assert.fail('the schema is not in force')
  }
  const change = (name: string, spec: unknown) => patch(`${path}/${name}`, 'merge-patch', { spec })
  return { path, name, widget, tighten, change }
}

interface Answer {
  readonly body: { readonly details?: { readonly causes?: readonly { reason: string; field: string }[] } }
}
const causesOf = ({ body }: Answer) => (body.details?.causes ?? []).map(({ reason, field }) => `${reason} ${field}`)

describe('validation causes', () => {
  const limits = objectOf(
    {
      i: { ...wholeNumber, maximum: 5, [rules]: [{ rule: 'self != 9' }] },
      s: { type: 'string', maxLength: 2 },
      l: { type: 'array', maxItems: 2, items: wholeNumber },
      m: { type: 'object', minProperties: 2, additionalProperties: { type: 'string', maxLength: 1 } },
      d: { type: 'string', format: 'date' },
      n: { type: 'string', format: 'k8s-short-name' },
      b: { type: 'integer', format: 'int32' },
      z: { type: 'string', nullable: true, maxLength: 5 },
    },
    { [rules]: [{ rule: "!has(self.z) || self.z == 'x'" }, { rule: '!has(self.i) || self.i != 8', message: 'eight' }] },
  )
  const unchecked = 'FieldValueInvalid <nil>'
  const rows: readonly (readonly [JsonObject, readonly string[]])[] = [
    [{ i: 'x' }, ['FieldValueTypeInvalid spec.i', unchecked]],
    [{ i: 1.5 }, ['FieldValueTypeInvalid spec.i', unchecked, unchecked]],
    [{ s: 'abc' }, ['FieldValueTooLong spec.s', unchecked]],
    [{ l: [1, 2, 3] }, ['FieldValueTooMany spec.l', unchecked]],
    [{ l: [1, 'x'] }, ['FieldValueTypeInvalid spec.l[1]', unchecked]],
    [{ m: { k: 'long' } }, ['FieldValueTooLong spec.m.k', 'FieldValueInvalid spec.m', unchecked]],
    [{ d: 'today' }, ['FieldValueTypeInvalid spec.d', unchecked]],
    [{ n: 'A.B' }, ['FieldValueTypeInvalid spec.n', unchecked]],
    [{ b: 3_000_000_000 }, [unchecked]],
    // Rules are evaluated even if a value exceeds its bounds.
    [{ i: 9 }, ['FieldValueInvalid spec.i', 'FieldValueInvalid spec.i']],
    [{ i: 8 }, ['FieldValueInvalid spec.i', 'FieldValueInvalid spec']],
    [{ z: null, i: 1 }, []],
  ]
  test('validation causes contain the reason and the list element of each error', async () => {
    const { path, widget } = await kindWith(limits)
    for (const [spec, causes] of rows) {
      const answer = await client.post(`${path}?dryRun=All`, widget('a', spec))
      assert.deepEqual(causesOf(answer).sort(), [...causes].sort(), JSON.stringify(spec))
      assert.equal(answer.status, causes.length === 0 ? 201 : 422, answer.text)
    }
  })
})

describe('an unchanged value that a changed definition no longer allows', () => {
  const loose = objectOf({ n: wholeNumber, l: { type: 'array', items: wholeNumber }, o: text, r: text })
  const strict = objectOf({
    n: { ...wholeNumber, maximum: 5 },
    l: { type: 'array', items: { ...wholeNumber, maximum: 5 } },
    o: text,
    r: text,
  })

  test('an unchanged invalid value in a custom object does not prevent other changes', async () => {
    const { path, widget, tighten, change } = await kindWith(loose)
    await client.post(path, widget('a', { n: 9, l: [9], o: '1' }))
    await tighten(strict, { n: 9 })
    assert.equal((await change('a', { o: '2' })).status, 200)
    assert.deepEqual(causesOf(await change('a', { n: 8 })), ['FieldValueInvalid spec.n'])
    assert.deepEqual(causesOf(await change('a', { l: [9, 1] })), ['FieldValueInvalid spec.l[0]'])
    await tighten({ ...strict, required: ['r'] }, { n: 1 })
    assert.deepEqual(causesOf(await change('a', { o: '3' })), ['FieldValueRequired spec.r'])
  })

  test('elements of keyed lists are matched by key, and unchanged invalid values are tolerated', async () => {
    const listOf = (v: JsonObject) =>
      objectOf({
        m: {
          type: 'array',
          'x-orch-list-type': 'map',
          'x-orch-list-map-keys': ['k'],
          items: objectOf({ k: text, v }, { required: ['k'] }),
        },
      })
    const { path, widget, tighten, change } = await kindWith(listOf(wholeNumber))
    await client.post(path, widget('a', { m: [{ k: 'a', v: 9 }] }))
    await tighten(listOf({ ...wholeNumber, maximum: 5 }), { m: [{ k: 'x', v: 9 }] })
    assert.equal(
      (
        await change('a', {
          m: [
            { k: 'b', v: 1 },
            { k: 'a', v: 9 },
          ],
        })
      ).status,
      200,
    )
    assert.deepEqual(
      causesOf(
        await change('a', {
          m: [
            { k: 'a', v: 9 },
            { k: 'c', v: 8 },
          ],
        }),
      ),
      ['FieldValueInvalid spec.m[1].v'],
    )
  })

  test('duplicate list elements are tolerated if the stored object already has duplicates', async () => {
    const list = (more: JsonObject) => objectOf({ l: { type: 'array', items: text, ...more }, n: wholeNumber })
    const { path, widget, tighten, change } = await kindWith(list({}))
    await client.post(path, widget('a', { l: ['a', 'a'] }))
    await tighten(list({ 'x-orch-list-type': 'set' }), { l: ['a', 'a'] })
    assert.equal((await change('a', { n: 1 })).status, 200)
    assert.equal((await change('a', { l: ['a'] })).status, 200)
    assert.deepEqual(causesOf(await change('a', { l: ['a', 'a'] })), ['FieldValueDuplicate spec.l[1]'])
  })

  test('violations in unchanged values cause only warnings, except for transition rules', async () => {
    const withRules = objectOf({
      n: { ...wholeNumber, [rules]: [{ rule: 'self < 5', message: 'n' }] },
      t: { ...wholeNumber, [rules]: [{ rule: 'self > oldSelf', message: 't' }] },
      o: text,
    })
    const { path, widget, tighten, change } = await kindWith(objectOf({ n: wholeNumber, t: wholeNumber, o: text }))
    await client.post(path, widget('a', { n: 9, t: 1, o: '1' }))
    await tighten(withRules, { n: 9 })
    const other = await change('a', { o: '2', t: 2 })
    assert.equal(other.status, 200, other.text)
    assert.equal(other.headers.warning, '299 - "spec.n: Invalid value: 9: n"')
    assert.deepEqual(causesOf(await change('a', { o: '3' })), ['FieldValueInvalid spec.t'])
    assert.deepEqual(causesOf(await change('a', { n: 8, t: 3 })), ['FieldValueInvalid spec.n'])
  })
})

describe('selectable fields', () => {
  const spec = objectOf({ color: text, size: wholeNumber, on: { type: 'boolean' }, l: { type: 'array', items: text } })
  const select = (...paths: string[]) => ({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) })

  test('selectable fields can select objects in lists, watches and collection deletes', async () => {
    const version = {
      ...select('.spec.color', '.spec.size', '.spec.on', '.status.phase'),
      subresources: { status: {} },
    }
    const { path, widget } = await kindWith(spec, version)
    for (const [name, spec] of Object.entries({ a: { color: 'red', size: 1, on: true }, b: { color: 'blue' }, c: {} }))
      assert.equal((await client.post(path, widget(name, spec))).status, 201)
    const names = async (selector: string) => {
      const { body } = await client.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)
      return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).join('')
    }
    const rows = {
      'spec.color=red': 'a',
      'spec.color!=red': 'bc',
      'spec.color=': 'c',
      'spec.size=1': 'a',
      'spec.on=true': 'a',
    }
    // The second round uses the indexes that the first round has created.
    for (const round of [1, 2])
      for (const [selector, found] of Object.entries(rows))
        assert.equal(await names(selector), found, `${selector} ${round}`)
    assert.equal((await client.get(`${path}?fieldSelector=spec.l%3Dx`)).status, 400)
    await patch(`${path}/b/status`, 'merge-patch', { status: { phase: 'Ready' } })
    assert.equal(await names('status.phase=Ready'), 'b')
    assert.equal((await client.delete(`${path}?fieldSelector=status.phase%3DReady`)).status, 200)
    assert.equal(await names('spec.color!=green'), 'ac')
  })

  test('selectable fields also select objects that were stored before the definition declared the fields', async () => {
    const { path, name, widget } = await kindWith(spec)
    assert.equal((await client.post(path, widget('a', { color: 'red' }))).status, 201)
    const fields = [{ op: 'add', path: '/spec/versions/0/selectableFields', value: [{ jsonPath: '.spec.color' }] }]
    await patch(`${definitions}/${name}`, 'json-patch', fields)
    const find = () => client.get(`${path}?fieldSelector=spec.color%3Dred`)
    let answer = await find()
    for (let left = 200; left > 0 && answer.status !== 200; left--) answer = await find()
    assert.equal(answer.body.items.length, 1, answer.text)
    assert.equal((await client.get(`${path}?fieldSelector=spec.color%3Dblue`)).body.items.length, 0)
  })

  test('selectable fields must refer to different scalar fields of the schema', async () => {
    const place = 'spec.selectableFields[0].jsonPath'
    const rows: readonly (readonly [readonly string[], string])[] = [
      [[''], `FieldValueRequired ${place}`],
      [['spec.color'], `FieldValueInvalid ${place}`],
      [['.spec.none'], `FieldValueInvalid ${place}`],
      [['.spec.l'], `FieldValueInvalid ${place}`],
      [['.spec.l[0]'], `FieldValueInvalid ${place}`],
      [['.metadata.name'], `FieldValueInvalid ${place}`],
      [['.spec.color', '.spec.color'], 'FieldValueDuplicate spec.selectableFields[1].jsonPath'],
      [Array.from({ length: 9 }, (_, i) => `.spec.f${i}`), 'FieldValueTooMany spec.selectableFields'],
    ]
    for (const [paths, cause] of rows) {
      const options = { schema: about(spec), version: select(...paths) }
      const answer = await client.post(`${definitions}?dryRun=All`, definitionOf(options))
      assert.deepEqual(causesOf(answer), [cause], paths.join())
    }
  })
})

describe('definitions', () => {
  const post = (schema: JsonObject) => client.post(`${definitions}?dryRun=All`, definitionOf({ schema }))

  test('unknown fields of rules in a definition are dropped with a warning', async () => {
    const schema = objectOf({ a: wholeNumber }, { [rules]: [{ rule: 'true', severity: 'x' }] })
    const answer = await post(schema)
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(answer.body.spec.versions[0].schema.openAPIV3Schema[rules], [{ rule: 'true' }])
    assert.match(String(answer.headers.warning), /unknown field .*severity/)
  })

  test('a definition may specify the type of an int-or-string field, and an unknown format causes a warning', async () => {
    const answer = await post(
      objectOf({ p: { type: 'string', 'x-orch-int-or-string': true }, f: { type: 'string', format: 'odd' } }),
    )
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.headers.warning, String.raw`299 - "unrecognized format \"odd\""`)
  })

  test('the default of a whole custom object must contain apiVersion and kind', async () => {
    const causes = causesOf(await post({ ...objectOf({}), default: { spec: {} } }))
    const place = 'spec.versions[0].schema.openAPIV3Schema.default'
    assert.deepEqual(causes, [`FieldValueRequired ${place}.apiVersion`, `FieldValueRequired ${place}.kind`])
  })
})

test('before Kubernetes 1.36, the manager of a status write owns the metadata fields in the request, but the write does not change them', async (t) => {
  const status = { 'f:status': { '.': {}, 'f:phase': {} } }
  const labels = { 'f:metadata': { 'f:labels': { '.': {}, 'f:not': {} } } }
  for (const [version, expected] of [
    ['1.34', { ...labels, ...status }],
    ['1.36', status],
  ] as const) {
    const emulating = (await serve(t, [`--emulated-version=${version}`])).client()
    const group = 'owning.example.com'
    const subresources = { status: {} }
    await define(emulating, { group, schema: about(objectOf({ n: wholeNumber })), version: { subresources } })
    const path = `/apis/${group}/v1/namespaces/default/widgets`
    const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { n: 1 } }
    assert.equal((await emulating.post(path, widget)).status, 201)
    const { body } = await emulating.send(`${path}/a/status?fieldManager=reporter`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels: { not: 'kept' } }, status: { phase: 'Good' } },
    })
    assert.equal(body.metadata.labels, undefined)
    const entries: readonly { manager: string; fieldsV1: JsonObject }[] = body.metadata.managedFields
    assert.deepEqual(entries.find(({ manager }) => manager === 'reporter')?.fieldsV1, expected, version)
  }
})

test('since 1.30, validation rules are not evaluated if a value is not in its enum', async (t) => {
  const schema = about(objectOf({ e: { ...text, enum: ['a'] } }, { [rules]: [{ rule: "self.e == 'a'" }] }))
  for (const [version, field] of [
    ['1.29', 'spec'],
    ['1.30', '<nil>'],
  ] as const) {
    const emulating = (await serve(t, [`--emulated-version=${version}`])).client()
    const group = 'enums.example.com'
    await define(emulating, { group, schema })
    const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { e: 'b' } }
    const { body } = await emulating.post(`/apis/${group}/v1/namespaces/default/widgets`, widget)
    const fields = body.details.causes.map((cause: { readonly field: string }) => cause.field)
    assert.deepEqual(fields, ['spec.e', field], version)
  }
})

test('creating a custom object while its definition is being deleted is rejected, and the error names the object', async () => {
  const { path, name, widget } = await kindWith(objectOf({}))
  const held = widget('held', {})
  const metadata = { ...held.metadata, finalizers: ['example.com/hold'] }
  assert.equal((await client.post(path, { ...held, metadata })).status, 201)
  assert.equal((await client.delete(`${definitions}/${name}`)).status, 200)
  const { status, body } = await client.post(path, widget('late', {}))
  assert.equal(status, 403)
  assert.equal(body.details.name, 'late')
  assert.equal((await patch(`${path}/held`, 'merge-patch', { metadata: { finalizers: null } })).status, 200)
})
