/**
 * Tests two servers on an etcd of three members during a network partition: the leader and one server are on one side,
 * and the other members and the other server are on the other side. The first server must serve neither writes nor
 * most-recent reads, whereas the other server must serve both. After the partition heals, both servers must work again,
 * and all recorded results must be consistent. ORCH_LONG=1 runs five rounds of 20 seconds.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../storage/store/random-source.ts'
import { startEtcd } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { type Ending, startServer } from '../support/server.ts'
import { startProxy, type Proxy as Wire } from '../support/tcp-proxy.ts'
import { checkHistory } from './history.ts'
import {
  acknowledged,
  Follower,
  outcomes,
  readLog,
  report,
  restMs,
  revisionOf,
  untilWritable,
  workload,
} from './load.ts'
import { Recorder } from './recorder.ts'

const { rounds, apartMs } = long ? { rounds: 5, apartMs: 20_000 } : { rounds: 1, apartMs: 4_000 }
const writersPerServer = 4
const healMs = 5_000
/** Additional time for the members on a busy machine. */
const slackMs = 10_000

test('a server partitioned together with the etcd leader serves no stale reads', {
  timeout: 300_000,
}, async (t) => {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const cluster = await startEtcd({ members: 3, divisible: true })
  t.after(() => cluster.stop())
  const here = await startWired(t, cluster.endpoints)
  const there = await startWired(t, cluster.endpoints)
  const recorder = new Recorder(here.client)
  const other = recorder.over(there.client)
  const start = await revisionOf(there.client)
  const stop = new AbortController()
  const watching = [new Follower(recorder, start), new Follower(other, start)]
  t.after(async () => {
    stop.abort()
    for (const follower of watching) follower.stop()
  })
  const writing = [recorder, other].flatMap((one, server) =>
    Array.from({ length: writersPerServer }, (_, i) =>
      workload(one, { random: seeded(seed + 100 * server + i), signal: stop.signal, restMs }),
    ),
  )
  let refused = 0
  let maxHealMs = 0
  for (let round = 0; round < rounds; round++) {
    await acknowledged(recorder, 20)
    const leader = await cluster.leader()
    for (const [i, wire] of here.wires.entries()) if (i !== leader) wire.set('cut')
    there.wires[leader]!.set('cut')
    await cluster.isolate(leader)
    const [asked] = await Promise.all([askInVain(here.client, apartMs), untilWritable(there.client)])
    refused += asked
    cluster.heal()
    for (const wire of [...here.wires, ...there.wires]) wire.set('pass')
    const healed = performance.now()
    const elected = cluster.leader().then(() => performance.now() - healed)
    const heal = Math.max(...(await Promise.all([here, there].map(({ client }) => untilWritable(client)))))
    maxHealMs = Math.max(maxHealMs, heal)
    assert.ok(heal <= Math.max(healMs, (await elected) + slackMs), `whole again only after ${heal} ms`)
  }
  stop.abort()
  await Promise.all(writing)

  const log = await readLog(other, start)
  await Promise.all(watching.map((follower) => follower.reach(log.at(-1)!.revision)))
  const { writes, gets, lists } = recorder
  const faults = checkHistory({
    log,
    start,
    writes,
    gets,
    lists,
    watches: watching.map(({ receivedChanges: told }) => told),
  })
  const counts = outcomes(writes)
  report(t, {
    rounds,
    'asked in vain': refused,
    'ms longest heal': Math.round(maxHealMs),
    ...counts,
    gets: gets.length,
    lists: lists.length,
  })
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults; repeat with ORCH_TEST_SEED=${seed}`)
  assert.ok(refused > 0, 'nothing was asked of the one that is cut off')
})

interface Wired {
  readonly client: HttpClient
  /** Proxies to each etcd member. */
  readonly wires: readonly Wire[]
}

async function startWired(t: Ending, endpoints: readonly string[]): Promise<Wired> {
  const wires = await Promise.all(endpoints.map(startProxy))
  t.after(async () => void (await Promise.all(wires.map((wire) => wire.close()))))
  const server = await startServer(t, [`--etcd-servers=${wires.map(({ endpoint }) => endpoint).join(',')}`])
  return { client: server.client(), wires }
}

/**
 * Sends writes and most-recent reads for the given time, and asserts that the server executes none of them. Returns the
 * number of requests.
 */
async function askInVain(client: HttpClient, forMs: number): Promise<number> {
  const end = performance.now() + forMs
  const path = '/api/v1/namespaces/default/secrets'
  let asked = 0
  while (performance.now() < end) {
    const answers = await Promise.all([
      client.post(`${path}?timeout=1s`, { metadata: { generateName: 'cut-off-' } }),
      client.get(`${path}?timeout=1s`),
      client.get('/api/v1/namespaces/default?timeout=1s'),
    ])
    for (const { status, text } of answers) assert.ok(status === 503 || status === 504, `${status} ${text}`)
    assert.equal((await client.get(`${path}?resourceVersion=0`)).status, 200)
    asked += answers.length
  }
  return asked
}
