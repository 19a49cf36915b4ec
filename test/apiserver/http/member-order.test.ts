/** Tests the final newline and the order of members in every response. Scripts that search the text depend on both. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { crc32 } from 'node:zlib'
import type { Answer } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { collectionOf, define, definitions } from '../custom/definitions.ts'

const server = await serve({ after })
const client = server.client()
const path = '/api/v1/namespaces/default/configmaps'

/**
 * Returns the keys at this path in a response, in the order of the text. The keys must not be numbers, because
 * JavaScript moves numeric keys to the front.
 */
function keysAt({ text }: Pick<Answer, 'text'>, ...place: readonly (string | number)[]): string[] {
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any response
  return Object.keys(place.reduce((value: any, key) => value[key], JSON.parse(text)))
}

function assertEnds({ text }: Answer): void {
  assert.ok(text.endsWith('}\n') && !text.endsWith('\n\n'), JSON.stringify(text.slice(-10)))
}

const sent = {
  metadata: { labels: { b: '1', a: '2' }, name: 'ordered' },
  data: { z: '1', '10': 'x', '9': 'y', a: '2' },
  immutable: false,
}
const metadata = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'labels', 'managedFields']
const managed = ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1']

const created = await client.post(path, sent)

test('created, read, updated and dry-run objects are encoded with fields in the order that their type declares', async () => {
  const patch = (body: unknown, query = '') => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    return client.send(`${path}/ordered${query}`, { method: 'PATCH', headers, body })
  }
  const answers = [
    created,
    await client.get(`${path}/ordered`),
    await client.put(`${path}/ordered`, sent),
    await patch({ metadata: { labels: { '0': 'x' } } }),
    await patch({ metadata: { labels: { '0': null } } }),
    await patch({ data: { aa: '' } }, '?dryRun=All'),
    await client.post(`${path}?dryRun=All`, { ...sent, metadata: { ...sent.metadata, name: 'dry' } }),
  ]
  for (const answer of answers) {
    assert.ok(answer.status < 300, answer.text)
    assert.deepEqual(keysAt(answer), ['kind', 'apiVersion', 'metadata', 'immutable', 'data'])
    assert.deepEqual(
      keysAt(answer, 'metadata'),
      metadata.filter((key) => key !== 'resourceVersion' || answer.body.metadata.resourceVersion),
    )
    assert.deepEqual(keysAt(answer, 'metadata', 'managedFields', 0), managed)
    assertEnds(answer)
  }
  // Map keys are sorted in byte order, so 10 comes before 9.
  assert.match(created.text, /"labels":\{"a":"2","b":"1"\}/)
  assert.match(created.text, /"data":\{"10":"x","9":"y","a":"2","z":"1"\}/)
})

