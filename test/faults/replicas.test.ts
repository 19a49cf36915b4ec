/**
 * Two servers on one etcd of three members whose leader is killed every few seconds: nothing acknowledged is lost, no
 * most recent read on either server is older than a write acknowledged before it by the other, and watches that are
 * resumed on the other server in turn tell everything once. ORCH_LONG=1 makes it a minute.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../store/seeded.ts'
import { type Cluster, startEtcd } from '../tools/etcd.ts'
import { startServer } from '../tools/server.ts'
import { checkHistory } from './history.ts'
import { Follower, outcomes, readLog, report, revisionOf, workload } from './load.ts'
import { Recorder } from './recorder.ts'

const durationMs = process.env.ORCH_LONG === '1' ? 60_000 : 16_000
const writersPerServer = 12
/** How long the cluster is without the member, and how long it is whole before the next one goes. */
const absenceMs = 1_500
const restMs = 1_000

test('two servers on an etcd that loses its leader again and again', { timeout: 180_000 }, async (t) => {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const cluster = await startEtcd({ members: 3 })
  t.after(() => cluster.stop())
  // Each begins with another member.
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
  const writing = recorders.flatMap((one, server) =>
    Array.from({ length: writersPerServer }, (_, i) => {
      const random = seeded(seed + 100 * server + i)
      return workload(one, { random, signal: stop.signal, reader: recorders[1 - server]! })
    }),
  )
  const kills = await killLeaders(cluster, durationMs)
  stop.abort()
  await Promise.all(writing)

  const log = await readLog(recorders[1]!, start)
  await Promise.all(watching.map((follower) => follower.reach(log.at(-1)!.revision)))
  await Promise.all(recorders.map((one) => one.list()))
  const { writes, gets, lists } = recorder
  const watches = watching.map(({ told }) => told)
  const faults = checkHistory({ log, start, writes, gets, lists, watches })
  const counts = outcomes(writes)
  report(t, { kills, ...counts, gets: gets.length, lists: lists.length, events: log.length * watching.length })
  const told = servers.map((server) => server.output()).join('\n')
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults; repeat with ORCH_TEST_SEED=${seed}\n${told}`)
  assert.ok(kills >= durationMs / 10_000, `only ${kills} leaders were killed`)
  assert.ok(counts.acknowledged > 20 * kills, `only ${counts.acknowledged} writes were acknowledged: no load`)
  assert.ok(counts.ambiguous > 0, 'no kill met a write under way')
})

function rotate<T>(all: readonly T[], first: number): T[] {
  return [...all.slice(first), ...all.slice(0, first)]
}

/** Kills the leader and starts it again, over and over. Gives the number of kills. */
async function killLeaders(cluster: Cluster, forMs: number): Promise<number> {
  const end = performance.now() + forMs
  let kills = 0
  for (; performance.now() < end; kills++) {
    await delay(restMs)
    const leader = await cluster.leader()
    await cluster.kill(leader)
    await delay(absenceMs)
    await cluster.restart(leader)
  }
  return kills
}
