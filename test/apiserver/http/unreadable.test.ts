/**
 * Tests objects in the store that are damaged or were written by a newer program. The log, /readyz?verbose and the
 * warnings in a list response name these objects. All other objects are served, and damaged objects can be deleted. The
 * tests run on the embedded store after a restart, and also on etcd while two servers are using it.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { type End, runEndings } from '../../support/end-of-file.ts'
import { startEtcd } from '../../support/etcd.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { watchFrames } from '../../support/protobuf-client.ts'
import { type Served, type ServerHandle, startServer } from '../../support/server.ts'
import { define, definitions, typeOf } from '../custom/definitions.ts'

const path = '/api/v1/namespaces/default/configmaps'
const keyOf = (name: string) => `objects/core/configmaps/default/${name}`

/** Changes the stored bytes of a ConfigMap. */
async function spoil(store: Store, name: string, change: (value: Buffer) => void): Promise<void> {
  await spoilKey(store, keyOf(name), change)
}

async function spoilKey(store: Store, key: string, change: (value: Buffer) => void): Promise<void> {
  const entry = await store.get(key)
  assert.ok(entry)
  const value = Buffer.from(entry.value)
  change(value)
  const result = await store.commit({ ...entry, expected: entry.revision, value })
  assert.equal(result.outcome, 'committed')
}

function flipped(value: Buffer): void {
  value[value.length - 10]! ^= 1
}

function newer(value: Buffer): void {
  value[0] = 9
  value.writeUInt32LE(crc32(value.subarray(7)), 2)
}

/** Converts a value to an older storage format, whose checksum does not cover the key. */
function older(value: Buffer): void {
  value[0] = 1
  value.writeUInt32LE(crc32(value.subarray(6)), 2)
}

async function create(client: HttpClient, names: readonly string[]): Promise<void> {
  for (const name of names) assert.equal((await client.post(path, { metadata: { name }, data: { name } })).status, 201)
}

