/**
 * Tests the metrics after a known sequence of requests: watches, authentication, admission, the store and the
 * control loops.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationMetrics } from '../../../src/apiserver/authn/authentication-metrics.ts'
import { noHeaders } from '../../../src/apiserver/authn/authenticator.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { HttpClient } from '../../support/http-client.ts'
import { serve, serveUp } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import type { Served } from '../../support/server.ts'

/** Reads `/metrics` once, and returns a function that looks up a value. */
async function scrape(client: HttpClient): Promise<(name: string, labels?: string) => number> {
  const { status, text } = await client.get('/metrics')
  assert.equal(status, 200)
  return (name, labels) => {
    const start = `${name}${labels === undefined ? '' : `{${labels}}`} `
    const line = text.split('\n').find((each) => each.startsWith(start))
    return line === undefined ? 0 : Number(line.slice(start.length))
  }
}

/**
 * Reads the metrics until the condition holds. Metrics about completed requests change shortly after the client has
 * received the response.
 */
async function untilTold(client: HttpClient, isTold: (look: Awaited<ReturnType<typeof scrape>>) => boolean) {
  for (let i = 0; i < 500; i++) if (isTold(await scrape(client))) return
  assert.fail('the metrics never said so')
}

test('watch metrics record the number of watches, the events and the event sizes', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const labels = 'group="",kind="ConfigMap",version="v1"'
  await client.post(configMaps, { metadata: { name: 'old' } })
  const end = new AbortController()
  const events = client.watch(`${configMaps}?watch=true&timeoutSeconds=60`, end.signal)
  assert.equal((await events.next()).value.object.metadata.name, 'old')
  const large = { metadata: { name: 'large' }, data: { a: 'x'.repeat(5000) } }
  for (const body of [{ metadata: { name: 'new' } }, large]) {
    await client.post(configMaps, body)
    await events.next()
  }
  const during = await scrape(client)
  assert.equal(during('apiserver_registered_watchers', labels), 1)
  assert.equal(during('apiserver_watch_events_total', labels), 3)
  assert.equal(during('apiserver_watch_events_sizes_count', labels), 3)
  assert.equal(during('apiserver_watch_events_sizes_bucket', `${labels},le="4096"`), 2)
  assert.equal(during('apiserver_watch_events_sizes_bucket', `${labels},le="8192"`), 3)
  end.abort()
  await events.next().catch(() => {})
  await untilTold(client, (look) => look('apiserver_registered_watchers', labels) === 0)
})

test('authentication metrics count every request once by result, and only well-known user names become labels', async (t) => {
  const server = await serve(t, ['--anonymous-auth=false'])
  const [admin, bob, wrong] = ['admin-token', 'bob-token', 'wrong'].map((token) => server.client(token))
  const before = await scrape(admin!)
  for (let i = 0; i < 3; i++) await admin!.get(`${configMaps}/a`)
  for (let i = 0; i < 2; i++) await bob!.get(`${configMaps}/a`)
  for (let i = 0; i < 4; i++) assert.equal((await wrong!.get(`${configMaps}/a`)).status, 401)
  assert.equal((await withoutToken(server)).status, 401)
  const after = await scrape(admin!)
  const rise = (name: string, labels: string) => after(name, labels) - before(name, labels)
  // The administrator's second request for the metrics is counted, too.
  assert.equal(rise('authentication_attempts', 'result="success"'), 3 + 2 + 1)
  assert.equal(rise('authentication_attempts', 'result="error"'), 4)
  assert.equal(rise('authentication_attempts', 'result="failure"'), 1)
  assert.equal(rise('authentication_duration_seconds_count', 'result="error"'), 4)
  assert.equal(rise('authenticated_user_requests', 'username="admin"'), 3 + 1)
  assert.equal(rise('authenticated_user_requests', 'username="other"'), 2)
})

async function withoutToken(server: Served) {
  const client = new HttpClient({ port: server.port, token: '', ca: server.credentials().authority as string })
  try {
    return await client.get(`${configMaps}/a`)
  } finally {
    client.close()
  }
}

