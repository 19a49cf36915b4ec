/**
 * Tests that workers on one etcd act as one server, as on the embedded store, even if another server uses the same
 * etcd. A worker that exits is replaced. If etcd hangs or is killed, the workers wait, and continue once etcd has
 * recovered.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd } from '../support/etcd.ts'
import { configMaps } from '../support/paths.ts'
import { type Ending, startServer } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'
import { assertAllThere, countOf, creates, replaceOne, startFragile, writeAll } from './worker-faults.ts'
import { describeAsOne } from './workers-as-one.ts'

const timeout = 300_000

async function startOn(owner: Ending) {
  const cluster = await startEtcd()
  owner.after(() => cluster.stop())
  return { cluster, flags: [`--etcd-servers=${cluster.endpoints}`] }
}

describeAsOne('several workers on etcd behave like one server', {
  flags: async (owner) => [...(await startOn(owner)).flags, '--history-retention=1h'],
  keepsHistory: true,
})

test('with etcd as the store, acknowledged writes survive every kind of worker exit', { timeout }, async (t) => {
  const { flags } = await startOn(t)
  const { server: fragile, end } = await startFragile(t, flags)
  const beside = await startServer(t, flags)
  let shown = 0
  for (const [i, how] of ['0 error', '1 exit', '0 memory', '1 stall', '1 terminate', '1 loop'].entries())
    await t.test(how, async () => {
      const acknowledged = await replaceOne(fragile, () => end(how), i + 1)
      await assertAllThere(fragile, acknowledged)
      await assertAllThere(beside, acknowledged)
      const client = fragile.client()
      const now = await creates(client)
      assert.ok(now >= shown, `${now} creates are counted, ${shown} were`)
      shown = now
    })
  await t.test('with etcd as the store, acknowledged writes survive when all workers are killed', async () => {
    const writing = writeAll(fragile, 'killed')
    await untilTrue(async () => writing.acknowledged.size > 50)
    await fragile.kill()
    await writing.stop()
    await assertAllThere(beside, writing.acknowledged)
    await fragile.restart()
    await assertAllThere(fragile, writing.acknowledged)
  })
  await t.test('with etcd as the store, workers finish their requests on SIGTERM', async () => {
    const writing = writeAll(fragile, 'stopped')
    await untilTrue(async () => writing.acknowledged.size > 50)
    assert.equal(await fragile.stop(), 0, fragile.output())
    await writing.stop()
    await assertAllThere(beside, writing.acknowledged)
  })
})

test('workers continue to run after etcd hangs or is killed', { timeout }, async (t) => {
  const { cluster, flags } = await startOn(t)
  const server = await startServer(t, ['--workers=3', ...flags])
  const beside = await startServer(t, flags)
  const client = server.client()
  const { body } = await client.get(`${configMaps}?limit=1`)
  const stop = new AbortController()
  const clients = Array.from({ length: 9 }, () => server.client())
  const seen = clients.map(() => new Set<string>())
  const watching = clients.map(async (each, i) => {
    const from = body.metadata.resourceVersion
    for await (const { object } of each.watch(`${configMaps}?watch=true&resourceVersion=${from}`, stop.signal))
      seen[i]!.add(object.metadata.name!)
  })
  for (const fault of ['pause', 'kill']) {
    const writing = writeAll(server, fault)
    await untilTrue(async () => writing.acknowledged.size > 20)
    if (fault === 'pause') cluster.signal(0, 'SIGSTOP')
    else await cluster.kill(0)
    await untilTrue(async () => (await client.get('/readyz')).status !== 200)
    if (fault === 'pause') cluster.signal(0, 'SIGCONT')
    else await cluster.restart(0)
    const before = writing.acknowledged.size
    await untilTrue(async () => writing.acknowledged.size > before + 20)
    await writing.stop()
    await assertAllThere(server, writing.acknowledged)
    await assertAllThere(beside, writing.acknowledged)
    for (const names of seen) await untilTrue(async () => writing.acknowledged.keys().every((name) => names.has(name)))
  }
  assert.equal(countOf(server.output(), /a worker exited/g), 0, server.output())
  stop.abort()
  await Promise.allSettled(watching)
})

test('with a startup grace period, workers listen on the port while they wait for etcd', { timeout }, async (t) => {
  const { cluster, flags } = await startOn(t)
  const server = await startServer(t, ['--workers=2', '--livez-grace-period=5m', ...flags])
  await server.stop()
  await cluster.kill(0)
  const restarting = server.restart()
  const client = server.client()
  const status = (path: string) => client.get(path).then((answer) => answer.status)
  await untilTrue(async () => (await status('/livez').catch(() => 0)) === 200)
  assert.deepEqual([await status('/readyz'), await status(configMaps)], [500, 503])
  await cluster.restart(0)
  await restarting
  assert.equal(await status('/readyz'), 200)
})