test('lists, watches, tables and partial metadata are encoded with fields in the order that their type declares', async () => {
  const list = await client.get(`${path}?limit=1`)
  assert.deepEqual(keysAt(list), ['kind', 'apiVersion', 'metadata', 'items'])
  assert.deepEqual(keysAt(list, 'items', 0), ['metadata', 'immutable', 'data'])
  assert.deepEqual(keysAt(list, 'items', 0, 'metadata'), metadata)
  assertEnds(list)
  assertEnds(await client.get(`${path}?labelSelector=none`))

  const shown = (as: string, target: string) =>
    client.get(target, { accept: `application/json;as=${as};g=meta.orch.io;v=v1` })
  const watch = `${path}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true`
  const [events, ...views] = await Promise.all([
    client.get(watch),
    ...['PartialObjectMetadata', 'Table'].map((as) => shown(as, watch)),
  ])
  const first = events.text.split('\n')[0]!
  const last = events.text.trimEnd().split('\n').at(-1)!
  assert.match(first, /^\{"type":"ADDED","object":\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":/)
  assert.match(
    last,
    /^\{"type":"BOOKMARK","object":\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"resourceVersion":/,
  )
  const marks = views.map(({ text }) => text.trimEnd().split('\n').at(-1)!.replace(/"\d+"/, 'N'))
  const ofView = '"apiVersion":"meta.orch.io/v1","metadata":{"resourceVersion":N'
  assert.deepEqual(marks, [
    `{"type":"BOOKMARK","object":{"kind":"PartialObjectMetadata",${ofView},"creationTimestamp":null}}}`,
    `{"type":"BOOKMARK","object":{"kind":"Table",${ofView}},"columnDefinitions":[],"rows":[]}}`,
  ])

  const partial = await shown('PartialObjectMetadata', `${path}/ordered`)
  assert.deepEqual(keysAt(partial), ['kind', 'apiVersion', 'metadata'])
  assert.deepEqual(keysAt(partial, 'metadata'), metadata)
  const partials = await shown('PartialObjectMetadataList', path)
  assert.deepEqual(keysAt(partials), ['kind', 'apiVersion', 'metadata', 'items'])
  assert.deepEqual(keysAt(partials, 'items', 0), ['kind', 'apiVersion', 'metadata'])
  for (const target of [path, `${path}/ordered`, `${path}?includeObject=Object`]) {
    const table = await shown('Table', target)
    assert.deepEqual(keysAt(table), ['kind', 'apiVersion', 'metadata', 'columnDefinitions', 'rows'])
    assert.deepEqual(keysAt(table, 'columnDefinitions', 0), ['name', 'type', 'format', 'description', 'priority'])
    assert.deepEqual(keysAt(table, 'rows', 0), ['cells', 'object'])
    assert.deepEqual(keysAt(table, 'rows', 0, 'object').slice(0, 3), ['kind', 'apiVersion', 'metadata'])
    assert.deepEqual(keysAt(table, 'rows', 0, 'object', 'metadata'), metadata)
    assertEnds(table)
  }
})

test('Status, discovery, /version and converted objects are encoded with fields in the order that their type declares', async () => {
  const missing = await client.get(`${path}/none`)
  assert.deepEqual(keysAt(missing), [
    ...['kind', 'apiVersion', 'metadata', 'status', 'message', 'reason', 'details', 'code'],
  ])
  assertEnds(missing)
  const resources = await client.get('/api/v1')
  assert.deepEqual(keysAt(resources), ['kind', 'groupVersion', 'resources'])
  const at = resources.body.resources.findIndex(({ name }: { name: string }) => name === 'pods')
  assert.deepEqual(keysAt(resources, 'resources', at), [
    ...['name', 'singularName', 'namespaced', 'kind', 'verbs', 'shortNames', 'categories', 'storageVersionHash'],
  ])
  assertEnds(resources)
  const maps = resources.body.resources.find(({ name }: { name: string }) => name === 'configmaps')
  // The first eight bytes of the SHA-256 of `/v1/ConfigMap`.
  assert.equal(maps.storageVersionHash, 'qFsyl6wFWjQ=')
  assert.deepEqual(keysAt(await client.get('/version')).slice(0, 3), ['major', 'minor', 'gitVersion'])
  const { resources: apps } = (await client.get('/apis/apps/v1')).body
  const hash = createHash('sha256').update('apps/v1/Deployment').digest().subarray(0, 8).toString('base64')
  assert.equal(apps.find(({ name }: { name: string }) => name === 'deployments').storageVersionHash, hash)
  const scaler = { spec: { maxReplicas: 3, scaleTargetRef: { name: 'a', kind: 'K', apiVersion: 'v1' } } }
  const older = await client.post('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', {
    metadata: { name: 'scaler' },
    ...scaler,
  })
  assert.deepEqual(keysAt(older), ['kind', 'apiVersion', 'metadata', 'spec', 'status'])
  assert.deepEqual(keysAt(older, 'spec', 'scaleTargetRef'), ['kind', 'name', 'apiVersion'])
})

test('map keys in OpenAPI documents are sorted in byte order', async () => {
  for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) {
    const document = await client.get(path)
    assert.deepEqual(keysAt(document, 'paths'), keysAt(document, 'paths').sort(), path)
    const place = path === '/openapi/v2' ? ['definitions'] : ['components', 'schemas']
    const names = keysAt(document, ...place)
    assert.deepEqual(names, [...names].sort(), path)
    const pod = names.find((name) => name.endsWith('core.v1.PodSpec'))!
    assert.deepEqual(keysAt(document, ...place, pod, 'properties').slice(0, 2), ['activeDeadlineSeconds', 'affinity'])
  }
  assert.deepEqual(keysAt(await client.get('/openapi/v2')).slice(0, 4), ['swagger', 'info', 'paths', 'definitions'])
})

test('pretty-printed output is indented, keeps the member order, and has no newline at the end', async () => {
  const one = await client.get(`${path}/ordered?pretty=true`)
  assert.ok(
    one.text.startsWith('{\n  "kind": "ConfigMap",\n  "apiVersion": "v1",\n  "metadata": {\n    "name": "ordered",'),
  )
  assert.match(one.text, /\n {2}"data": \{\n {4}"10": "x",\n {4}"9": "y",\n {4}"a": "2",\n {4}"z": "1"\n {2}\}\n\}$/)
  assert.deepEqual(one.body, (await client.get(`${path}/ordered`)).body)
  const list = await client.get(`${path}?pretty=true`)
  assert.ok(list.text.startsWith('{\n  "kind": "ConfigMapList",\n  "apiVersion": "v1",\n  "metadata": {\n'))
  assert.match(list.text, /\n {2}"items": \[\n {4}\{\n {6}"metadata": \{\n/)
  assert.ok(list.text.endsWith('\n  ]\n}'))
  assert.deepEqual(list.body, (await client.get(path)).body)
})

test('the members of custom objects are sorted in byte order at every level', async () => {
  await define(client)
  const widgets = collectionOf()
  const object = { kind: 'Widget', apiVersion: 'stable.example.com/v1', spec: { b: 1, a: 2 } }
  const made = await client.post(widgets, { ...object, metadata: { name: 'w', labels: { b: '', a: '' } } })
  assert.equal(made.status, 201, made.text)
  for (const answer of [made, await client.get(`${widgets}/w`)]) {
    assert.deepEqual(keysAt(answer), [...keysAt(answer)].sort())
    assert.deepEqual(keysAt(answer, 'metadata'), [...keysAt(answer, 'metadata')].sort())
    assertEnds(answer)
  }
  const list = await client.get(widgets)
  assert.deepEqual(keysAt(list), ['apiVersion', 'items', 'kind', 'metadata'])
  assert.deepEqual(keysAt(list, 'items', 0), keysAt(made))
  assertEnds(list)
})

test('the schema in a CustomResourceDefinition is encoded with fields in declared order at every level', async () => {
  const part = { 'x-orch-preserve-unknown-fields': true, type: 'object', description: 'd' }
  const items = { items: { maxLength: 1, type: 'string', description: 'd' }, type: 'array' }
  const schema = { properties: { spec: { properties: { b: items, a: part }, type: 'object' } }, type: 'object' }
  const name = await define(client, { plural: 'gadgets', kind: 'Gadget', schema })
  const answer = await client.get(`${definitions}/${name}`)
  const place = ['spec', 'versions', 0, 'schema', 'openAPIV3Schema'] as const
  assert.deepEqual(keysAt(answer, 'spec', 'versions', 0), ['name', 'served', 'storage', 'schema'])
  assert.deepEqual(keysAt(answer, ...place), ['type', 'properties'])
  const spec = [...place, 'properties', 'spec', 'properties'] as const
  assert.deepEqual(keysAt(answer, ...spec), ['a', 'b'])
  assert.deepEqual(keysAt(answer, ...spec, 'a'), ['description', 'type', 'x-orch-preserve-unknown-fields'])
  assert.deepEqual(keysAt(answer, ...spec, 'b'), ['type', 'items'])
  assert.deepEqual(keysAt(answer, ...spec, 'b', 'items'), ['description', 'type', 'maxLength'])
})

/**
 * Returns a value in the former storage format: apiVersion and kind first, then all other members in byte order, with
 * the version before the uid.
 */
function olderValue(key: string, name: string): Buffer {
  const before = `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"},"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","name":"${name}","namespace":"default",`
  const after = `"uid":"uid-${name}"}}`
  const bytes = Buffer.alloc(14 + 2 + before.length + after.length)
  bytes[0] = 2
  bytes.writeUInt32LE(2, 6)
  bytes.writeUInt32LE(before.length, 10)
  bytes.write(`{}${before}${after}`, 14)
  bytes.writeUInt32LE(crc32(bytes.subarray(6), crc32(key)), 2)
  return bytes
}

test('objects that an earlier version stored keep their member order until they are written again', async (t) => {
  const other = await serve(t)
  await other.stop()
  for (const name of ['old-a', 'old-b']) {
    const key = `objects/core/configmaps/default/${name}`
    await other.store.commit({ key, expected: 0, value: olderValue(key, name) })
  }
  await other.restart()
  const user = other.client()
  const older = ['apiVersion', 'kind', 'data', 'metadata']
  assert.deepEqual(keysAt(await user.get(`${path}/old-a`)), older)
  const list = await user.get(path)
  assert.deepEqual(
    list.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['old-a', 'old-b'],
  )
  assert.deepEqual(keysAt(list, 'items', 0), ['data', 'metadata'])
  assertEnds(list)
  const patched = await user.send(`${path}/old-a`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { data: { b: '2' } },
  })
  assert.deepEqual(keysAt(patched), ['kind', 'apiVersion', 'metadata', 'data'])
  const mixed = await user.get(path)
  assert.deepEqual(keysAt(mixed, 'items', 0), ['metadata', 'data'])
  assert.deepEqual(keysAt(mixed, 'items', 1), ['data', 'metadata'])
})
