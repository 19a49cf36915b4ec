/**
 * Tests a server that is repeatedly killed under load. The server must lose no acknowledged write, reuse no revision,
 * let watches resume without gaps or duplicates, and be ready again within three seconds. With ORCH_LONG=1, there are
 * more kills, more clients and longer runs.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RandomSource } from '../storage/store/random-source.ts'
import { cpuMsOf } from '../support/cpu-time.ts'
import { long } from '../support/long.ts'
import { type ServerHandle, startServer } from '../support/server.ts'
import { acknowledged } from './load.ts'
import type { Recorder } from './recorder.ts'
import { assertSurvives } from './survival.ts'

const lives = long ? 50 : 2
/** One in this many starts is also interrupted by a kill. */
const brokenStarts = 4
/** Maximum number of acknowledged writes per run of the server. */
const maxLifeMs = long ? 2_000 : 80
const longestStartMs = 400
/** Maximum startup time in milliseconds. Measured as CPU time, because other programs may keep the cores busy. */
const maxStartMs = 3_000

test('a server killed under load loses no acknowledged write, and watches resume without gaps', {
  timeout: 900_000,
}, async (t) => {
  const server = await startServer(t)
  await assertSurvives(t, server, {
    ...(long ? { writers: 16, watchers: 4 } : { writers: 8, watchers: 2 }),
    fail: async (recorder, random) => {
      let kills = 0
      let slowestStartMs = 0
      let maxCpuMs = 0
      while (kills < lives) {
        const { deaths, startMs } = await live(server, recorder, random)
        kills += deaths
        slowestStartMs = Math.max(slowestStartMs, startMs)
        maxCpuMs = Math.max(maxCpuMs, cpuMsOf(server.process.pid!))
      }
      assert.ok(maxCpuMs <= maxStartMs, `a start took ${maxCpuMs} ms of processor time`)
      return { kills, slowestStartMs, mostCpuMs: maxCpuMs }
    },
  })
})

/** Lets the server serve requests for a while, kills it, and starts it again. */
async function live(
  server: ServerHandle,
  recorder: Recorder,
  random: RandomSource,
): Promise<{ deaths: number; startMs: number }> {
  await acknowledged(recorder, random.below(maxLifeMs))
  await server.kill()
  const broken = random.below(brokenStarts) === 0
  if (broken) await server.restartAndKill(random.below(longestStartMs))
  const began = performance.now()
  await server.restart()
  return { deaths: broken ? 2 : 1, startMs: Math.round(performance.now() - began) }
}
