/**
 * Tests Protobuf requests and responses: negotiation, watches, errors, malformed bodies, and shared messages that
 * are encoded only once.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { defineVersion } from '../../../src/api/schema/kind.ts'
import { assertBrief } from '../../support/effort.ts'
import { serve, startInProcess } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { differencesFromJson, type Loose, ProtobufClient, watchFrames } from '../../support/protobuf-client.ts'
import { readDocument, writeDocument } from '../../support/protobuf-model.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const server = await serve({ after })
const near = { port: server.port, ca: server.credentials().authority! }
const client = server.client()
const protobuf = new ProtobufClient(client)
const type = protobuf.mediaType
const collection = '/api/v1/namespaces/default/configmaps'
const message = 'core.v1.ConfigMap'
const objectNamed = (name: string, data: object = { k: 'v' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
const metadata = (as: string, version = 'v1') => `;as=${as};g=meta.orch.io;v=${version}`

test('the response is in the first supported format that the client accepts', async () => {
  await client.post(collection, objectNamed('forms'))
  const formFor = async (accept: string, path = `${collection}/forms`) => {
    const { status, headers } = await client.get(path, { accept })
    return `${status} ${headers['content-type']}`
  }
  assert.equal(await formFor(`${type}, application/json`), `200 ${type}`)
  assert.equal(await formFor(`application/json, ${type}`), '200 application/json')
  assert.equal(await formFor(`${type};q=0.1, application/yaml`), '200 application/yaml')
  assert.equal(await formFor(`application/xml, ${type}`), `200 ${type}`)
  assert.equal(await formFor(type.toUpperCase()), `200 ${type}`)
  assert.equal(await formFor('application/*'), '200 application/json')
  assert.equal(await formFor(`${type}${metadata('Table')}`), '406 application/json')
  assert.equal(await formFor(`${type}${metadata('Table')}, ${type}`), `200 ${type}`)
  assert.equal(await formFor('application/vnd.kubernetes.protobuf'), '406 application/json')
  assert.equal(await formFor(type, '/version'), '200 application/json')
})

test('partial metadata of objects and lists is available in Protobuf, in both versions', async () => {
  await client.post(collection, objectNamed('partial'))
  const { body: json } = await client.get(`${collection}/partial`)
  for (const version of ['v1', 'v1beta1']) {
    const one = await protobuf.get(
      `${collection}/partial`,
      'meta.v1.PartialObjectMetadata',
      metadata('PartialObjectMetadata', version),
    )
    assert.equal(one.body.apiVersion, `meta.orch.io/${version}`)
    assert.deepEqual(differencesFromJson(json.metadata, one.body.metadata), [])
  }
  const { bytes } = await client.get(collection, { accept: `${type}${metadata('PartialObjectMetadataList')}` })
  const { bytes: older } = await client.get(collection, {
    accept: `${type}${metadata('PartialObjectMetadataList', 'v1beta1')}`,
  })
  const { body: list } = await client.get(collection, {
    accept: `application/json${metadata('PartialObjectMetadataList')}`,
  })
  // Lists of all kinds have the same field numbers. The older version of partial metadata lists uses them in reverse
  // order.
  const read = readDocument(bytes, 'core.v1.ConfigMapList')
  const items = list.items.map(({ metadata: one }: Loose) => ({ metadata: one }))
  assert.deepEqual(differencesFromJson({ ...list, items }, read), [])
  assert.equal(older.length, bytes.length + 'beta1'.length)
  assert.equal((await client.get(collection, { accept: `${type}${metadata('PartialObjectMetadata')}` })).status, 406)
  const wrong = { accept: `${type}${metadata('PartialObjectMetadataList')}` }
  assert.equal((await client.get(`${collection}/partial`, wrong)).status, 406)
})

test('empty lists and list pages in Protobuf match their JSON', async () => {
  const path = '/api/v1/namespaces/none/configmaps'
  assert.deepEqual(
    differencesFromJson((await client.get(path)).body, (await protobuf.get(path, `${message}List`)).body),
    [],
  )
  for (let i = 0; i < 5; i++)
    await client.post('/api/v1/namespaces/default/secrets', {
      ...objectNamed(`s${i}`),
      kind: 'Secret',
      data: { k: 'dg==' },
    })
  const secrets = '/api/v1/namespaces/default/secrets?fieldSelector=type%3DOpaque'
  const first = (await protobuf.get(`${secrets}&limit=2`, 'core.v1.SecretList')).body
  const rest = await protobuf.get(`${secrets}&continue=${first.metadata.continue}`, 'core.v1.SecretList')
  assert.deepEqual(
    [...first.items, ...rest.body.items].map((one: Loose) => one.metadata.name),
    ['s0', 's1', 's2', 's3', 's4'],
  )
})

test('a list at a resourceVersion that is older than the cache has the same content in Protobuf and in JSON', async () => {
  const before = (await client.get(collection)).body
  await client.post(collection, objectNamed('later'))
  await client.delete(`${collection}/forms`)
  for (const query of ['', '&limit=2']) {
    const path = `${collection}?resourceVersion=${before.metadata.resourceVersion}&resourceVersionMatch=Exact${query}`
    const json = (await client.get(path)).body
    const read = (await protobuf.get(path, `${message}List`)).body
    assert.deepEqual(differencesFromJson({ ...json, metadata: {} }, { ...read, metadata: {} }), [])
    assert.equal(read.metadata.resourceVersion, before.metadata.resourceVersion)
  }
})

test('Protobuf messages that exceed a chunk, or the remaining space in a chunk, arrive complete', async () => {
  const path = '/api/v1/namespaces/chunks/configmaps'
  await client.post('/api/v1/namespaces', { metadata: { name: 'chunks' } })
  const sizes = [10, 70_000, 64_000, 1, 300_000, 65_500, 30_000, 30_000, 30_000]
  for (const [i, size] of sizes.entries()) await client.post(path, objectNamed(`c${i}`, { k: 'x'.repeat(size) }))
  const { body } = await protobuf.get(path, `${message}List`)
  assert.deepEqual(
    body.items.map(({ data }: Loose) => data.k.length),
    sizes,
  )
  const zipped = await client.get(path, { accept: type, 'accept-encoding': 'gzip' })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
})

test('errors are returned in the requested format, including Protobuf', async () => {
  const missing = await protobuf.get(`${collection}/none`, message)
  assert.equal(missing.status, 404)
  const { apiVersion, kind, reason, code, details } = missing.body
  assert.deepEqual(
    { apiVersion, kind, reason, code, name: details.name },
    { apiVersion: 'v1', kind: 'Status', reason: 'NotFound', code: 404, name: 'none' },
  )
  const invalid = await protobuf.send('POST', collection, { document: objectNamed('Not A Name'), message })
  assert.equal(invalid.status, 422)
  assert.equal(invalid.body.details.causes[0].field, 'metadata.name')
  assert.equal((await protobuf.get('/apis/apps/v1/things', message)).status, 404)
})

test('a Protobuf watch sends framed events, including bookmarks and errors', async () => {
  const { resourceVersion } = (await client.get(collection)).body.metadata
  const path = `${collection}?watch=1&resourceVersion=${resourceVersion}&fieldSelector=metadata.name%3Dwatched`
  const done = (events: readonly Loose[]) => events.at(-1)?.type === 'DELETED'
  const watching = watchFrames(near, path, { accept: `${type};stream=watch`, message, done })
  await client.post(collection, objectNamed('watched'))
  await client.put(`${collection}/watched`, objectNamed('watched', { k: 'w' }))
  const { body: last } = await client.get(`${collection}/watched`)
  await client.delete(`${collection}/watched`)
  const { contentType, events } = await watching
  assert.equal(contentType, `${type};stream=watch`)
  assert.deepEqual(
    events.map((event) => event.type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  )
  assert.deepEqual(differencesFromJson(last, events[1]!.object), [])
  assert.deepEqual(events[2]!.object.data, { k: 'w' })
  assert.notEqual(events[2]!.object.metadata.resourceVersion, last.metadata.resourceVersion)
  const short = { accept: `application/yaml, ${type}`, message, done: () => false }
  const marked = await watchFrames(near, `${collection}?watch=1&allowWatchBookmarks=1&timeoutSeconds=3`, short)
  assert.deepEqual([...new Set(marked.events.map((event) => event.type))], ['ADDED', 'BOOKMARK'])
  assert.equal(marked.events.at(-1)!.object.kind, 'ConfigMap')
  assert.match(marked.events.at(-1)!.object.metadata.resourceVersion, /^\d+$/)
})

test('partial metadata can be watched in Protobuf', async () => {
  await client.post(collection, objectNamed('seen'))
  const path = `${collection}?watch=1&timeoutSeconds=10&fieldSelector=metadata.name%3Dseen`
  const accept = `${type}${metadata('PartialObjectMetadata')}`
  const { events } = await watchFrames(near, path, {
    accept,
    message: 'meta.v1.PartialObjectMetadata',
    done: ({ length }) => length > 0,
  })
  const { kind, apiVersion, metadata: shown } = events[0]!.object
  assert.deepEqual([kind, apiVersion, shown.name], ['PartialObjectMetadata', 'meta.orch.io/v1', 'seen'])
})

test('discovery and generated responses are available in Protobuf', async () => {
  for (const [path, name] of [
    ['/api', 'APIVersions'],
    ['/apis', 'APIGroupList'],
    ['/apis/certificates.orch.io', 'APIGroup'],
    ['/apis/certificates.orch.io/v1', 'APIResourceList'],
    ['/api/v1', 'APIResourceList'],
  ] as const) {
    const answer = await protobuf.get(path, `meta.v1.${name}`)
    assert.equal(answer.body.kind, name)
    assert.deepEqual(differencesFromJson((await client.get(path)).body, answer.body), [])
  }
  const review = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenReview', spec: { token: 'alice-token' } }
  const sent = { document: review, message: 'authentication.v1.TokenReview' }
  const { status, body } = await protobuf.send('POST', '/apis/authentication.orch.io/v1/tokenreviews', sent)
  assert.equal(status, 201)
  assert.deepEqual(
    [body.status.authenticated, body.status.user.username, body.status.user.groups.slice(0, 2)],
    [true, 'alice', ['dev', 'ops']],
  )
})

test('node agents can request service account tokens in Protobuf', async () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  assert.equal((await client.post(accounts, { metadata: { name: 'robot' } })).status, 201)
  const spec = { audiences: ['vault'], expirationSeconds: 7200 }
  const asked = { apiVersion: 'authentication.orch.io/v1', kind: 'TokenRequest', spec }
  const sent = { document: asked, message: 'authentication.v1.TokenRequest' }
  const { status, body } = await protobuf.send('POST', `${accounts}/robot/token`, sent)
  assert.equal(status, 201)
  assert.deepEqual([body.spec.audiences, Number(body.spec.expirationSeconds)], [['vault'], 7200])
  assert.match(body.status.token, /^eyJ[^.]+\.[^.]+\.[^.]+$/)
})

test('a Scale subresource can be read and written in Protobuf', async () => {
  const path = '/api/v1/namespaces/default/replicationcontrollers'
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 0, selector: { a: 'b' }, template }
  assert.equal((await client.post(path, { metadata: { name: 'rc' }, spec })).status, 201)
  const read = async () => (await protobuf.get(`${path}/rc/scale`, 'autoscaling.v1.Scale')).body
  const scale = await read()
  assert.equal(scale.kind, 'Scale')
  // The Scale and the ReplicationController have the same cache key, but separate messages.
  assert.deepEqual((await protobuf.get(`${path}/rc`, 'core.v1.ReplicationController')).body.spec.selector, { a: 'b' })
  const document = { ...scale, spec: { replicas: 3 } }
  const written = await protobuf.send('PUT', `${path}/rc/scale`, { document, message: 'autoscaling.v1.Scale' })
  assert.equal(written.status, 200, JSON.stringify(written.body))
  assert.equal((await read()).spec.replicas, 3)
})

test('custom resources are returned in the next accepted format instead of Protobuf, but their definitions support Protobuf', async () => {
  const schema = { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } }
  const definition = {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  assert.equal((await client.post(definitions, definition)).status, 201)
  const widgets = '/apis/example.com/v1/namespaces/default/widgets'
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, size: 1 }
  assert.equal((await client.post(widgets, widget)).status, 201)
  for (const path of [widgets, `${widgets}/w`]) {
    const fallen = await client.get(path, { accept: `${type},application/json` })
    assert.equal(`${fallen.status} ${fallen.headers['content-type']}`, '200 application/json', path)
    const refused = await protobuf.get(path, message)
    assert.equal(refused.status, 406, path)
    assert.match(refused.body.message, /application\/json, application\/yaml$/)
  }
  const read = await protobuf.get(`${definitions}/widgets.example.com`, 'apiextensions.v1.CustomResourceDefinition')
  assert.equal(read.body.spec.versions[0].schema.openAPIV3Schema.properties.size.type, 'integer')
  const raw = writeDocument({ ...objectNamed('x'), apiVersion: 'example.com/v1', kind: 'Widget' }, message)
  const sent = await client.send(widgets, { method: 'POST', raw, headers: { 'content-type': type } })
  assert.equal(sent.status, 415)
})

/** Returns the envelope of a ConfigMap with additional data after its type. */
const sealed = (hex: string) =>
  Buffer.from(`6b387300 0a0f 0a027631 1209436f6e6669674d6170 ${hex}`.replaceAll(' ', ''), 'hex')

