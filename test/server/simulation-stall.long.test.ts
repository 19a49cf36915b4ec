/** Tests that a hanging simulation thread is terminated and restarted. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { root, startUp } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'

const pods = '/api/v1/namespaces/default/pods'

test('a hanging simulation thread is replaced while the server continues to respond', {
  timeout: 180_000,
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-simulation-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const control = join(directory, 'end')
  const hook = pathToFileURL(join(root, 'test/support/end-worker.mjs')).href
  const server = await startUp(t, ['--nodes=1'], { NODE_OPTIONS: `--import=${hook}`, ORCH_END_WORKER: control })
  const client = server.client()
  const runs = async (name: string) => {
    const spec = { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] }
    const made = await client.post(pods, { metadata: { name }, spec })
    assert.equal(made.status, 201, made.text)
    await untilTrue(async () => (await client.get(`${pods}/${name}`)).body.status?.phase === 'Running')
  }
  const account = '/api/v1/namespaces/default/serviceaccounts/default'
  await untilTrue(async () => (await client.get(account)).status === 200)
  await runs('before')
  await untilTrue(async () => (await client.get(`${pods}/before/log`)).status === 200)
  writeFileSync(control, 'nodes stall')
  server.process.kill('SIGWINCH')
  await untilTrue(async () => {
    assert.equal((await client.get('/readyz')).status, 200)
    return /the simulated-nodes thread exited.*did not respond for \d+ seconds/.test(server.output())
  })
  await runs('after')
})
