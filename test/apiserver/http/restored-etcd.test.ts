/**
 * Tests restoring etcd from a backup while servers are running. The servers detect the restore, become unready with a
 * reason, reload all data, and serve the content of the backup with versions that are higher than all earlier ones.
 * Requests for old versions get a 410.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd } from '../../support/etcd.ts'
import type { HttpClient, WatchEvent } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { untilTrue } from '../../support/until.ts'

const path = '/api/v1/namespaces/default/configmaps'
const patienceMs = 60_000

test('two servers that share an etcd cluster recover after etcd is restored from a backup', {
  timeout: 300_000,
}, async (t) => {
  const cluster = await startEtcd()
  t.after(() => cluster.stop())
  const start = () => serve(t, [`--etcd-servers=${cluster.endpoints}`])
  const servers = await Promise.all([start(), start()])
  const [one, two] = servers.map((server) => server.client()) as [HttpClient, HttpClient]
  for (const server of servers)
    assert.equal(server.output().match(/warning etcd 3\.4\.\d+ has known bugs/g)?.length, 1, server.output())

  await write(one, 'kept')
  await write(two, 'removed')
  await cluster.save()
  for (const client of [one, two]) await untilTrue(() => isReady(client))
  await write(one, 'lost')
  assert.equal((await two.delete(`${path}/removed`)).status, 200)
  const old = await list(one, `${path}?limit=1`)
  const oldVersion = Number(old.metadata.resourceVersion)
  const watching = [one, two].map((client) => eventsUntilEnd(client, oldVersion))

  const reasons = [one, two].map((client) => reasonNotReady(client, /revision went back/))
  await cluster.restore()
  await Promise.all(reasons)
  for (const client of [one, two]) await untilTrue(() => isReady(client))
  await Promise.all(watching)

  for (const client of [one, two]) {
    const { items, metadata } = await list(client, path)
    assert.deepEqual(namesOf(items), ['kept', 'removed'])
    assert.ok(Number(metadata.resourceVersion) > oldVersion)
    for (const { metadata } of items) assert.ok(Number(metadata.resourceVersion) > oldVersion)
    assert.equal((await client.get(`${path}/lost`)).status, 404)
    const [event] = await eventsUntilEnd(client, oldVersion)
    assert.equal(event?.object.code, 410)
    const token = encodeURIComponent(old.metadata.continue)
    assert.equal((await client.get(`${path}?limit=1&continue=${token}`)).status, 410)
    assert.equal((await client.get(`${path}?resourceVersion=${oldVersion}&resourceVersionMatch=Exact`)).status, 410)
  }
  const version = await write(one, 'new')
  assert.ok(version > oldVersion)
  assert.deepEqual(namesOf((await list(two, path)).items), ['kept', 'new', 'removed'])
})

async function write(client: HttpClient, name: string): Promise<number> {
  const { status, body, text } = await client.post(path, { metadata: { name } })
  assert.equal(status, 201, text)
  return Number(body.metadata.resourceVersion)
}

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any list
async function list(client: HttpClient, target: string): Promise<any> {
  const { status, body, text } = await client.get(target)
  assert.equal(status, 200, text)
  return body
}

function namesOf(items: readonly { readonly metadata: { readonly name: string } }[]): string[] {
  return items.map(({ metadata }) => metadata.name)
}

async function eventsUntilEnd(client: HttpClient, version: number): Promise<WatchEvent[]> {
  const seenEvents: WatchEvent[] = []
  const signal = AbortSignal.timeout(patienceMs)
  for await (const event of client.watch(`${path}?watch=1&resourceVersion=${version}`, signal)) seenEvents.push(event)
  assert.ok(!signal.aborted, 'the watch has not ended')
  return seenEvents
}

async function isReady(client: HttpClient): Promise<boolean> {
  return (await client.get('/readyz')).status === 200
}

async function reasonNotReady(client: HttpClient, reason: RegExp): Promise<void> {
  await untilTrue(async () => {
    const { status, text } = await client.get('/readyz?verbose')
    return status === 503 && reason.test(text)
  })
}