test('malformed Protobuf messages are rejected, and the error contains the reason', async () => {
  const send = (raw: Buffer, path = collection, method = 'POST') =>
    client.send(path, { method, raw, headers: { 'content-type': type } })
  const good = writeDocument(objectNamed('refused'), message)
  const deep = Buffer.concat(Array(50_000).fill(Buffer.from('0affffff7f', 'hex')))
  const rows: [string, Buffer, number, RegExp][] = [
    ['nothing', Buffer.alloc(0), 400, /the message is empty/],
    ['another prefix', Buffer.concat([Buffer.from('x'), good.subarray(1)]), 400, /the prefix 6b 38 73 00 is missing/],
    ['JSON', Buffer.from(JSON.stringify(objectNamed('refused'))), 400, /the prefix 6b 38 73 00 is missing/],
    ['cut off', good.subarray(0, -5), 400, /extends past the end of the message/],
    [
      'another kind',
      writeDocument({ ...objectNamed('refused'), kind: 'Secret' }, message),
      400,
      /this path requires ConfigMap/,
    ],
    [
      'another version',
      writeDocument({ ...objectNamed('refused'), apiVersion: 'v2' }, message),
      400,
      /this path requires/,
    ],
    ['a wrong wire type', sealed('1202 0801'), 400, /metadata: field 1 has wire type 0, not 2/],
    ['a group', sealed('1204 9b06 9c06'), 400, /group/],
    ['a group around everything', sealed('2b2c'), 400, /group/],
    ['a length bomb', sealed('12ffffffff07'), 400, /a length prefix extends past the end of the message/],
    ['a negative length', sealed('12ffffffffffffffffff01'), 400, /a length prefix extends past the end of the message/],
    ['an endless varint', sealed(`18${'ff'.repeat(20)}`), 400, /varint|wire type/],
    ['invalid UTF-8', sealed('1206 0a04 0a02c328'), 400, /metadata\.name: field 1 is not UTF-8/],
    [
      'endless nesting',
      sealed(`12ffff0f${deep.subarray(0, 1000).toString('hex')}`),
      400,
      /extends past the end of the message/,
    ],
    [
      'too many values',
      writeDocument(
        {
          ...objectNamed('refused'),
          data: Object.fromEntries(Array.from({ length: 120_000 }, (_, i) => [`k${i}`, ''])),
        },
        message,
      ),
      413,
      /values/,
    ],
    ['too long', Buffer.concat([good, Buffer.alloc(4 * 1024 * 1024)]), 413, /too large/],
  ]
  for (const [what, raw, code, why] of rows) {
    const answer = await send(raw)
    assert.equal(answer.status, code, `${what}: ${answer.text.slice(0, 300)}`)
    assert.match(answer.body.message, why, what)
  }
  assert.equal((await send(good, `${collection}/refused`, 'PATCH')).status, 415)
  const foreign = await client.send(collection, {
    method: 'POST',
    raw: good,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  })
  assert.equal(foreign.status, 415)
  assert.match(foreign.body.message, /application\/json, application\/yaml, application\/vnd\.orch\.protobuf/)
  assert.equal((await client.get(`${collection}/refused`)).status, 404)
  assert.equal((await send(good)).status, 201)
})

