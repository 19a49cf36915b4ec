/** Tests console tables: the first page of many objects, in the server's order, and live changes to that page. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Informer } from '../../../src/client/informers/informer.ts'
import { ConfigMap } from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import type { DiscoveredType } from '../../../src/client/requests/discovery.ts'
import { type TableExtent, TableFollower } from '../../../src/tools/console/page/core/live-table.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { soon } from '../../support/until.ts'

const shared = endOfFile()
const count = 1_100
const maps = '/api/v1/namespaces/default/configmaps'
const type = { ...ConfigMap, verbs: ['list', 'watch'] } as unknown as DiscoveredType
const extended = await serve(shared)
const plain = await serve(shared, ['--extensions=false'])

/** A client that records the query of each list. */
function recordingClient(server: Restartable) {
  const lists: URLSearchParams[] = []
  const send = server.transport()
  const client = new Client((request) => {
    const { searchParams } = new URL(request.path, 'https://server')
    if (!searchParams.has('watch')) lists.push(searchParams)
    return send(request)
  })
  return { client, lists }
}

before(async () => {
  for (const server of [extended, plain]) {
    const client = server.client()
    const names = Array.from({ length: count }, (_, i) => `m${String(i).padStart(4, '0')}`)
    for (let i = 0; i < count; i += 20)
      await Promise.all(
        names.slice(i, i + 20).map((name) => client.post(maps, { metadata: { name }, data: { k: 'x'.repeat(500) } })),
      )
  }
})

async function follow(server: Restartable, extent: TableExtent) {
  const stop = new AbortController()
  shared.after(() => stop.abort())
  const { client, lists } = recordingClient(server)
  const follower = new TableFollower(client, type, { namespace: 'default', extent })
  void follower.run(stop.signal)
  await soon(() => follower.store.value.state === 'live')
  const names = () => [...follower.store.value.rows.values()].map(({ metadata }) => metadata.name)
  return { follower, lists, names, value: () => follower.store.value }
}

const inTable = (name: string) => ({ metadata: { name }, data: {} })

test('a console table of many objects loads one page and shows the number of remaining objects', async () => {
  const { follower, lists, names, value } = await follow(extended, { sort: '-metadata.name', maxRows: 600 })
  assert.deepEqual([lists.length, names().length, names()[0], value().total], [1, 500, 'm1099', count])

  // If an object beyond the first page changes, the table changes only the total.
  const client = extended.client()
  await client.post(maps, inTable('new'))
  await soon(() => value().total === count + 1 && names().includes('new'))
  await client.put(`${maps}/m0001`, inTable('m0001'))
  await client.delete(`${maps}/m0002`)
  await client.delete(`${maps}/new`)
  await soon(() => value().total === count - 1)
  assert.equal(names().length, 500)
  await client.post(maps, inTable('m0002'))
  await soon(() => value().total === count)

  follower.load({ sort: 'metadata.name', maxRows: 600 })
  await soon(() => names()[0] === 'm0000')
  assert.equal(lists.length, 2)
  follower.load({ maxRows: Number.POSITIVE_INFINITY })
  await soon(() => value().total === undefined && names().length === count)
  assert.equal(lists.length, 5)
  // All objects are loaded, so the page sorts them itself.
  follower.load({ sort: '-metadata.name', maxRows: 600 })
  await client.put(`${maps}/m0001`, inTable('m0001'))
  assert.equal(lists.length, 5)
})

test('a console table loads all objects if there are only a few, or if the server does not sort them', async () => {
  const few = await follow(extended, { maxRows: 2_000 })
  assert.deepEqual([few.names().length, few.value().total], [count, undefined])
  const unsorted = await follow(plain, { sort: '-metadata.name', maxRows: 600 })
  assert.deepEqual([unsorted.names().length, unsorted.value().total], [count, undefined])
})

test('an informer of the console lists only the fields in use, but changed objects contain all fields', async () => {
  const stop = new AbortController()
  shared.after(() => stop.abort())
  const { client, lists } = recordingClient(extended)
  const fields = 'metadata.name,metadata.namespace,metadata.uid,metadata.resourceVersion'
  const informer = new Informer(client, ConfigMap, {
    selection: { namespace: 'default' },
    ...{ fields, streamingLists: false, onError: (error) => assert.fail(String(error)) },
  })
  void informer.run(stop.signal)
  assert.equal(await informer.synced, true)
  const key = { namespace: 'default', name: 'm0500' }
  assert.deepEqual(Object.keys(informer.get(key)!).sort(), ['apiVersion', 'kind', 'metadata'])
  assert.equal(informer.size, count)
  assert.ok(lists.every((query) => query.get('fields') === fields))
  await extended.client().put(`${maps}/m0500`, { metadata: { name: 'm0500' }, data: { k: 'changed' } })
  await soon(() => informer.get(key)!.data?.k === 'changed')
})
