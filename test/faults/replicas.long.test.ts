/**
 * Tests two servers on an etcd of three members, whose leader is killed every few seconds. No acknowledged write may be
 * lost, and no most-recent read on either server may be older than a write that the other server has already
 * acknowledged. Watches that resume on alternating servers must report everything once, and both servers must soon
 * accept writes again. ORCH_LONG=1 repeats the test thirty times.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../storage/store/random-source.ts'
import { type Cluster, startEtcd } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { startServer } from '../support/server.ts'
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

const kills = long ? 30 : 2
const writersPerServer = 8
/** Downtime of a member in milliseconds, and number of writes before the next kill. */
const absenceMs = 1_500
const restWrites = long ? 200 : 80
/** Maximum time without writes after a kill. */
const gapMs = 3_000
/** Additional time on a busy machine, where the election takes longer. */
const slackMs = 10_000

test('two servers stay consistent while etcd repeatedly loses its leader', { timeout: 300_000 }, async (t) => {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const cluster = await startEtcd({ members: 3 })
  t.after(() => cluster.stop())
  // Each server initially connects to a different etcd member.
  const flags = [0, 1].map((first) => [`--etcd-servers=${rotate(cluster.endpoints, first).join(',')}`])
  const servers = [await startServer(t, flags[0]), await startServer(t, flags[1])]
  const clients = servers.map((server) => server.client())
  const recorder = new Recorder(clients[0]!)
  const recorders = [recorder, recorder.over(clients[1]!)]
  const start = await revisionOf(clients[0]!)
  const stop = new AbortController()
  const watching = [
    ...recorders.map((one) => new Follower(one, start)),
    ...[clients, clients.toReversed()].map((turns) => new Follower(recorder, start, turns)),
  ]
  t.after(async () => {
    stop.abort()
    for (const follower of watching) follower.stop()
  })
  const writing = recorders.flatMap((one, server) =>
    Array.from({ length: writersPerServer }, (_, i) => {
      const random = seeded(seed + 100 * server + i)
      return workload(one, { random, signal: stop.signal, restMs, reader: recorders[1 - server]! })
    }),
  )
  const gaps = await killLeaders(cluster, clients, recorder)
  stop.abort()
  await Promise.all(writing)

  const log = await readLog(recorders[1]!, start)
  await Promise.all(watching.map((follower) => follower.reach(log.at(-1)!.revision)))
  await Promise.all(recorders.map((one) => one.list()))
  const { writes, gets, lists } = recorder
  const watches = watching.map(({ receivedChanges: told }) => told)
  const faults = checkHistory({ log, start, writes, gets, lists, watches })
  const counts = outcomes(writes)
  const longest = Math.max(...gaps.map(({ ms }) => Math.round(ms)))
  report(t, {
    kills: gaps.length,
    'ms longest gap': longest,
    ...counts,
    gets: gets.length,
    lists: lists.length,
    events: log.length * watching.length,
  })
  const told = servers.map((server) => server.output()).join('\n')
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults; repeat with ORCH_TEST_SEED=${seed}\n${told}`)
  for (const { ms, electionMs } of gaps)
    assert.ok(
      ms <= Math.max(gapMs, electionMs + slackMs),
      `nothing was written for ${ms} ms, elected in ${electionMs} ms`,
    )
})

function rotate<T>(all: readonly T[], first: number): T[] {
  return [...all.slice(first), ...all.slice(0, first)]
}

/** How long it took after a kill until both servers accepted writes, and until the other members had a leader. */
interface Gap {
  readonly ms: number
  readonly electionMs: number
}

/** Kills and restarts the leader repeatedly. */
async function killLeaders(cluster: Cluster, clients: readonly HttpClient[], recorder: Recorder): Promise<Gap[]> {
  const gaps: Gap[] = []
  while (gaps.length < kills) {
    await acknowledged(recorder, restWrites)
    const leader = await cluster.leader()
    await cluster.kill(leader)
    const killed = performance.now()
    const elected = cluster.leader().then(() => performance.now() - killed)
    const absence = delay(absenceMs)
    const writable = await Promise.all(clients.map((client) => untilWritable(client)))
    gaps.push({ ms: Math.max(...writable), electionMs: await elected })
    await absence
    await cluster.restart(leader)
  }
  return gaps
}
