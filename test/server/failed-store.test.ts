/**
 * Tests a store that fails permanently. The server reports the failure in its readiness check, still responds, logs the
 * reason in one line, and exits with a non-zero code. Acknowledged writes exist after the next start.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { compilePreload } from '../faults/recording.ts'
import type { HttpClient } from '../support/http-client.ts'
import { longTest } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { root, type ServerHandle, startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const objectNamed = (name: string) => ({ metadata: { name } })

/** Waits until the server exits on its own. */
async function ended({ process: child }: ServerHandle): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null)
    await once(child, 'exit', { signal: AbortSignal.timeout(120_000) })
  assert.equal(child.signalCode, null)
  return child.exitCode
}

async function assertEnds(server: ServerHandle, client: HttpClient, why: RegExp): Promise<void> {
  const ready = await until(
    () => client.get('/readyz'),
    ({ status }) => status === 503,
  )
  assert.match(ready.text, /\[-\]store failed: writes are no longer possible/)
  assert.match(ready.text, why)
  assert.equal((await client.get('/livez')).status, 200)
  assert.equal((await client.get(`${configMaps}/before`)).status, 200)
  assert.equal(await ended(server), 1)
  const lines = server
    .output()
    .split('\n')
    .filter((line) => why.test(line) && !line.includes('request failed'))
  assert.equal(lines.length, 1, server.output())
}

async function failingDisk(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-failing-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const library = join(directory, 'failing-disk.so')
  await compilePreload('failing-disk.c', library)
  const control = join(directory, 'control')
  return { library, control }
}

for (const [what, failure, why, form] of [
  ['a sync', 's 5', /Input\/output error/, test],
  ['a sync for lack of space', 's 28', /No space left/, longTest],
  ['a data write', 'w 5', /cannot write the data file: EIO/, longTest],
  ['a write that only lmdb sees', 'p 5', /the data file failed: Input\/output error/, test],
] as const)
  form(`after ${what} that failed the server is not ready, says why, and ends`, async (t) => {
    const { library, control } = await failingDisk(t)
    const server = await startServer(t, [], { LD_PRELOAD: library, FAIL_FILE: '/data/data.mdb', FAIL_CONTROL: control })
    const client = server.client()
    assert.equal((await client.post(configMaps, objectNamed('before'))).status, 201)
    writeFileSync(control, failure)
    const headers = { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }
    assert.ok((await client.send(configMaps, { method: 'POST', headers, body: objectNamed('during') })).status >= 500)
    await assertEnds(server, client, why)
    assert.match(server.output(), /request failed .*user="admin" as="jane"/)
    rmSync(control)
    await server.restart()
    assert.equal((await server.client().get(`${configMaps}/before`)).status, 200)
    assert.equal((await server.client().get(`${configMaps}/during`)).status, 404)
  })

test('a server whose store thread has exited becomes unready, logs the reason and exits', async (t) => {
  const hook = pathToFileURL(join(root, 'test/support/end-store-thread.mjs')).href
  const server = await startServer(t, [], { NODE_OPTIONS: `--import=${hook}` })
  const client = server.client()
  assert.equal((await client.post(configMaps, objectNamed('before'))).status, 201)
  server.process.kill('SIGWINCH')
  await assertEnds(server, client, /the store thread has exited/)
  await server.restart()
  assert.equal((await server.client().get(`${configMaps}/before`)).status, 200)
})

test('a server whose data directory was removed becomes unready, logs the reason and exits', async (t) => {
  const server = await startServer(t)
  const client = server.client()
  assert.equal((await client.post(configMaps, objectNamed('before'))).status, 201)
  rmSync(join(server.directory, 'data'), { recursive: true })
  await assertEnds(server, client, /the data file .* was removed or moved/)
})
