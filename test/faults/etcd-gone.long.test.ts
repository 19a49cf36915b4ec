/**
 * Tests a server on an etcd whose members are all down for a minute while clients continue to send requests. Every
 * response arrives within the deadline, the server stays alive and reports that it is not ready, its memory does not
 * grow, and watches neither end silently nor miss events. Five seconds after etcd has recovered, the server accepts
 * writes again.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../storage/store/random-source.ts'
import { startEtcd } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { ownMemory } from '../support/memory.ts'
import { startServer } from '../support/server.ts'
import { checkHistory } from './history.ts'
import { acknowledged, Follower, outcomes, readLog, report, revisionOf, untilWritable, workload } from './load.ts'
import { Recorder } from './recorder.ts'

const goneMs = 60_000
/** The store's deadline, plus an allowance for a busy machine. */
const maxAnswerMs = 15_000
const maxBackMs = 5_000
const maxGrowth = 1.2
const members = 3
const collection = '/api/v1/namespaces/default/configmaps'

test('a server survives an etcd outage of one minute', { timeout: 400_000 }, async (t) => {
  const cluster = await startEtcd({ members })
  t.after(() => cluster.stop())
  const server = await startServer(t, [`--etcd-servers=${cluster.endpoints}`])
  const client = server.client()
  const recorder = new Recorder(server.client())
  const start = await revisionOf(client)
  const watching = Array.from({ length: 4 }, () => new Follower(recorder.over(server.client()), start))
  const stop = new AbortController()
  t.after(() => {
    stop.abort()
    for (const follower of watching) follower.stop()
  })
  const writing = Array.from({ length: 8 }, (_, i) =>
    workload(recorder.over(server.client()), { random: seeded(i + 1), signal: stop.signal, restMs: 10 }),
  )
  await acknowledged(recorder, 2_000)
  const before = ownMemory(server.process.pid!)
  const answers = { count: 0, slowestMs: 0 }

  for (let i = 0; i < members; i++) await cluster.kill(i)
  const end = performance.now() + goneMs
  while (performance.now() < end) await askAll(client, answers)
  const grown = ownMemory(server.process.pid!) / before
  await Promise.all(Array.from({ length: members }, (_, i) => cluster.restart(i)))
  await cluster.leader()
  const backMs = await untilWritable(client)
  await acknowledged(recorder, 100)
  stop.abort()
  await Promise.all(writing)

  const log = await readLog(recorder, start)
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
    ...counts,
    'answers while it was gone': answers.count,
    'ms slowest answer': Math.round(answers.slowestMs),
    '% of memory': Math.round(100 * grown),
    'ms until writable': Math.round(backMs),
    events: log.length * watching.length,
  })
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults\n${server.output()}`)
  assert.ok(answers.slowestMs <= maxAnswerMs, `an answer took ${answers.slowestMs} ms`)
  assert.ok(grown <= maxGrowth, `the memory became ${grown} times as much`)
  assert.ok(backMs <= maxBackMs, `nothing was written for ${backMs} ms after etcd was back`)
  assert.equal(server.process.exitCode, null)
})

/** Sends one request of each type in parallel. */
async function askAll(client: HttpClient, answers: { count: number; slowestMs: number }): Promise<void> {
  const began = performance.now()
  const [alive, ready, cached, ...others] = await Promise.all([
    client.get('/livez'),
    client.get('/readyz'),
    client.get(`${collection}?resourceVersion=0&limit=5`),
    client.get(`${collection}?limit=5`),
    client.get(`${collection}/nothing`),
    client.post('/api/v1/namespaces/default/secrets', { metadata: { generateName: 'lost-' } }),
  ])
  assert.deepEqual([alive.status, ready.status, cached.status], [200, 503, 200])
  for (const { status, text } of others) assert.ok(status === 503 || status === 504, `${status} ${text}`)
  answers.count += 3 + others.length
  answers.slowestMs = Math.max(answers.slowestMs, performance.now() - began)
  await delay(200)
}