/** Asserts that the server reports `b` as damaged and `d` as newer, and serves `a` and `c`. */
async function assertServes(server: Served): Promise<void> {
  const client = server.client()
  const list = await client.get(path)
  assert.deepEqual(
    list.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['a', 'c'],
  )
  const warning = String(list.headers.warning)
  assert.match(warning, /configmaps\/default\/b is omitted: the stored value does not match its checksum/)
  assert.match(warning, /configmaps\/default\/d is omitted: .* format 9, which only a newer version/)
  assert.equal((await client.get('/api/v1/secrets')).headers.warning, undefined)
  const ready = await client.get('/readyz?verbose')
  assert.equal(ready.status, 200)
  assert.match(ready.text, /\[\+\]objects ok, but 2 objects cannot be read: .*default\/b \(.*default\/d \(/)
  assert.match(
    server.output(),
    /cannot read a stored object; responses omit the object key="objects\/core\/configmaps\/default\/b"/,
  )
  assert.equal((await client.get(`${path}/a`)).status, 200)
  const damaged = await client.get(`${path}/b`)
  assert.equal(damaged.status, 500)
  assert.match(damaged.body.message, /configmaps "b" cannot be read: .*checksum; delete it, or restore it/)
  assert.equal((await client.put(`${path}/b`, { metadata: { name: 'b' } })).status, 500)
  assert.equal((await client.post(path, { metadata: { name: 'b' } })).status, 409)
  assert.match((await client.get(`${path}/d`)).body.message, /only a newer version of this program can read/)
  assert.equal((await client.delete(`${path}/d`)).status, 500)
  assert.equal(
    (await client.post('/api/v1/namespaces/default/secrets', { metadata: { generateName: 's-' } })).status,
    201,
  )
}

async function assertDeletes(client: HttpClient): Promise<void> {
  assert.equal((await client.delete(`${path}/b`, { preconditions: { uid: 'other' } })).status, 409)
  assert.equal((await client.delete(`${path}/b?dryRun=All`)).status, 200)
  assert.equal((await client.get(`${path}/b`)).status, 500)
  assert.equal((await client.delete(`${path}/b`)).status, 200)
  assert.equal((await client.get(`${path}/b`)).status, 404)
  await create(client, ['b'])
  assert.equal((await client.get(path)).body.items.length, 3)
}

async function inStore(server: Restartable | ServerHandle, run: (store: Store) => Promise<void>): Promise<void> {
  if ('store' in server) return await run(server.store)
  const store = await LmdbStore.open({ directory: join(server.directory, 'data') })
  try {
    await run(store)
  } finally {
    await store.close()
  }
}

test('damaged values and values in a newer format are omitted and reported, and damaged values can be deleted', async (t) => {
  const server = await startServer(t)
  await create(server.client(), ['a', 'b', 'c', 'd'])
  await server.stop()
  await inStore(server, async (store) => {
    await spoil(store, 'b', flipped)
    await spoil(store, 'd', newer)
  })
  await server.restart()
  await assertServes(server)
  await assertDeletes(server.client())
})

test('a value stored under the key of another object counts as damaged', async (t) => {
  const server = await serve(t)
  await create(server.client(), ['a', 'b'])
  await server.stop()
  await inStore(server, async (store) => {
    const other = await store.get(keyOf('a'))
    await spoil(store, 'b', (value) => value.set(other!.value))
  })
  await server.restart()
  assert.equal((await server.client().get(`${path}/b`)).status, 500)
  assert.equal((await server.client().get(`${path}/a`)).status, 200)
})

test('values in the previous format are verified, and rewritten in the current format', async (t) => {
  const server = await serve(t)
  await create(server.client(), ['a', 'b'])
  await server.stop()
  await inStore(server, async (store) => {
    await spoil(store, 'a', older)
    await spoil(store, 'b', (value) => {
      older(value)
      flipped(value)
    })
  })
  await server.restart()
  const client = server.client()
  assert.deepEqual((await client.get(`${path}/a`)).body.data, { name: 'a' })
  assert.equal((await client.get(`${path}/b`)).status, 500)
  assert.equal((await client.put(`${path}/a`, { metadata: { name: 'a' }, data: { name: 'new' } })).status, 200)
  await server.stop()
  await inStore(server, async (store) => assert.equal((await store.get(keyOf('a')))!.value[0], 3))
})

test('an unreadable quota or LimitRange blocks writes, and deleting a damaged object releases its allocations', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const inDefault = '/api/v1/namespaces/default'
  const post = async (plural: string, body: object) => (await client.post(`${inDefault}/${plural}`, body)).status
  const claim = (name: string) => ({ metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: storage } })
  const storage = { requests: { storage: '1Gi' } }
  const service = (name: string) => ({ metadata: { name }, spec: { clusterIP: '10.0.0.77', ports: [{ port: 1 }] } })
  assert.equal(await post('resourcequotas', { metadata: { name: 'q' }, spec: { hard: { secrets: '5' } } }), 201)
  assert.equal(await post('limitranges', { metadata: { name: 'l' }, spec: { limits: [] } }), 201)
  assert.equal(await post('services', service('s')), 201)
  assert.equal(await post('secrets', { metadata: { name: 'old' } }), 201)
  await define(client)
  const widgets = '/apis/stable.example.com/v1/namespaces/default/widgets'
  for (const name of ['a', 'b'])
    assert.equal((await client.post(widgets, { ...typeOf(), metadata: { name } })).status, 201)
  await server.stop()
  await inStore(server, async (store) => {
    await spoilKey(store, 'objects/core/resourcequotas/default/q', flipped)
    await spoilKey(store, 'objects/core/limitranges/default/l', flipped)
    await spoilKey(store, 'objects/core/services/default/s', flipped)
    await spoilKey(store, 'objects/apiextensions/customresourcedefinitions/widgets.stable.example.com', flipped)
  })
  await server.restart()

  const refused = await client.post(`${inDefault}/secrets`, { metadata: { name: 'new' } })
  assert.equal(refused.status, 500)
  assert.match(refused.body.message, /resourcequotas "q" cannot be read: .*; delete it, or restore it/)
  assert.equal((await client.delete(`${inDefault}/secrets/old`)).status, 200)
  assert.equal((await client.delete(`${inDefault}/resourcequotas/q`)).status, 200)
  assert.equal(await post('secrets', { metadata: { name: 'new' } }), 201)
  assert.equal(await post('persistentvolumeclaims', claim('c')), 500, 'a LimitRange that cannot be read')
  assert.equal((await client.delete(`${inDefault}/limitranges/l`)).status, 200)
  assert.equal(await post('persistentvolumeclaims', claim('c')), 201)

  assert.equal(await post('services', service('other')), 422)
  assert.equal((await client.delete(`${inDefault}/services/s?dryRun=All`)).status, 200)
  assert.equal((await client.delete(`${inDefault}/services/s`)).status, 200)
  assert.equal(await post('services', service('other')), 201)

  assert.equal((await client.delete(`${definitions}/widgets.stable.example.com`)).status, 200)
  await define(client)
  assert.deepEqual((await client.get(widgets)).body.items, [])
})

