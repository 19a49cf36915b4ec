/**
 * Runs clients that write to and watch a server while the test makes it fail. In the end, all recorded results must be
 * consistent (`history.ts`): no acknowledged write is lost or executed twice, no revision is reused, and watches resume
 * without gaps or duplicates.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import type { ServerHandle } from '../support/server.ts'
import { checkHistory } from './history.ts'
import { Follower, outcomes, readLog, report, revisionOf, workload } from './load.ts'
import { Recorder } from './recorder.ts'

interface Trial {
  readonly writers: number
  readonly watchers: number
  /** Makes the server fail repeatedly, and finally leaves it running. Returns counts for the report. */
  readonly fail: (recorder: Recorder, random: RandomSource) => Promise<{ readonly [name: string]: number }>
}

export async function assertSurvives(t: TestContext, server: ServerHandle, trial: Trial): Promise<void> {
  const { writers, watchers, fail } = trial
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const recorder = new Recorder(server.client())
  const start = await revisionOf(server.client())
  const stop = new AbortController()
  // Each client has its own connections, so that they are spread over all workers.
  const watching = Array.from({ length: watchers }, () => new Follower(recorder.over(server.client()), start))
  t.after(() => {
    stop.abort()
    for (const follower of watching) follower.stop()
  })
  const writing = Array.from({ length: writers }, (_, i) =>
    workload(recorder.over(server.client()), { random: seeded(seed + i + 1), signal: stop.signal }),
  )
  const survived = await fail(recorder, seeded(seed))
  stop.abort()
  await Promise.all(writing)

  const log = await readLog(recorder, start)
  await Promise.all(watching.map((follower) => follower.reach(log.at(-1)!.revision)))
  await recorder.list()
  const { writes, gets, lists } = recorder
  const watches = watching.map(({ receivedChanges: told }) => told)
  const faults = checkHistory({ log, start, writes, gets, lists, watches })
  const counts = outcomes(writes)
  report(t, { ...survived, ...counts, gets: gets.length, lists: lists.length, events: log.length * watchers })
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults; repeat with ORCH_TEST_SEED=${seed}`)
  assert.ok(counts.ambiguous > 0, 'no fault met a write under way')
}
