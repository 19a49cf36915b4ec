/**
 * Tests fifty clients (twenty in the short variant) that compete for one quota. The number of objects must reach the
 * quota but never exceed it. The test runs on the embedded store, where the server is then killed and the stale charges
 * are released. The test also runs on two servers that share one etcd. One of these servers is killed while the other
 * continues to write.
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

/** Creates the quota and waits until the control loop has counted its usage. */
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

/** Makes each client create objects until the server rejects a create. Returns the number of created objects. */
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

/** Makes each client create and delete the given number of times. Rejections are expected. */
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

/**
 * Returns the maximum number of objects that existed at the same time, according to the log since a resourceVersion.
 */
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

/** Runs the whole scenario on one or several servers. */
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
  test('concurrent clients never exceed a quota on the embedded store', { timeout: 300_000 }, async (t) => {
    const server = await startServer(t)
    await prepare(server.client())
    await enforce(server.client())
    await contend(several(server))
  })

test('concurrent clients never exceed a quota on two servers that share one etcd', { timeout: 300_000 }, async (t) => {
  const cluster = await startEtcd()
  t.after(() => cluster.stop())
  const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`]
  const servers = [await startServer(t, flags), await startServer(t, flags)]
  await prepare(servers[0]!.client())
  await enforce(servers[0]!.client())
  const [first, second] = servers.map(several)
  await contend(first!.flatMap((client, i) => [client, second![i]!]))
})

test('stale quota charges left by a killed server are released', { timeout: 300_000 }, async (t) => {
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
  test('stale quota charges left by one of two servers are released even while the other server is in use', {
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
    // Requests in flight are also charged. Each client has at most one such request.
    await untilTrue(async () => (await leftCharged(client)) <= 1, 30_000)
    assert.ok((await writing.stop()) > 10)
    assert.equal(await leftCharged(client), 0)
  })

/** Creates and deletes an object repeatedly until `stop` is called, which returns the number of repetitions. */
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

/** Kills the server, repeatedly if necessary, until the other server shows charges without objects. */
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

/**
 * Kills the server as soon as a charge for several creates becomes visible. The responses to these creates are lost.
 */
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