async function withEtcd(t: TestContext): Promise<{ servers: Restartable[]; store: EtcdStore }> {
  const cluster = await startEtcd()
  const endings: End[] = [() => cluster.stop()]
  t.after(() => runEndings(endings))
  const start = () => serve({ after: (run) => void endings.push(run) }, [`--etcd-servers=${cluster.endpoints}`])
  const servers = await Promise.all([start(), start()])
  const store = await EtcdStore.open({ endpoints: [...cluster.endpoints], prefix: '/orch/', historyMs: 300_000 })
  endings.push(() => store.close())
  return { servers, store }
}

test('when a value in etcd becomes unreadable, servers keep running, watches of the kind end, and lists report the value', async (t) => {
  const { servers, store } = await withEtcd(t)
  const [one, two] = servers.map((server) => server.client()) as [HttpClient, HttpClient]
  await create(one, ['a', 'b', 'c', 'd'])
  const from = (await two.get(path)).body.metadata.resourceVersion
  const begun = Promise.withResolvers<void>()
  const watching = (async () => {
    const seen: string[] = []
    for await (const { type } of two.watch(`${path}?watch=1`, AbortSignal.timeout(120_000)))
      if (seen.push(type) === 4) begun.resolve()
    return seen
  })()
  await Promise.race([begun.promise, watching])
  await spoil(store, 'b', flipped)
  await spoil(store, 'd', newer)
  assert.deepEqual(await watching, Array(4).fill('ADDED'))
  await Promise.all(servers.map((server) => assertServes(server)))
  for await (const { type, object } of two.watch(
    `${path}?watch=1&resourceVersion=${from}`,
    AbortSignal.timeout(120_000),
  ))
    assert.deepEqual([type, object.code], ['ERROR', 410])
  const near = { port: servers[1]!.port, ca: servers[1]!.credentials().authority! }
  const asked = { accept: 'application/vnd.orch.protobuf', message: 'core.v1.ConfigMap', done: () => false }
  const { events } = await watchFrames(near, `${path}?watch=1&resourceVersion=${from}`, asked)
  assert.deepEqual(
    events.map(({ type, object }) => [type, object.kind, object.code]),
    [['ERROR', 'Status', 410]],
  )
  await assertDeletes(one)
  assert.equal((await two.get(`${path}/b`)).status, 200)
  await servers[1]!.stop()
  await servers[1]!.restart()
  assert.equal((await two.get(`${path}/b`)).status, 200)
  assert.match((await two.get('/readyz?verbose')).text, /1 object cannot be read/)
})
