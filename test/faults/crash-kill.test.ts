/**
 * A server that is killed again and again under load loses nothing that it acknowledged, reuses no revision, and lets
 * watches resume without a gap or a repeat. The clients are outside of it and judge by their own records. ORCH_LONG=1: more kills, more clients, longer lives.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Seeded, seeded } from '../store/seeded.ts'
import { type ServerHandle, startServer } from '../tools/server.ts'
import { checkHistory } from './history.ts'
import { acknowledged, Follower, outcomes, readLog, report, revisionOf, workload } from './load.ts'
import { Recorder } from './recorder.ts'

const long = process.env.ORCH_LONG === '1'
const lives = long ? 50 : 2
/** One start in so many is killed on its way up as well. */
const brokenStarts = 4
const writers = long ? 16 : 8
const watchers = long ? 4 : 2
/** So many writes are acknowledged in a life at most. */
const longestLife = long ? 2_000 : 80
const longestStartMs = 400

test('killed under load: nothing acknowledged is lost, watches resume exactly', { timeout: 900_000 }, async (t) => {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const random = seeded(seed)
  const server = await startServer(t)
  const recorder = new Recorder(server.client())
  const start = await revisionOf(server.client())
  const stop = new AbortController()
  const watching = Array.from({ length: watchers }, () => new Follower(recorder, start))
  t.after(async () => {
    stop.abort()
    for (const follower of watching) follower.stop()
  })

  const writing = Array.from({ length: writers }, (_, i) =>
    workload(recorder, { random: seeded(seed + i + 1), signal: stop.signal }),
  )
  let kills = 0
  let slowestStartMs = 0
  while (kills < lives) {
    const { deaths, startMs } = await live(server, recorder, random)
    kills += deaths
    slowestStartMs = Math.max(slowestStartMs, startMs)
  }
  stop.abort()
  await Promise.all(writing)

  const log = await readLog(recorder, start)
  await Promise.all(watching.map((follower) => follower.reach(log.at(-1)!.revision)))
  await recorder.list()
  const { writes, gets, lists } = recorder
  const watches = watching.map(({ told }) => told)
  const faults = checkHistory({ log, start, writes, gets, lists, watches })
  const counts = outcomes(writes)
  report(t, { kills, slowestStartMs, ...counts, gets: gets.length, lists: lists.length, events: log.length * watchers })
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults; repeat with ORCH_TEST_SEED=${seed}`)
  assert.ok(counts.ambiguous > 0, 'no kill met a write under way')
})

/** One life of the server: it serves for a while, is killed, and starts again. */
async function live(
  server: ServerHandle,
  recorder: Recorder,
  random: Seeded,
): Promise<{ deaths: number; startMs: number }> {
  await acknowledged(recorder, random.below(longestLife))
  await server.kill()
  const broken = random.below(brokenStarts) === 0
  if (broken) await server.restartAndKill(random.below(longestStartMs))
  const began = performance.now()
  await server.restart()
  return { deaths: broken ? 2 : 1, startMs: Math.round(performance.now() - began) }
}