test('authentication metrics count asynchronous and failed attempts in the same way as synchronous attempts', async () => {
  const metrics = new AuthenticationMetrics(systemClock)
  const credentials = { certificate: undefined, authorization: undefined, headers: noHeaders, connection: {} }
  const user = { name: 'jane@example.com', uid: '', groups: [], extra: new Map() }
  const fault = new Error('no')
  await metrics.measured(async () => ({ result: 'user', user }))(credentials)
  await assert.rejects(metrics.measured(() => Promise.reject(fault))(credentials) as Promise<unknown>, fault)
  assert.throws(() => {
    metrics.measured(() => {
      throw fault
    })(credentials)
  }, fault)
  const samples = metrics.metrics.flatMap((metric) => [...metric.samples()])
  const count = (name: string, value: string) => samples.find(({ labels }) => labels[name] === value)?.value
  assert.deepEqual([count('result', 'success'), count('result', 'error'), count('username', 'email_id')], [1, 2, 1])
})

test('admission metrics measure each plugin and phase by operation and outcome', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const control = (type: string, operation: string, rejected: boolean) =>
    `name="NamespaceLifecycle",operation="${operation}",rejected="${rejected}",type="${type}"`
  const step = (type: string, operation: string, rejected: boolean) =>
    `operation="${operation}",rejected="${rejected}",type="${type}"`
  const before = await scrape(client)
  for (const name of ['a', 'b']) await client.post(configMaps, { metadata: { name } })
  assert.equal((await client.post('/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } })).status, 404)
  await client.put(`${configMaps}/a`, { metadata: { name: 'a' }, data: { a: 'b' } })
  await client.delete(`${configMaps}/a`)
  const after = await scrape(client)
  const rise = (of: string, labels: string) => {
    const name = `apiserver_admission_${of}_admission_duration_seconds_count`
    return after(name, labels) - before(name, labels)
  }
  const counted = (type: string) =>
    ['CREATE', 'UPDATE', 'DELETE'].map((operation) =>
      [false, true].map((rejected) => rise('step', step(type, operation, rejected))),
    )
  assert.deepEqual(counted('admit'), [
    [2, 1],
    [1, 0],
    [1, 0],
  ])
  assert.deepEqual(counted('validate'), [
    [2, 0],
    [1, 0],
    [1, 0],
  ])
  assert.equal(rise('controller', control('admit', 'CREATE', true)), 1)
  assert.equal(rise('controller', control('admit', 'CREATE', false)), 2)
})

test('store metrics record latency by operation and type', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const before = await scrape(client)
  await client.post(configMaps, { metadata: { name: 'a' } })
  for (const value of ['1', '2']) await client.put(`${configMaps}/a`, { metadata: { name: 'a' }, data: { a: value } })
  await client.get(`${configMaps}/a`)
  await client.delete(`${configMaps}/a`)
  await client.post('/api/v1/namespaces', { metadata: { name: 'a' } })
  const look = await scrape(client)
  const count = (at: typeof look, operation: string, type: string) =>
    at('etcd_request_duration_seconds_count', `operation="${operation}",type="${type}"`)
  assert.deepEqual(
    ['create', 'update', 'delete', 'get'].map(
      (operation) => count(look, operation, 'configmaps') - count(before, operation, 'configmaps'),
    ),
    [1, 2, 1, 0],
  )
  assert.equal(count(look, 'create', 'namespaces') - count(before, 'create', 'namespaces'), 1)
  assert.ok(count(look, 'list', '') >= 1)
})

test('control loops in orch up record work queue metrics', async (t) => {
  const server = await serveUp(t)
  const client = server.client()
  await client.post('/api/v1/namespaces', { metadata: { name: 'a' } })
  await client.delete('/api/v1/namespaces/a')
  const labels = 'name="namespace"'
  await untilTold(client, (look) => look('workqueue_work_duration_seconds_count', labels) > 4)
  const look = await scrape(client)
  assert.ok(look('workqueue_adds_total', labels) >= look('workqueue_work_duration_seconds_count', labels))
})

test('a request for a deprecated version sets the gauge that dashboards expect', async (t) => {
  const server = await serve(t)
  const client = server.client()
  for (const time of [1, 2])
    assert.equal((await client.get('/apis/policy/v1beta1/podsecuritypolicies')).status, 200, `${time}`)
  const { text } = await client.get('/metrics')
  assert.match(text, /^# TYPE apiserver_requested_deprecated_apis gauge$/m)
  const place = 'group="policy",removed_release="1.25",resource="podsecuritypolicies",subresource="",version="v1beta1"'
  assert.ok(text.includes(`\napiserver_requested_deprecated_apis{${place}} 1\n`))
})
