/** Tests that a kind created at runtime uses the same server, registry and merge code as built-in kinds. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { validate } from '../../../src/api/schema/validate.ts'
import { type CustomKindDefinition, customKind } from '../../../src/apiserver/custom/objects/custom-kind.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const named = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, v: { type: 'integer' } },
}

const spec = {
  type: 'object',
  default: {},
  properties: {
    size: { type: 'integer', default: 3, minimum: 1, maximum: 10 },
    code: { type: 'string', pattern: '^[a-z]+$' },
    set: { type: 'array', 'x-orch-list-type': 'set', items: { type: 'string' } },
    map: { type: 'array', 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'], items: named },
    free: { type: 'object', 'x-orch-preserve-unknown-fields': true },
    port: { 'x-orch-int-or-string': true },
  },
}

const status = { type: 'object', properties: { phase: { type: 'string' } } }

const definition: CustomKindDefinition = {
  group: 'stable.example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  shortNames: ['wd'],
  scope: 'Namespaced',
  status: true,
  schema: { type: 'object', properties: { spec, status } },
}

async function kindOf(custom: CustomKindDefinition): Promise<Kind> {
  const made = await customKind(custom, vendorOf('orch'), { path: 'spec.versions[0].schema.openAPIV3Schema' })
  assert.equal(made.outcome, 'kind', JSON.stringify(made))
  return (made as { kind: Kind }).kind
}

describe('an object of a custom kind is served like an object of a built-in kind', () => {
  const path = '/apis/stable.example.com/v1/namespaces/default/widgets'
  const type = { apiVersion: 'stable.example.com/v1', kind: 'Widget' }
  const configMaps = '/api/v1/namespaces/default/configmaps'
  let server: InProcess
  let client: HttpClient
  before(async () => {
    server = await startInProcess([...allKinds, await kindOf(definition)])
    client = server.client
  })
  after(() => server.stop())

  const create = (name: string, fields: JsonObject = {}) =>
    client.post(path, { ...type, metadata: { name }, ...fields })
  const patch = (name: string, form: string, body: Json, query = '') =>
    client.send(`${path}/${name}${query}`, {
      method: 'PATCH',
      headers: { 'content-type': `application/${form}` },
      body,
    })
  const apply = (name: string, by: string, fields: JsonObject) =>
    patch(name, 'apply-patch+yaml', { ...type, metadata: { name }, ...fields }, `?fieldManager=${by}`)

  test('discovery lists the custom kind', async () => {
    const { body } = await client.get('/apis/stable.example.com/v1')
    assert.deepEqual(
      body.resources.map(({ name, kind, shortNames }: JsonObject) => [name, kind, shortNames]),
      [
        ['widgets', 'Widget', ['wd']],
        ['widgets/status', 'Widget', undefined],
      ],
    )
    const groups = (await client.get('/apis')).body.groups.map(({ name }: JsonObject) => name)
    assert.ok(groups.includes('stable.example.com'))
    const { paths } = (await client.get('/openapi/v2')).body
    assert.ok(paths['/apis/stable.example.com/v1/namespaces/{namespace}/widgets'])
  })

  test('creating a custom object applies defaults, prunes unknown fields and keeps preserved fields', async () => {
    const created = await create('made', {
      spec: { odd: 1, free: { any: [1, { two: null }] } },
      status: { phase: 'x' },
      top: 1,
    })
    assert.equal(created.status, 201)
    assert.deepEqual(created.body.spec, { size: 3, free: { any: [1, { two: null }] } })
    assert.deepEqual(
      [created.body.top, created.body.status, created.body.metadata.generation],
      [undefined, undefined, 1],
    )
    assert.match(String(created.headers.warning), /unknown field \\"spec\.odd/)
    assert.deepEqual((await client.get(`${path}/made`)).body, created.body)
    assert.deepEqual((await create('bare')).body.spec, { size: 3 })
  })

  test('a custom object that violates the schema is rejected, and all errors are reported', async () => {
    const answer = await create('bad', {
      spec: { size: 'five', code: 'A1', set: ['x', 'x'], port: true, map: [{ v: 1 }] },
    })
    assert.equal(answer.status, 422)
    const causes = answer.body.details.causes.map(({ field, reason }: JsonObject) => `${field} ${reason}`).sort()
    assert.deepEqual(causes, [
      'spec.code FieldValueInvalid',
      'spec.map.name FieldValueRequired',
      'spec.port FieldValueInvalid',
      'spec.set[1] FieldValueDuplicate',
      'spec.size FieldValueInvalid',
    ])
  })

  test('duplicates in sets and keyed lists of custom objects are rejected, and metadata is validated as for all kinds', async () => {
    const finalizers = ['example.com/a', 'example.com/a']
    const metadata = { name: 'twice', finalizers }
    const answers = [await client.post(path, { ...type, metadata }), await client.post(configMaps, { metadata })]
    for (const { status, text } of answers) assert.equal(status, 201, text)
  })

  test('apply merges keyed lists and sets of custom objects and reports a conflict on a scalar', async () => {
    await apply('shared', 'a', { spec: { set: ['x'], map: [{ name: 'one', v: 1 }], free: { deep: { a: 1 } } } })
    const both = await apply('shared', 'b', {
      spec: { set: ['y'], map: [{ name: 'two', v: 2 }], free: { deep: { b: 2 } } },
    })
    assert.equal(both.status, 200)
    assert.deepEqual(both.body.spec, {
      size: 3,
      set: ['x', 'y'],
      map: [
        { name: 'one', v: 1 },
        { name: 'two', v: 2 },
      ],
      free: { deep: { a: 1, b: 2 } },
    })
    const conflict = await apply('shared', 'b', { spec: { map: [{ name: 'one', v: 9 }] } })
    assert.deepEqual([conflict.status, conflict.body.details.causes[0].field], [409, '.spec.map[name="one"].v'])
    const left = await apply('shared', 'a', {})
    assert.deepEqual(left.body.spec, { size: 3, set: ['y'], map: [{ name: 'two', v: 2 }], free: { deep: { b: 2 } } })
  })

  test('custom objects support all patch types except strategic merge, and spec changes increment the generation', async () => {
    await create('patched')
    const merged = await patch('patched', 'merge-patch+json', { spec: { size: 5 }, metadata: { labels: { a: 'b' } } })
    assert.deepEqual([merged.body.spec.size, merged.body.metadata.generation], [5, 2])
    const labelled = await patch('patched', 'merge-patch+json', { metadata: { labels: { a: 'c' } } })
    assert.equal(labelled.body.metadata.generation, 2)
    const removed = await patch('patched', 'json-patch+json', [{ op: 'remove', path: '/spec' }])
    assert.deepEqual([removed.body.spec, removed.body.metadata.generation], [{ size: 3 }, 3])
    assert.equal((await patch('patched', 'strategic-merge-patch+json', { spec: {} })).status, 415)
    assert.equal((await patch('patched', 'merge-patch+json', { spec: { size: 99 } })).status, 422)
  })

  test('a custom object requires apiVersion and kind, and a patch cannot remove them', async () => {
    const { body } = await create('typed')
    const statusAndMessage = ({ status, body: { message } }: Answer) => [status, message]
    for (const [member, word] of [
      ['kind', 'Kind'],
      ['apiVersion', 'apiVersion'],
    ] as const) {
      const missing = `Widget in version "v1" cannot be handled as a Widget: Object '${word}' is missing in '`
      for (const none of [undefined, null, '']) {
        const sent = { ...type, metadata: { name: 'untyped' }, [member]: none }
        const shown = JSON.stringify(sent, Object.keys(sent).concat('name').sort())
        assert.deepEqual(statusAndMessage(await client.post(path, sent)), [400, `${missing}${shown}'`])
        assert.equal((await client.put(`${path}/typed`, { ...body, [member]: none })).status, 400)
        assert.equal((await client.put(`${path}/typed/status`, { ...body, [member]: none })).status, 400)
      }
      const patches = [
        await patch('typed', 'merge-patch+json', { [member]: null }),
        await patch('typed', 'json-patch+json', [{ op: 'remove', path: `/${member}` }]),
      ]
      for (const { status, text } of patches) assert.equal(status, 422, text)
    }
    const large = { metadata: { name: 'large' }, spec: { set: Array.from({ length: 5000 }, (_, i) => `e${i}`) } }
    const refused = await client.post(path, large)
    assert.equal(refused.status, 400)
    assert.ok(refused.body.message.length < 250, refused.body.message)
    assert.deepEqual((await client.get(`${path}/typed`)).body, body)
  })

  test('an update of a custom object requires a resourceVersion', async () => {
    const { body } = await create('put')
    const { resourceVersion: _, ...metadata } = body.metadata
    const blind = await client.put(`${path}/put`, { ...body, metadata, spec: { size: 4 } })
    assert.deepEqual([blind.status, blind.body.details.causes[0].field], [422, 'metadata.resourceVersion'])
    const sighted = await client.put(`${path}/put`, { ...body, spec: { size: 4 } })
    assert.deepEqual([sighted.status, sighted.body.spec.size], [200, 4])
    assert.equal((await client.put(`${path}/put`, { ...body, spec: { size: 5 } })).status, 409)
  })

  test('a patch that removes the resourceVersion of a custom object is rejected', async () => {
    await create('versioned')
    for (const [type, body] of [
      ['merge-patch+json', { metadata: { resourceVersion: null }, spec: { size: 4 } }],
      ['json-patch+json', [{ op: 'remove', path: '/metadata/resourceVersion' }]],
    ] as const) {
      for (const below of ['', '/status']) {
        const refused = await patch(`versioned${below}`, type, body as Json)
        assert.deepEqual([refused.status, refused.body.details?.causes[0].field], [422, 'metadata.resourceVersion'])
      }
    }
  })

  test('finalizers on custom objects do not need a domain', async () => {
    const made = await client.post(path, { ...type, metadata: { name: 'held', finalizers: ['cleanup'] } })
    assert.deepEqual([made.status, made.body.metadata.finalizers], [201, ['cleanup']])
    const bad = await client.post(path, { ...type, metadata: { name: 'bad', finalizers: ['no good'] } })
    assert.deepEqual([bad.status, bad.body.details.causes[0].field], [422, 'metadata.finalizers'])
    const core = await client.post('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'held', finalizers: ['cleanup'] },
    })
    assert.deepEqual([core.status, core.body.details.causes[0].field], [422, 'metadata.finalizers[0]'])
    const lease = await client.post('/apis/coordination.orch.io/v1/namespaces/default/leases', {
      metadata: { name: 'held', finalizers: ['cleanup'] },
    })
    assert.equal(lease.status, 201)
    const freed = await patch('held', 'merge-patch+json', { metadata: { finalizers: null } })
    assert.equal(freed.status, 200)
  })

  test('the status of a custom object is mutable only through its subresource', async () => {
    const { body } = await create('st')
    const written = await client.put(`${path}/st/status`, {
      ...body,
      metadata: { ...body.metadata, labels: { a: 'b' } },
      spec: { size: 9 },
      status: { phase: 'Done' },
    })
    assert.equal(written.status, 200)
    const { spec, status, metadata } = (await client.get(`${path}/st`)).body
    assert.deepEqual([spec.size, status, metadata.labels, metadata.generation], [3, { phase: 'Done' }, undefined, 1])
    const kept = await patch('st', 'merge-patch+json', { status: { phase: 'No' } })
    assert.deepEqual(kept.body.status, { phase: 'Done' })
  })

  test('custom objects can be watched and listed as tables', async () => {
    const stop = new AbortController()
    const { body: list } = await client.get(path)
    const events = client.watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`, stop.signal)
    const next = events.next()
    await create('watched')
    const event = (await next).value
    assert.deepEqual([event.type, event.object.kind, event.object.spec], ['ADDED', 'Widget', { size: 3 }])
    stop.abort()
    const table = await client.get(`${path}/watched`, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
    assert.deepEqual(
      table.body.columnDefinitions.map(({ name }: JsonObject) => name),
      ['Name', 'Age'],
    )
  })
})

test('a CustomResourceDefinition with a hostile schema is rejected', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '(a*)*\\1' } } }
  const made = await customKind({ ...definition, schema }, vendorOf('orch'), { path: 'schema' })
  assert.equal(made.outcome, 'invalid')
  if (made.outcome === 'invalid')
    assert.deepEqual(
      made.faults.map(({ path }) => path),
      ['schema.properties[a].pattern'],
    )
})

test('a stored schema pattern that exceeds the current limits is not enforced, and writers get a warning', async () => {
  const large = '^(x{100}){200}$'
  const properties = { a: { type: 'string', pattern: large }, b: { type: 'string', pattern: '^y$' } }
  const schema = { type: 'object', properties: { spec: { type: 'object', properties } } }
  const vendor = vendorOf('orch')
  const refused = await customKind({ ...definition, schema }, vendor, { path: 'schema' })
  assert.equal(refused.outcome, 'invalid')
  const made = await customKind({ ...definition, schema }, vendor, { path: 'schema', stored: true })
  assert.ok(made.outcome === 'kind')
  const { rules } = made.kind
  const object = {
    apiVersion: 'stable.example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { a: 'z', b: 'z' },
  }
  const context = { vendor, subresource: '' }
  assert.deepEqual(
    validate(made.kind.schema, object, context).map(({ path }) => path),
    ['spec.b'],
  )
  assert.deepEqual(rules.warnings?.(object, undefined, context), [
    `the pattern "${large}" in its schema is too large and is not enforced`,
  ])
})
