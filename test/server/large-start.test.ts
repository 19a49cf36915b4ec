/**
 * Tests that a server on a large data file is ready before it has checked all pages and cached all objects. Requests
 * return the same data during that time as they do later. A damaged page stops the server, and no request treats the
 * objects on that page as missing.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { encodeStored } from '../../src/api/codec/stored.ts'
import { configMap } from '../../src/api/kinds/core/config-map.ts'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { startEtcd } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { longTest } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { type ServerHandle, startServer } from '../support/server.ts'

const objects = 2_600
const nameOf = (i: number) => `c${String(i).padStart(4, '0')}`
const keyOf = (i: number) => `objects/core/configmaps/default/${nameOf(i)}`
const pageSize = 4096

/** Creates objects, then changes and deletes some of them, which scatters the pages of the file. */
async function fill(directory: string): Promise<void> {
  const store = await LmdbStore.open({ directory })
  const revisions = new Map<number, number>()
  const write = async (i: number, serial: number | undefined) => {
    const labels = { n: `${i % 100}` }
    const metadata = { name: nameOf(i), namespace: 'default', uid: `uid-${i}`, labels }
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, creationTimestamp: '2026-01-01T00:00:00Z' },
      data: { serial: `${serial}`, text: 'x'.repeat(i % 3 === 0 ? 5_000 : 1_000) },
    }
    const value =
      serial === undefined ? undefined : encodeStored(keyOf(i), { object, order: configMap.schema, header: { labels } })
    const result = await store.commit({ key: keyOf(i), expected: revisions.get(i) ?? 0, value })
    assert.ok(result.outcome === 'committed')
    revisions.set(i, result.revision)
  }
  const all = Array.from({ length: objects }, (_, i) => i)
  await Promise.all(all.map((i) => write(i, 0)))
  await Promise.all(all.filter((i) => i % 4 === 1).map((i) => write(i, 1)))
  await Promise.all(all.filter((i) => i % 10 === 7).map((i) => write(i, undefined)))
  await store.close()
}

const dataFile = ({ directory }: ServerHandle) => join(directory, 'data/data.mdb')

/** Starts a server once and fills its store. Returns the stopped server. */
async function filled(t: TestContext, flags: readonly string[] = []): Promise<ServerHandle> {
  const server = await startServer(t, flags)
  await server.stop()
  await fill(join(server.directory, 'data'))
  assert.ok(readFileSync(dataFile(server)).length > 8 * 2 ** 20)
  return server
}

for (const [workers, form] of [
  [1, test],
  [2, longTest],
] as const)
  form(`a large data file, with ${workers} workers`, async (t) => {
    const server = await filled(t, [`--workers=${workers}`])
    await t.test('requests immediately after the start of a server return all objects', async () => {
      await server.restart()
      await seesAll(server.client())
    })
    await t.test('a server with a damaged leaf page in its data file exits after startup', async () => {
      await server.stop()
      damageLeaves(dataFile(server), keyOf(2_501))
      await server.restart()
      await endsDamaged(server)
    })
  })

async function seesAll(client: HttpClient): Promise<void> {
  const get = (i: number) => client.get(`${configMaps}/${nameOf(i)}`)
  const shown = await Promise.all([0, 1, 7, 2_599].map(get))
  assert.deepEqual(
    shown.map(({ status, body }) => [status, (body as Shown).data?.serial]),
    [
      [200, '0'],
      [200, '1'],
      [404, undefined],
      [200, '0'],
    ],
  )
  const created = await client.post(configMaps, { metadata: { name: nameOf(0) } })
  assert.equal(created.status, 409)
  const patch = await client.send(`${configMaps}/${nameOf(2)}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { data: { serial: 'patched' } },
  })
  assert.equal(patch.status, 200, patch.text)
  assert.equal((await client.send(`${configMaps}/${nameOf(3)}`, { method: 'DELETE' })).status, 200)
  assert.equal((await get(3)).status, 404)
  const expected = objects - objects / 10 - 1
  const listed = (await client.get(configMaps)) as { body: { items: Shown[] } }
  const ours = listed.body.items.filter(({ metadata }) => metadata.name.startsWith('c'))
  assert.equal(ours.length, expected)
  assert.equal(ours.find(({ metadata }) => metadata.name === nameOf(2))?.data?.serial, 'patched')
  const labeled = (await client.get(`${configMaps}?labelSelector=n%3D5`)) as { body: { items: Shown[] } }
  assert.equal(labeled.body.items.length, objects / 100)
  let pages = 0
  let seen = 0
  for (let token = ''; pages === 0 || token !== ''; pages++) {
    const page = await client.get(`${configMaps}?limit=500&continue=${encodeURIComponent(token)}`)
    const { items, metadata } = page.body as { items: Shown[]; metadata: { continue?: string } }
    seen += items.length
    token = metadata.continue ?? ''
  }
  assert.ok(pages > 1 && seen === listed.body.items.length, `${seen} objects in ${pages} pages`)
  const watched = await client.get(`${configMaps}?watch=true&timeoutSeconds=1`)
  assert.equal(watched.text.split('\n').filter((line) => line.includes('"ADDED"')).length, seen)
}

interface Shown {
  readonly metadata: { readonly name: string }
  readonly data?: { readonly serial: string }
}

/** Changes the type of every leaf page that contains the key. */
function damageLeaves(path: string, key: string): void {
  const file = readFileSync(path)
  let damaged = 0
  for (let at = 0; at < file.length; at += pageSize) {
    const isLeaf = file.readUInt16LE(at + 18) === 2
    if (!isLeaf || !file.subarray(at, at + pageSize).includes(key)) continue
    file.writeUInt16LE(8, at + 18)
    damaged++
  }
  assert.ok(damaged > 0)
  writeFileSync(path, file)
}

async function endsDamaged(server: ServerHandle): Promise<void> {
  const ended = once(server.process, 'exit', { signal: AbortSignal.timeout(60_000) })
  const client = server.client()
  const statuses: number[] = []
  while (server.process.exitCode === null) {
    await client.get(`${configMaps}/${nameOf(2_501)}`).then(
      ({ status }) => statuses.push(status),
      () => {},
    )
    await pause(5)
  }
  await ended
  assert.equal(server.process.exitCode, 1)
  assert.ok(
    statuses.every((status) => status >= 500),
    `${[...new Set(statuses)]}`,
  )
  const sentence = /data\.mdb is damaged \(page \d+ has an unexpected type\): restore it from a backup/
  assert.match(server.output(), sentence)
}

longTest('a kind with many objects in etcd is served right after startup', async (t) => {
  const etcd = await startEtcd()
  t.after(() => etcd.stop())
  const server = await startServer(t, [`--etcd-servers=${etcd.endpoints.join(',')}`])
  const names = Array.from({ length: 2_100 }, (_, i) => nameOf(i))
  const before = server.client()
  for (let i = 0; i < names.length; i += 100)
    await Promise.all(names.slice(i, i + 100).map((name) => before.post(configMaps, { metadata: { name } })))
  await server.stop()
  await server.restart()
  const client = server.client()
  assert.equal((await client.get(`${configMaps}/${nameOf(2_099)}`)).status, 200)
  assert.equal((await client.get(`${configMaps}/${nameOf(2_100)}`)).status, 404)
  const { items } = (await client.get(configMaps)).body as { items: Shown[] }
  assert.equal(items.filter(({ metadata }) => metadata.name.startsWith('c')).length, names.length)
  const watched = await client.get(`${configMaps}?watch=true&timeoutSeconds=1`)
  assert.equal(watched.text.split('\n').filter((line) => line.includes('"ADDED"')).length, items.length)
})
