/**
 * Tests that a noisy user does not affect a quiet user. The noisy user writes from 400 connections as fast as responses
 * arrive, and the quiet user reads ten times a second. The quiet user, the probes and the administrator get responses,
 * and the noisy user gets 429 errors. The additional latency for the quiet user is reported but not asserted (see
 * docs/understand/scorecard.md). The short variant floods only briefly and with fewer connections.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { startServer } from '../support/server.ts'
import type { Flood, FloodOutcome } from './flood-program.ts'
import { report } from './load.ts'

const connections = 400
const rounds = long ? 300 : 10
const restRounds = long ? 100 : 10
const gapMs = 100

test('other users get responses while one user floods the server', { timeout: 300_000 }, async (t) => {
  const server = await startServer(t, ['--authorization-mode=AlwaysAllow'])
  const admin = server.client()
  const callers = [
    { client: server.client('alice-token'), path: `${configMaps}/quiet` },
    { client: admin, path: `${configMaps}/quiet` },
    { client: admin, path: '/livez' },
    { client: admin, path: '/readyz' },
  ]
  assert.equal((await admin.post(configMaps, { metadata: { name: 'quiet' } })).status, 201)
  const [rest] = await Promise.all(callers.map((caller) => read(caller, restRounds)))
  const workerData: Flood = { port: server.port, path: configMaps, token: 'bob-token', connections }
  const flood = new Worker(join(import.meta.dirname, 'flood-program.ts'), { workerData })
  t.after(() => flood.terminate())
  // Wait until the 400 handshakes are complete, because this test does not measure their cost.
  await once(flood, 'message')
  const [quiet, ...others] = await Promise.all(callers.map((caller) => read(caller, rounds)))
  flood.postMessage('end')
  const [{ codes, retryAfter, broken }] = (await once(flood, 'message')) as [FloodOutcome]
  const refused = codes['429'] ?? 0
  report(t, {
    'answers to the noisy one': Object.values(codes).reduce((sum, count) => sum + count, 0),
    'of them 429': refused,
    'ms of the quiet one at p99': Math.round(at99(quiet!.waits)),
    'ms at rest': Math.round(at99(rest!.waits)),
    'ms of the administrator': Math.round(at99(others[0]!.waits)),
  })
  assert.ok(quiet!.failed <= rounds / 100, `${quiet!.failed} of ${rounds} requests of the quiet one failed`)
  for (const { failed } of others) assert.equal(failed, 0)
  assert.equal(retryAfter, refused)
  assert.equal(broken, 0)
  if (long) assert.ok(refused > 0, JSON.stringify(codes))
  assert.deepEqual(
    Object.keys(codes).filter((code) => code !== '201' && code !== '429'),
    [],
  )
})

interface Caller {
  readonly client: HttpClient
  readonly path: string
}

async function read({ client, path }: Caller, count: number): Promise<{ waits: number[]; failed: number }> {
  const waits: number[] = []
  let failed = 0
  for (let i = 0; i < count; i++) {
    const begin = performance.now()
    if ((await client.get(path)).status !== 200) failed++
    waits.push(performance.now() - begin)
    await delay(gapMs)
  }
  return { waits, failed }
}

function at99(waits: readonly number[]): number {
  return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)]!
}