test('in Protobuf, missing type fields are handled as in JSON, and unknown fields are skipped even with strict field validation', async () => {
  const unknown = Buffer.concat([writeDocument(objectNamed('unknown'), message), Buffer.from('2a0161', 'hex')])
  const headers = { 'content-type': type }
  const strict = await client.send(`${collection}?fieldValidation=Strict`, { method: 'POST', raw: unknown, headers })
  assert.equal(strict.status, 201)
  assert.equal(strict.headers.warning, undefined)
  const wrong = await client.send(`${collection}?fieldValidation=Perhaps`, { method: 'POST', raw: unknown, headers })
  assert.equal(wrong.status, 422)
  const untyped = writeDocument({ ...objectNamed('untyped'), apiVersion: '', kind: '' }, message)
  assert.equal((await client.send(collection, { method: 'POST', raw: untyped, headers })).status, 201)
  const keys = { ['__proto__']: 'p', constructor: 'c', '10': 'ten', '9': 'nine' }
  assert.equal((await protobuf.send('POST', collection, { document: objectNamed('keys', keys), message })).status, 201)
  assert.deepEqual(
    Object.entries((await client.get(`${collection}/keys`)).body.data).sort(),
    Object.entries(keys).sort(),
  )
})

/** Returns a version of ConfigMap that counts how often an object is converted for output. */
function countingKind() {
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = configMap.schema.fields
  const counter = { reads: 0 }
  const kind = defineVersion(configMap, {
    version: 'v2',
    fields,
    toStored: (object: ApiObject) => object,
    fromStored: (object: ApiObject) => {
      counter.reads++
      return object as never
    },
  })
  return { kind, counter }
}

