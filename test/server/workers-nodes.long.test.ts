/**
 * Tests that the simulated nodes of a server with several workers run in one worker and are reachable from all workers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpClient } from '../support/http-client.ts'
import { startUp } from '../support/server.ts'
import { untilTrue } from '../support/until.ts'

const pods = '/api/v1/namespaces/default/pods'
const connections = 12

test('every worker can reach the logs and ports of pods on simulated nodes', { timeout: 180_000 }, async (t) => {
  const server = await startUp(t, ['--workers=3', '--nodes=1'])
  const client = server.client()
  const spec = { nodeName: 'node-1', containers: [{ name: 'web', image: 'web', ports: [{ containerPort: 80 }] }] }
  const made = await client.post(pods, { metadata: { name: 'web' }, spec })
  assert.equal(made.status, 201, made.text)
  await untilTrue(async () => (await client.get(`${pods}/web`)).body.status?.phase === 'Running')
  await untilTrue(async () => (await client.get(`${pods}/web/log`)).status === 200)
  for (const each of Array.from({ length: connections }, () => server.client())) await assertReached(each)
})

async function assertReached(client: HttpClient): Promise<void> {
  const log = await client.get(`${pods}/web/log`)
  assert.equal(log.status, 200, log.text)
  assert.match(log.text, /container web of pod default\/web started/)
  const page = await client.get(`${pods}/web:80/proxy/some/path`)
  assert.equal(page.status, 200, page.text)
  assert.match(page.text, /hello from the simulated pod default\/web.*GET \/some\/path/s)
  const refused = await client.get(`${pods}/web:81/proxy/`)
  assert.equal(refused.status, 503)
  assert.match(refused.text, /connection refused/)
  client.close()
}
