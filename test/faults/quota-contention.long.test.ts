/**
 * Fifty clients (twenty in the short form) against one quota: at no moment are there more objects than it allows, and all that it allows come to
 * be. On the embedded store, where the server is then killed among them and what it left behind is repaired; and on two
 * servers over one etcd, of which one is killed while the other goes on writing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { type ServerHandle, startServer, startUp, withoutRootCa } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'

const clients = long ? 50 : 20
const hard = long ? 120 : 60
const base = '/api/v1/namespaces/busy'
const maps = `${base}/configmaps`

/** The quota, in the state in which the loop has found it. */
async function prepare(client: HttpClient): Promise<void> {
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: 'busy' } })).status, 201)
  const spec = { hard: { configmaps: `${hard}` } }
  assert.equal((await client.post(`${base}/resourcequotas`, { metadata: { name: 'q' }, spec })).status, 201)
}

async function enforce(client: HttpClient): Promise<void> {
  const status = { hard: { configmaps: `${hard}` }, used: { configmaps: '0' } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const answer = await client.send(`${base}/resourcequotas/q/status`, { method: 'PATCH', headers, body: { status } })
  assert.equal(answer.status, 200)
}

async function usedBy(client: HttpClient): Promise<number> {
  return Number((await client.get(`${base}/resourcequotas/q`)).body.status.used?.configmaps ?? -1)
}

async function countOf(client: HttpClient): Promise<number> {
  return (await client.get(maps)).body.items.length
}

/** Each client creates until it is refused; gives how many it has created. */
async function fill(all: readonly HttpClient[], tag: string): Promise<number> {
  const counts = await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      const client = all[i % all.length]!
      for (let n = 0; ; n++) {
        const { status, text } = await client.post(maps, { metadata: { name: `${tag}-${i}-${n}` } })
        if (status === 403) return n
        assert.equal(status, 201, text)
      }
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Each client creates and deletes so many times; a refusal is an answer like any other. */
async function churn(all: readonly HttpClient[], rounds: number): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      const client = all[i % all.length]!
      for (let n = 0; n < rounds; n++) {
        const name = `churn-${i}-${n}`
        const { status, text } = await client.post(maps, { metadata: { name } })
        assert.ok(status === 201 || status === 403, text)
        if (status === 201) assert.equal((await client.delete(`${maps}/${name}`)).status, 200)
      }
    }),
  )
}

/** The most objects that there were at once, by the log of what happened since a version. */
async function mostAtOnce(client: HttpClient, version: string, until: number): Promise<number> {
  const stop = new AbortController()
  let present = 0
  let most = 0
  for await (const { type, object } of client.watch(`${maps}?watch=1&resourceVersion=${version}`, stop.signal)) {
    present += type === 'ADDED' ? 1 : type === 'DELETED' ? -1 : 0
    most = Math.max(most, present)
    if (Number(object.metadata.resourceVersion) >= until) break
  }
  stop.abort()
  return most
}

/** The whole story, on one server or several. */
async function contend(all: readonly HttpClient[]): Promise<void> {
  const [client] = all as [HttpClient]
  const { resourceVersion: start } = (await client.get(maps)).body.metadata
  assert.equal(await fill(all, 'a'), hard)
  assert.deepEqual([await countOf(client), await usedBy(client)], [hard, hard])
  for (let i = 0; i < 10; i++) await client.delete(`${maps}/a-${i}-0`)
  const left = await countOf(client)
  await churn(all, long ? 4 : 2)
  assert.deepEqual([await countOf(client), await usedBy(client)], [left, left])
  assert.equal(await fill(all, 'b'), hard - left)
  const last = (await client.get(maps)).body.items.map((item: { metadata: { resourceVersion: string } }) =>
    Number(item.metadata.resourceVersion),
  )
  assert.equal(await mostAtOnce(client, start, Math.max(...last)), hard)
}

const several = (server: ServerHandle) => Array.from({ length: 4 }, () => server.client())

if (long)
  test('many clients on the embedded store', { timeout: 300_000 }, async (t) => {
    const server = await startServer(t)
    await prepare(server.client())
    await enforce(server.client())
    await contend(several(server))
  })

