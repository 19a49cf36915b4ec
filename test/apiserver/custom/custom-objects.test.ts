/**
 * Tests features of custom objects other than schemas: API versions, dry runs, nulls in apply, scale, columns and
 * warnings. All of these features behave as in kube-apiserver 1.23.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serveUp } from '../../support/in-process.ts'
import { conditionOf, define, definitionOf, definitions, isEstablished, typeOf } from './definitions.ts'

const owner = endOfFile()

const spec = (properties: JsonObject) => ({ type: 'object', properties: { spec: { type: 'object', properties } } })
const versionOf = (name: string, schema: JsonObject, fields: JsonObject = {}) => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: schema },
  ...fields,
})

describe('custom objects on a running server', () => {
  let client: HttpClient
  before(async () => {
    client = (await serveUp(owner)).client()
  })
  const at = (plural: string, version = 'v1') => `/apis/stable.example.com/${version}/namespaces/default/${plural}`
  const apply = (path: string, body: JsonObject) =>
    client.send(`${path}?fieldManager=me`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body,
    })

  test("every response with a custom object contains the default status, even if the server dropped the client's status", async () => {
    const status = { type: 'object', default: { seen: -1 }, properties: { seen: { type: 'integer' } } }
    const schema = { type: 'object', properties: { ...spec({}).properties, status } }
    await define(client, { plural: 'preset', kind: 'Preset', schema, version: { subresources: { status: {} } } })
    const object = { ...typeOf({ kind: 'Preset' }), metadata: { name: 'a' }, spec: {}, status: { seen: 7 } }
    for (const path of [`${at('preset')}?dryRun=All`, at('preset')])
      assert.deepEqual((await client.post(path, object)).body.status, { seen: -1 }, path)
    assert.deepEqual((await client.get(`${at('preset')}/a`)).body.status, { seen: -1 })
  })

  test('since Kubernetes 1.36, the manager of a status write to a custom object owns no metadata', async () => {
    const schema = { type: 'object', properties: { ...spec({}).properties, status: { type: 'object' } } }
    const newer = (await serveUp(owner, ['--emulated-version=1.36'])).client()
    for (const [server, owned] of [
      [client, ['f:metadata', 'f:status']],
      [newer, ['f:status']],
    ] as const) {
      await define(server, { plural: 'owned', kind: 'Owned', schema, version: { subresources: { status: {} } } })
      await server.post(at('owned'), { ...typeOf({ kind: 'Owned' }), metadata: { name: 'a' }, spec: {} })
      const { body } = await server.send(`${at('owned')}/a/status`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { metadata: { labels: { a: 'b' } }, status: {} },
      })
      const entry = body.metadata.managedFields.find((each: JsonObject) => each.subresource === 'status')
      assert.deepEqual([Object.keys(entry.fieldsV1).toSorted(), body.metadata.labels], [owned, undefined])
    }
  })

  test('the error for an unacceptable Accept header lists the supported media types', async () => {
    const version = {
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
    }
    await define(client, { plural: 'forms', kind: 'Form', schema: spec({ size: { type: 'integer' } }), version })
    await client.post(at('forms'), { ...typeOf({ kind: 'Form' }), metadata: { name: 'a' }, spec: { size: 1 } })
    for (const path of [at('forms'), `${at('forms')}/a`, `${at('forms')}/a/scale`]) {
      const { status, body } = await client.get(path, { accept: 'text/html' })
      assert.deepEqual([status, body.reason, body.details], [406, 'NotAcceptable', undefined], path)
      assert.match(body.message, /application\/json, application\/yaml/)
    }
    const { body } = await client.get(`${at('forms')}/a/status`, {
      accept: 'application/json;as=Table;g=meta.orch.io;v=v1',
    })
    assert.deepEqual([body.kind, body.rows[0].cells[0]], ['Table', 'a'], 'the status of a custom kind has its columns')
  })

  test('integers in custom objects, including int-or-string fields, have 64 bits, and larger values become floating-point numbers', async () => {
    const either = { 'x-orch-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }
    const schema = spec({ whole: { type: 'integer', format: 'int32' }, either, any: { type: 'number' } })
    await define(client, { plural: 'wholes', kind: 'Whole', schema })
    const post = (text: string) =>
      client.send(at('wholes'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        raw: `{"apiVersion":"stable.example.com/v1","kind":"Whole","metadata":{"generateName":"a"},"spec":${text}}`,
      })
    const kept = '{"any":9223372036854775808,"either":8589934592,"whole":-9223372036854775808}'
    const made = await post(kept)
    assert.equal(made.status, 201, made.text)
    assert.ok(made.text.includes('"either":8589934592,"whole":-9223372036854775808'), made.text)
    for (const [wrong, place] of [
      ['{"whole":9223372036854775808}', 'spec.whole'],
      ['{"whole":1e20}', 'spec.whole'],
      ['{"either":9223372036854775808}', 'spec.either'],
    ] as const) {
      const refused = await post(wrong)
      assert.equal(refused.status, 422, refused.text)
      const [cause] = refused.body.details.causes
      assert.equal(cause.field, place)
      assert.match(cause.message, /must be of type integer(,string)?: "number"/)
    }
  })

  test('custom objects get the defaults of the request version and lose fields that the storage version does not have', async () => {
    const early = spec({ size: { type: 'integer', default: 1 }, lost: { type: 'string' }, late: { type: 'string' } })
    const late = spec({ size: { type: 'integer' }, color: { type: 'string', default: 'red' } })
    const warned = { deprecated: true }
    const versions = [versionOf('v1alpha1', early, warned), versionOf('v1', late, { storage: true })]
    await define(client, { plural: 'twos', kind: 'Two', versions })
    const type = { kind: 'Two' }
    const sent = { ...typeOf(type, 'v1alpha1'), metadata: { name: 'a' }, spec: { lost: 'x' } }
    const dry = await client.post(`${at('twos', 'v1alpha1')}?dryRun=All`, sent)
    assert.deepEqual([dry.status, dry.body.spec], [201, { size: 1 }])
    assert.match(String(dry.headers.warning), /v1alpha1 Two is deprecated; use stable\.example\.com\/v1 Two/)
    const made = await client.post(at('twos', 'v1alpha1'), sent)
    assert.deepEqual(made.body.spec, { size: 1 })
    assert.deepEqual((await client.get(`${at('twos')}/a`)).body.spec, { size: 1, color: 'red' })
    await client.post(at('twos'), { ...typeOf(type), metadata: { name: 'b' }, spec: {} })
    assert.deepEqual((await client.get(`${at('twos', 'v1alpha1')}/b`)).body.spec, {}, 'no defaults of another version')
  })

  test('the scale paths of a custom kind must refer to numbers, and its printer columns are evaluated', async () => {
    const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' }
    const columns = [
      { name: 'Last', type: 'string', jsonPath: '.spec.list[-1:].name' },
      { name: 'Is', type: 'boolean', jsonPath: '.spec.kind[?(@ == "x")]' },
    ]
    const item = { type: 'object', properties: { name: { type: 'string' } } }
    const schema = spec({
      size: { type: 'integer', format: 'int32' },
      kind: { type: 'string' },
      list: { type: 'array', items: item },
    })
    const version = { subresources: { scale }, additionalPrinterColumns: columns }
    await define(client, { plural: 'scaled', kind: 'Scaled', schema, version })
    const type = typeOf({ kind: 'Scaled' })
    const faultsOf = async (size: unknown) => {
      const { body } = await client.post(at('scaled'), { ...type, metadata: { name: 'x' }, spec: { size } })
      return body.details.causes.map(({ field, message }: JsonObject) => `${field}: ${message}`).sort()
    }
    assert.deepEqual(await faultsOf('many'), [
      '.spec.size: Invalid value: 0: .spec.size accessor error: many is of the type string, expected int64',
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ])
    assert.deepEqual(await faultsOf(2 ** 40), [
      '.spec.size: Invalid value: 1099511627776: should be less than or equal to 2147483647',
    ])
    await client.post(at('scaled'), { ...type, metadata: { name: 'unsized' }, spec: {} })
    const unsized = await client.get(`${at('scaled')}/unsized/scale`)
    assert.deepEqual(
      [unsized.status, unsized.body.message],
      [500, 'Internal error occurred: the spec replicas field ".spec.size" does not exist'],
    )
    const headers = { 'content-type': 'application/merge-patch+json' }
    const raw = JSON.stringify({ spec: { replicas: 2 } })
    const sized = await client.send(`${at('scaled')}/unsized/scale`, { method: 'PATCH', headers, raw })
    assert.deepEqual([sized.status, sized.body.spec], [200, { replicas: 2 }])
    const put = async (metadata: JsonObject, replicas: number) => {
      const body = {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'unsized', ...metadata },
        spec: { replicas },
      }
      return await client.put(`${at('scaled')}/unsized/scale`, body)
    }
    assert.deepEqual([(await put({}, 5)).body.spec, (await put({}, 0)).body.spec], [{ replicas: 5 }, {}])
    const refused = [await put({}, -1), await put({ uid: 'other' }, 1), await put({ resourceVersion: '1' }, 1)]
    assert.deepEqual(
      refused.map(({ status }) => status),
      [422, 409, 409],
    )
    const untyped = { metadata: { name: 'unsized' }, spec: { replicas: 3 } }
    assert.equal(
      (await client.put(`${at('scaled')}/unsized/scale`, untyped)).body.kind,
      'Scale',
      'it is a built-in kind',
    )
    await client.delete(`${at('scaled')}/unsized`)
    await client.post(at('scaled'), {
      ...type,
      metadata: { name: 'a' },
      spec: { size: 2, kind: 'x', list: [{ name: 'one' }, { name: 'two' }] },
    })
    const table = await client.get(at('scaled'), { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
    assert.deepEqual(table.body.rows[0].cells, ['a', 'two', null])
  })

  test('apply treats null in a custom object as a value and validates all fields', async () => {
    const status = { type: 'object', properties: { all: { type: 'array', items: spec({ a: { type: 'string' } }) } } }
    const { properties } = spec({ size: { type: 'integer' }, given: { type: 'integer', default: 7 } })
    const schema = { type: 'object', properties: { ...properties, status } }
    await define(client, { plural: 'applied', kind: 'Applied', schema, version: { subresources: { status: {} } } })
    const whole = { ...typeOf({ kind: 'Applied' }), metadata: { name: 'a' } }
    const refused = await apply(`${at('applied')}/a`, { ...whole, spec: { size: null } })
    assert.deepEqual([refused.status, refused.body.details?.causes[0].field], [422, 'spec.size'])
    const filled = await apply(`${at('applied')}/a`, { ...whole, spec: { given: null } })
    assert.deepEqual([filled.status, filled.body.spec], [201, { given: 7 }])
    const created = await client.post(at('applied'), { ...whole, metadata: { name: 'b' }, spec: { size: null } })
    assert.deepEqual([created.status, created.body.spec], [201, { given: 7 }])
    for (const all of [[{ odd: 1 }], ['text'], {}]) {
      const answer = await apply(`${at('applied')}/a`, { ...whole, spec: {}, status: { all } })
      assert.equal(answer.status, 400, `${JSON.stringify(all)}: ${answer.text}`)
    }
  })

  test('if a value in a custom object has the wrong type, all fields in the value are treated as unknown', async () => {
    await define(client, {
      plural: 'wrongs',
      kind: 'Wrong',
      schema: spec({ list: { type: 'array', items: spec({}) } }),
    })
    const object = { ...typeOf({ kind: 'Wrong' }), metadata: { name: 'a' }, spec: { list: { x: 1 } } }
    const { status, headers } = await client.post(at('wrongs'), object)
    assert.equal(status, 422)
    assert.match(String(headers.warning), /unknown field \\"spec\.list\.x\\"/)
  })

  test('definitions in protected API groups report their API approval', async () => {
    for (const [given, expected] of [
      ['https://example.com/review/1', 'True'],
      ['unapproved, for a test', 'False'],
    ]) {
      const definition = definitionOf({
        plural: `own${expected}`.toLowerCase(),
        kind: `Own${expected}`,
        group: 'test.orch.io',
      })
      const metadata = { ...definition.metadata, annotations: { 'api-approved.orch.io': given } }
      const made = await client.post(definitions, { ...definition, metadata })
      assert.equal(made.status, 201, made.text)
      await isEstablished(client, definition.metadata.name)
      const { body } = await client.get(`${definitions}/${definition.metadata.name}`)
      assert.equal(conditionOf(body, 'OrchAPIApprovalPolicyConformant'), expected)
    }
  })

  test('a CustomResourceDefinition in a Kubernetes group needs the approval annotation of either orch or Kubernetes', async () => {
    const definition = definitionOf({ plural: 'foreigns', kind: 'Foreign', group: 'x.k8s.io' })
    for (const [annotations, expected] of [
      [{}, 422],
      [{ 'api-approved.example.com': 'unapproved' }, 422],
      [{ 'api-approved.orch.io': 'unapproved' }, 201],
      [{ 'api-approved.kubernetes.io': 'unapproved' }, 201],
    ] as const) {
      const metadata = { ...definition.metadata, annotations }
      const { status, text } = await client.post(`${definitions}?dryRun=All`, { ...definition, metadata })
      assert.equal(status, expected, text)
    }
  })
})
