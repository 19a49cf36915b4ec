/**
 * Tests lists of 5,000 objects in pages of 100 objects during concurrent writes. All pages of a list must have the same
 * resourceVersion and together form exactly the state at that version, or the client must get a 410. The expected state
 * is computed from the records of the writers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../storage/store/random-source.ts'
import type { HttpClient } from '../support/http-client.ts'
import { startServer } from '../support/server.ts'
import { checkHistory, type List, type Seen } from './history.ts'
import { outcomes, readLog, report, revisionOf } from './load.ts'
import { Recorder } from './recorder.ts'

const objects = 5_000
const pageSize = 100
const runs = 50
const writers = 10
/** Each writer makes at most twenty writes per second. */
const writePauseMs = 50
const collection = '/api/v1/namespaces/default/configmaps'
const nameOf = (i: number) => `key-${i}`

test('paged lists under load return exact snapshots', { timeout: 600_000 }, async (t) => {
  const server = await startServer(t)
  const client = server.client()
  const recorder = new Recorder(client)
  const start = await revisionOf(client)
  for (let i = 0; i < objects; i += 50)
    await Promise.all(Array.from({ length: 50 }, (_, j) => recorder.create(nameOf(i + j))))

  const stop = new AbortController()
  t.after(() => stop.abort())
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const writing = Array.from({ length: writers }, (_, i) => write(recorder, seed + i, stop.signal))
  const before = outcomes(recorder.writes).acknowledged
  let gone = 0
  for (let run = 0; run < runs; run++) {
    const list = await readPages(client)
    if (list === undefined) gone++
    else await recorder.readAll(async () => list)
  }
  stop.abort()
  await Promise.all(writing)

  const { writes, gets, lists } = recorder
  const written = outcomes(writes).acknowledged - before
  const log = await readLog(recorder, start)
  // Every page of a list shows the state at the time of the first page. Other tests check how recent that state is.
  const faults = checkHistory({ log, start, writes, gets, lists: lists.map(anytime), watches: [] })
  report(t, { lists: lists.length, gone, written, seed })
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults; repeat with ORCH_TEST_SEED=${seed}`)
  assert.ok(written >= runs, `only ${written} writes while lists were read`)
  assert.ok(lists.length > 0)
})

const anytime = (list: List): List => ({ ...list, called: 0, returned: Number.POSITIVE_INFINITY })

async function write(recorder: Recorder, seed: number, signal: AbortSignal): Promise<void> {
  const random = seeded(seed)
  while (!signal.aborted) {
    const key = nameOf(random.below(objects))
    const die = random.below(3)
    await (die === 0 ? recorder.create(key) : die === 1 ? recorder.update(key) : recorder.delete(key))
    await delay(writePauseMs)
  }
}

/** Returns undefined if the state of a later page has expired. */
async function readPages(client: HttpClient): Promise<Pick<List, 'revision' | 'seen'> | undefined> {
  const seen = new Map<string, Seen>()
  let version: string | undefined
  for (let next = ''; ; ) {
    const { status, body, text } = await client.get(
      `${collection}?limit=${pageSize}${next && `&continue=${encodeURIComponent(next)}`}`,
    )
    if (status === 410 && next !== '') return undefined
    assert.equal(status, 200, text.slice(0, 300))
    version ??= body.metadata.resourceVersion
    assert.equal(body.metadata.resourceVersion, version)
    for (const { metadata, data } of body.items) {
      assert.ok(!seen.has(metadata.name), `${metadata.name} is on two pages`)
      seen.set(metadata.name, { revision: Number(metadata.resourceVersion), value: data.a })
    }
    next = body.metadata.continue ?? ''
    if (next === '') return { revision: Number(version), seen }
    assert.equal(body.items.length, pageSize)
  }
}
