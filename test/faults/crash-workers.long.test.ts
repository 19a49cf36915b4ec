/**
 * Tests three workers on the embedded store. While clients write and watch, the test terminates each worker in every
 * possible way, then all workers at once, then the store's thread, and finally the process itself. The responses to the
 * clients must be consistent with those of a single server that never failed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { countOf, type Fragile, startFragile } from '../server/worker-faults.ts'
import { until } from '../support/until.ts'
import { acknowledged } from './load.ts'
import type { Recorder } from './recorder.ts'
import { assertSurvives } from './survival.ts'

const ways = ['terminate', 'exit', 'error', 'memory', 'stall', 'loop']
const workers = [0, 1, 2]
const allAtOnce = workers.map((worker) => `${worker} terminate`).join()
/** Maximum number of acknowledged writes between two faults. */
const maxPeaceMs = 400
const kills = 6
const endsOfTheStore = 3

test('clients receive consistent data when workers, the store thread or the process exit under load', {
  timeout: 900_000,
}, async (t) => {
  const fragile = await startFragile(t, [], workers.length)
  await assertSurvives(t, fragile.server, {
    writers: 12,
    watchers: 6,
    fail: async (recorder, random) => {
      const peace = () => acknowledged(recorder, 20 + random.below(maxPeaceMs))
      for (const way of ways)
        for (const worker of workers) {
          await peace()
          await replace(fragile, `${worker} ${way}`, 1)
        }
      for (let i = 0; i < endsOfTheStore; i++) {
        await peace()
        await replace(fragile, allAtOnce, workers.length)
        await peace()
        await endStore(fragile, recorder)
      }
      for (let i = 0; i < kills; i++) {
        await peace()
        await fragile.server.kill()
        if (random.chance(0.5)) await fragile.server.restartAndKill(random.below(400))
        await fragile.server.restart()
      }
      await peace()
      return { workersEnded: ways.length * workers.length + endsOfTheStore * workers.length, endsOfTheStore, kills }
    },
  })
})

/** Terminates workers, and waits until the given number of replacements are running. */
async function replace({ server, end }: Fragile, how: string, count: number): Promise<void> {
  const replaced = () => countOf(server.output(), /replaced a worker that exited/g)
  const before = replaced()
  end(how)
  await until(
    async () => [how, replaced(), server.output().slice(-300)],
    () => replaced() >= before + count,
    60_000,
  )
}

/** Terminates the store's thread. The process then also ends and is restarted. */
async function endStore({ server, end }: Fragile, recorder: Recorder): Promise<void> {
  const exit = once(server.process, 'exit')
  end('hub')
  await exit
  assert.equal(server.process.exitCode, 1, server.output())
  await server.restart()
  await acknowledged(recorder, 1)
}