test('an object is encoded to Protobuf once for all clients', async (t) => {
  const { kind, counter } = countingKind()
  const { port, ca, client: inside, stop } = await startInProcess([...allKinds, kind])
  t.after(stop)
  const objects = 50
  const clients = long ? 30 : 10
  const changes = 10
  for (let i = 0; i < objects; i++) await inside.post(collection, objectNamed(`c${i}`))
  const path = '/api/v2/namespaces/default/configmaps'
  const watched = objects + changes
  const watchers = Array.from({ length: clients }, () =>
    watchFrames({ port, ca }, `${path}?watch=1`, { accept: type, message, done: ({ length }) => length === watched }),
  )
  const list = () => inside.get(path, { accept: type })
  const lists = await Promise.all(Array.from({ length: clients }, list))
  for (let i = 0; i < changes; i++) await inside.put(`${collection}/c${i}`, objectNamed(`c${i}`, { k: 'changed' }))
  for (const { events } of await Promise.all(watchers)) assert.equal(events.length, watched)
  assert.equal(new Set(lists.map(({ text }) => text)).size, 1)
  await list()
  assert.equal(counter.reads, watched)
  const { items } = readDocument((await list()).bytes, `${message}List`)
  assert.equal(items.filter(({ data }: Loose) => data.k === 'changed').length, changes)
})

/**
 * The measured time includes garbage collection. A create includes a lot of other work, so its limit is the same as for
 * JSON.
 */
const boundMs: { readonly [what: string]: number } = { create: 350, get: 150, list: 150 }

test('large Protobuf objects are read and written in time slices', async (t) => {
  const inside = await startInProcess()
  t.after(inside.stop)
  const data = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`key-${i}`, `value ${i}`]))
  const raw = writeDocument(objectNamed('large', data), message)
  const headers = { 'content-type': type, accept: type }
  const asks: { readonly [what: string]: () => Promise<{ readonly status: number }> } = {
    create: async () => {
      // Delete the object of the previous attempt, if any.
      await inside.client.delete(`${collection}/large`)
      return await inside.client.send(collection, { method: 'POST', raw, headers })
    },
    get: () => inside.client.get(`${collection}/large`, { accept: type }),
    list: () => inside.client.get(collection, { accept: type }),
  }
  for (const [what, ask] of Object.entries(asks)) {
    const { result, stretch } = await assertBrief(boundMs[what]!, ask)
    t.diagnostic(`${what}: ${result.status} after ${stretch.toFixed(0)} ms at a stretch`)
    assert.ok(result.status < 300)
  }
})