test('many clients on two servers over one etcd', { timeout: 300_000 }, async (t) => {
  const cluster = await startEtcd()
  t.after(() => cluster.stop())
  const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`]
  const servers = [await startServer(t, flags), await startServer(t, flags)]
  await prepare(servers[0]!.client())
  await enforce(servers[0]!.client())
  const [first, second] = servers.map(several)
  await contend(first!.flatMap((client, i) => [client, second![i]!]))
})

test('what a killed server left charged is found', { timeout: 300_000 }, async (t) => {
  const server = await startUp(t, ['--resource-quota-sync-period=10m', withoutRootCa])
  await prepare(server.client())
  await untilTrue(async () => (await usedBy(server.client())) === 0)
  for (let round = 0; (await leftCharged(server.client())) === 0; round++) {
    assert.ok(round < 20, 'in none of 20 rounds the server was killed between a charge and its create')
    await killAmongCreates(server, { round, seenBy: server.client(), creates: 5 })
    await server.restart()
  }
  const left = await countOf(server.client())
  const before = await usedBy(server.client())
  assert.ok(before > left && before <= hard, `${before} are charged for ${left}`)
  await server.stop()
  await server.restart(['--resource-quota-sync-period=1s', withoutRootCa])
  const again = several(server)
  await untilTrue(async () => (await leftCharged(again[0]!)) === 0)
  assert.equal(await fill(again, 'after'), hard - left)
  assert.deepEqual([await countOf(again[0]!), await usedBy(again[0]!)], [hard, hard])
})

if (long)
  test('what one of two servers left charged is found while the other is written to', {
    timeout: 300_000,
  }, async (t) => {
    const cluster = await startEtcd()
    t.after(() => cluster.stop())
    const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`]
    const killed = await startServer(t, flags)
    const other = await startServer(t, flags)
    const client = other.client()
    await prepare(client)
    await enforce(client)
    await killBetweenChargeAndCreate(killed, client)
    const before = await leftCharged(client)
    assert.ok(before > 0)
    const writing = writeOn(other.client())
    // What is under way at the moment is charged too: no more than one of each.
    await untilTrue(async () => (await leftCharged(client)) <= 1, 30_000)
    assert.ok((await writing.stop()) > 10)
    assert.equal(await leftCharged(client), 0)
  })

/** Creates and deletes, one after the other, until it is stopped; says how often it did. */
function writeOn(client: HttpClient) {
  let stopped = false
  let rounds = 0
  const running = (async () => {
    for (; !stopped; rounds++) {
      assert.equal((await client.post(maps, { metadata: { name: 'on' } })).status, 201)
      assert.equal((await client.delete(`${maps}/on`)).status, 200)
    }
  })()
  const stop = async () => {
    stopped = true
    await running
    return rounds
  }
  return { stop }
}

/** Repeats it until charges are left without their objects, as seen through the other server. */
async function killBetweenChargeAndCreate(killed: ServerHandle, client: HttpClient): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await killAmongCreates(killed, { round, seenBy: client, creates: 20 })
    if ((await leftCharged(client)) > 0) return
    await killed.restart()
  }
  assert.fail('in none of 20 rounds the server was killed between a charge and its create')
}

async function leftCharged(client: HttpClient): Promise<number> {
  return (await usedBy(client)) - (await countOf(client))
}

/** Kills the server in the moment in which a charge of several creates is seen; their answers are lost. */
async function killAmongCreates(
  server: ServerHandle,
  { round, seenBy, creates }: { round: number; seenBy: HttpClient; creates: number },
): Promise<void> {
  const client = server.client()
  const before = await usedBy(seenBy)
  const stop = new AbortController()
  const { resourceVersion } = (await seenBy.get(`${base}/resourcequotas/q`)).body.metadata
  const watching = (async () => {
    const path = `${base}/resourcequotas?watch=1&resourceVersion=${resourceVersion}`
    for await (const { object } of seenBy.watch(path, stop.signal))
      if (Number(object.status.used.configmaps) > before + 1) {
        server.process.kill('SIGKILL')
        return
      }
  })().catch(() => undefined)
  const creating = Array.from({ length: creates }, (_, i) =>
    client.post(maps, { metadata: { name: `k-${round}-${i}` } }).catch(() => undefined),
  )
  await Promise.all([...creating, watching])
  stop.abort()
  await server.kill()
}
