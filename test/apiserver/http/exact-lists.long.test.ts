/**
 * Tests lists at an older version, which are read from the store's history. Such lists can have any length but require
 * only a few requests to the store.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { encodeStored } from '../../../src/api/codec/stored.ts'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { startServer } from '../../support/server.ts'

const path = '/api/v1/namespaces/default/configmaps'

const exactly = (version: number, rest: string) =>
  `${path}?resourceVersion=${version}&resourceVersionMatch=Exact&${rest}`

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any list
async function list(client: HttpClient, target: string): Promise<any> {
  const { status, body, text } = await client.get(target)
  assert.equal(status, 200, text.slice(0, 1000))
  return body
}

test('a list with a selector and a small limit does not query etcd for each object', {
  timeout: 300_000,
}, async (t) => {
  const cluster = await startEtcd()
  t.after(() => cluster.stop())
  const client = (await serve(t, [`--etcd-servers=${cluster.endpoints}`])).client()
  const nameOf = (i: number) => `m-${String(i).padStart(4, '0')}`
  const labelsOf = (i: number) => (i % 100 === 99 ? { labels: { rare: 'yes' } } : {})
  const count = 400
  const make = (i: number) => client.post(path, { metadata: { name: nameOf(i), ...labelsOf(i) } })
  const made = await Promise.all(Array.from({ length: count }, (_, i) => make(i)))
  assert.ok(made.every(({ status }) => status === 201))
  const version = Number((await list(client, `${path}?limit=1`)).metadata.resourceVersion)
  assert.equal((await client.delete(`${path}/${nameOf(99)}`)).status, 200)

  const before = await rangesOf(cluster)
  const names: string[] = []
  let target = exactly(version, 'labelSelector=rare&limit=1')
  for (let page = 0; target !== ''; page++) {
    assert.ok(page < 10, 'there is no end')
    const { items, metadata } = await list(client, target)
    assert.equal(metadata.resourceVersion, String(version))
    assert.ok(items.length <= 1)
    names.push(...items.map((item: { metadata: { name: string } }) => item.metadata.name))
    const token = encodeURIComponent(metadata.continue ?? '')
    target = token === '' ? '' : `${path}?labelSelector=rare&limit=1&continue=${token}`
  }
  assert.deepEqual(names, [99, 199, 299, 399].map(nameOf))
  const asked = (await rangesOf(cluster)) - before
  assert.ok(asked < 60, `etcd was asked ${asked} times`)
})

/** Returns the number of range requests that etcd has received, according to its own metrics. */
async function rangesOf({ endpoints }: Cluster): Promise<number> {
  const text = await (await fetch(`${endpoints[0]}/metrics`)).text()
  return Number(/^grpc_server_started_total\{grpc_method="Range",.*\} (\S+)$/m.exec(text)![1])
}

/** In the long variant, there are more objects than a function call can have arguments. */
const count = long ? 140_000 : 20_000

test(`a list of ${count} objects is complete, with and without pages`, { timeout: 300_000 }, async (t) => {
  const server = await startServer(t)
  await server.stop()
  await fill(join(server.directory, 'data'), count)
  await server.restart()
  const client = server.client()
  const version = Number((await list(client, `${path}?limit=1`)).metadata.resourceVersion)
  assert.equal((await client.post(path, { metadata: { name: 'a-new-one' } })).status, 201)
  const first = await list(client, exactly(version, `limit=${count - 3}`))
  assert.ok(first.items.length > 1000)
  assert.equal(first.items.length + first.metadata.remainingItemCount, count)
  // A page may end early because its size is limited.
  assert.equal(await countRest(client, first), count - first.items.length)
  const all = await list(client, exactly(version, ''))
  assert.equal(all.items.length, count)
  assert.equal(all.metadata.continue, undefined)
})

/** Returns the number of objects on the pages after the current page. */
async function countRest(client: HttpClient, page: Page): Promise<number> {
  let rest = 0
  for (let token = page.metadata.continue; token !== undefined; ) {
    const next: Page = await list(client, `${path}?limit=1000000&continue=${token}`)
    rest += next.items.length
    token = next.metadata.continue
  }
  return rest
}

interface Page {
  readonly items: readonly unknown[]
  readonly metadata: { readonly continue?: string }
}

/** Writes many small objects to the store before the server starts. */
async function fill(directory: string, count: number): Promise<void> {
  const store = await LmdbStore.open({ directory })
  const object = (i: number) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `m-${i}`, namespace: 'default', uid: `uid-${i}`, creationTimestamp: '2026-01-01T00:00:00Z' },
  })
  const commits = Array.from({ length: count }, (_, i) => {
    const key = `objects/core/configmaps/default/m-${i}`
    return store.commit({
      key,
      expected: 0,
      value: encodeStored(key, { object: object(i), order: configMap.schema, header: {} }),
    })
  })
  await Promise.all(commits)
  await store.close()
}
