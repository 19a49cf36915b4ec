/**
 * Tests that webhooks cannot lock out their owners: circuit breakers, time shares, the server's own writes, break-glass
 * access, and several servers on one store.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { AdmissionRequest } from '../../../../src/apiserver/admission/admission.ts'
import { Breaker } from '../../../../src/apiserver/admission/webhook/breaker.ts'
import { type Question, WebhookCalls } from '../../../../src/apiserver/admission/webhook/calls.ts'
import { timeFor } from '../../../../src/apiserver/admission/webhook/time-share.ts'
import { compileConfiguration, type Webhook } from '../../../../src/apiserver/admission/webhook/webhook.ts'
import { WebhookMetrics } from '../../../../src/apiserver/admission/webhook/webhook-metrics.ts'
import { HttpsCaller } from '../../../../src/apiserver/outbound/https-caller.ts'
import { Destinations } from '../../../../src/apiserver/outbound/webhook-address.ts'
import { assertBelow, assertBrief } from '../../../support/effort.ts'
import { startEtcd } from '../../../support/etcd.ts'
import { serve, serveUp } from '../../../support/in-process.ts'
import { openSocket } from '../../../support/raw-http.ts'
import { withoutRootCa } from '../../../support/server.ts'
import { untilTrue } from '../../../support/until.ts'
import { configure, everything, unconfigure, Webhooks, webhook } from '../../../support/webhooks.ts'

// The control loop that publishes the CA certificate is off, because its writes to the namespace would also call the
// webhooks.
const server = await serveUp({ after }, ['--enable-break-glass=true', withoutRootCa])
const webhooks = await Webhooks.start({ after })
const client = server.client()
const maps = '/api/v1/namespaces/hooked/configmaps'
await client.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })

test('a circuit breaker opens after five failures, probes every ten seconds and closes after a response', () => {
  let now = 0
  const breaker = new Breaker({ now: () => now, monotonic: () => now })
  for (let i = 0; i < 4; i++) breaker.failed('x', 'a')
  breaker.answered(1)
  for (let i = 0; i < 5; i++) {
    assert.equal(breaker.refusal('a'), undefined)
    breaker.failed('no', 'a')
  }
  assert.match(breaker.refusal('a')!, /open after 5 failures; the last one: no/)
  now = 10_000
  assert.equal(breaker.refusal('a'), undefined)
  assert.ok(breaker.refusal('a'))
  breaker.answered(2)
  assert.deepEqual([breaker.refusal('a'), breaker.state.open], [undefined, false])
})

test('an open circuit breaker allows a few probes, at most one for each tenant, and none for the tenant whose calls failed', () => {
  let now = 0
  const breaker = new Breaker({ now: () => now, monotonic: () => now })
  for (let i = 0; i < 5; i++) breaker.failed('late', 'attacker')
  const allowed = () =>
    ['attacker', 'a', 'b', 'c', 'd', 'e', 'a'].filter((tenant) => {
      const isAllowed = breaker.refusal(tenant) === undefined
      if (isAllowed) breaker.failed('late', tenant)
      return isAllowed
    })
  assert.deepEqual(allowed(), ['a', 'b', 'c'])
  now = 10_000
  // A tenant who always gets the first probe cannot prevent the other tenants from probing.
  assert.deepEqual(allowed(), ['attacker', 'a', 'b', 'c'])
})

test('webhooks with failurePolicy Ignore share the timeout of the request, and other webhooks get their full timeout', () => {
  const ignored = { timeoutMs: 10_000, ignoresFailures: true } as Webhook
  for (const allCalls of [1, 20, 59, 60, 500]) {
    let leftMs = 60_000
    for (let calls = allCalls; calls > 0; calls--)
      leftMs -= timeFor(ignored, { leftMs, calls, allCalls, limitMs: 60_000 })
    assert.ok(leftMs > 999, `${leftMs} ms left for the write after ${allCalls} webhooks`)
  }
  const two = { leftMs: 60_000, calls: 2, allCalls: 2, limitMs: 60_000 }
  assert.equal(timeFor(ignored, two), 10_000)
  assert.equal(timeFor({ ...ignored, ignoresFailures: false }, { ...two, leftMs: 8000 }), 10_000)
  assert.equal(timeFor(ignored, { ...two, leftMs: 10 }), 1000, 'a share is never below a second')
})

test('the circuit breaker of an unreachable webhook opens, is reported, and closes after a configuration change', async () => {
  const name = 'broken.example.com'
  const dead = await Webhooks.start({ after })
  await configure(client, 'validating', 'broken', [webhook(dead, '/allow', { name, failurePolicy: 'Ignore' })])
  await dead.stop()
  const began = performance.now()
  for (let i = 0; i < 8; i++) assert.equal((await client.post(maps, { metadata: { name: `b${i}` } })).status, 201)
  const path = '/apis/ops.orch.io/v1/admissionwebhooks'
  const shown = await client.get(`${path}/validating:broken:${name}`)
  // The server probes the webhook every ten seconds, which matters only if the machine is very slow.
  const probes = Math.floor((performance.now() - began) / 10_000)
  const { breaker, calls, lastError } = shown.body.status
  assert.deepEqual([shown.status, breaker], [200, 'Open'])
  assert.ok(calls >= 5 && calls <= 5 + probes, `${calls} calls`)
  assert.match(lastError, /connection refused/)
  const gauge = `orch_admission_webhook_breaker_open{configuration="broken",name="${name}",type="validating"} 1`
  assert.ok((await client.get('/metrics')).text.includes(gauge))
  await configure(client, 'validating', 'broken', [webhook(webhooks, '/allow', { name, failurePolicy: 'Ignore' })])
  assert.equal((await client.get(path)).body.items[0].status.breaker, 'Closed')
  webhooks.taken()
  await client.post(maps, { metadata: { name: 'closed' } })
  assert.deepEqual(webhooks.taken(), ['/allow'])
  await unconfigure(client, 'validating', 'broken')
})

test('a webhook that crashes on some objects is still called for other objects', async () => {
  const crashing = webhook(webhooks, '/crash-or-deny', { failurePolicy: 'Ignore' })
  await configure(client, 'validating', 'crashing', [crashing])
  for (let i = 0; i < 7; i++) await client.post(maps, { metadata: { name: `crash${i}`, labels: { crash: 'yes' } } })
  assert.equal((await client.post(maps, { metadata: { name: 'denied' } })).status, 403)
  await unconfigure(client, 'validating', 'crashing')
})

test('objects that cause a webhook to hang do not open the circuit breaker for other namespaces', async () => {
  await client.post('/api/v1/namespaces', { metadata: { name: 'victim', labels: { hooked: 'yes' } } })
  const hanging = webhook(webhooks, '/hang-or-deny', { failurePolicy: 'Ignore', timeoutSeconds: 1 })
  await configure(client, 'validating', 'hanging', [hanging])
  const posts = Array.from({ length: 7 }, (_, i) =>
    client.post(maps, { metadata: { name: `hang${i}`, labels: { hang: 'yes' } } }),
  )
  assert.ok((await Promise.all(posts)).every(({ status }) => status === 201))
  const others = '/api/v1/namespaces/victim/configmaps'
  assert.equal((await client.post(others, { metadata: { name: 'denied' } })).status, 403)
  await unconfigure(client, 'validating', 'hanging')
})

test('a webhook timeout does not count as a failure if the webhook responded to another call meanwhile', async () => {
  const { breaker, ask, time } = probedWebhook('/hang', { timeoutSeconds: 1 })
  breaker.answered(1)
  const hanging = Array.from({ length: 6 }, () => ask())
  time.now++
  breaker.answered(1)
  await Promise.all(hanging)
  assert.deepEqual([breaker.state.open, breaker.state.failures], [false, 0])
  time.now++
  await ask()
  assert.equal(breaker.state.failures, 1)
})

/** Creates a webhook whose breaker has just allowed a probe, with a real client and a test clock. */
function probedWebhook(path: string, settings: object = {}) {
  const time = { now: 0 }
  const clock = { now: () => time.now, monotonic: () => time.now }
  const configuration = {
    metadata: { name: 'probed' },
    webhooks: [webhook(webhooks, path, { failurePolicy: 'Ignore', ...settings })],
  }
  const [hook] = compileConfiguration(configuration as never, 'validating', clock)
  for (let i = 0; i < 5; i++) hook!.breaker.failed('away', 'namespace other')
  time.now = 10_000
  const caller = new HttpsCaller('test')
  after(() => caller.close())
  const destinations = new Destinations({} as never, { byName: new Map(), byDefault: undefined })
  const log = { warn: () => {} }
  const parts = { clock, caller, destinations, metrics: new WebhookMetrics(), log, requestLimitMs: 60_000 }
  const ask = async (abandoned = new AbortController().signal) => {
    const asked = { dryRun: false, operation: 'CREATE', namespace: 'hooked' }
    const request = { ...asked, warn: () => {}, abandoned: () => abandoned }
    const reviews = { write: async () => '{"request":{"uid":"x"}}' }
    const question = { webhook: hook, request, reviews, calls: 1, allCalls: 1 } as unknown as Question
    return await new WebhookCalls(parts as never).ask(question, () => 'asked')
  }
  return { breaker: hook!.breaker, ask, time }
}

test('even an invalid response closes an open circuit breaker, so that bad objects cannot keep it open', async () => {
  const { breaker, ask } = probedWebhook('/bad-json')
  assert.equal(await ask(), undefined)
  assert.equal(breaker.state.open, false)
})

test('after a circuit breaker probe fails because its client disconnected or the webhook crashed, the next call is a probe', async () => {
  const left = probedWebhook('/hang')
  await assert.rejects(left.ask(AbortSignal.timeout(50)), { code: 504 })
  assert.deepEqual([left.breaker.state.open, left.breaker.refusal('namespace hooked')], [true, undefined])
  const crashed = probedWebhook('/reset')
  await crashed.ask()
  assert.deepEqual([crashed.breaker.state.open, crashed.breaker.refusal('namespace hooked')], [true, undefined])
})

test('a webhook response never opens the circuit breaker, regardless of its content', async () => {
  await configure(client, 'validating', 'odd', [webhook(webhooks, '/bad-json', { failurePolicy: 'Ignore' })])
  webhooks.taken()
  for (let i = 0; i < 7; i++) assert.equal((await client.post(maps, { metadata: { name: `odd${i}` } })).status, 201)
  assert.equal(webhooks.taken().length, 7)
  await unconfigure(client, 'validating', 'odd')
})

test('a denial by a webhook never opens the circuit breaker', async () => {
  await configure(client, 'validating', 'denying', [webhook(webhooks, '/deny/403/no')])
  for (let i = 0; i < 7; i++) assert.equal((await client.post(maps, { metadata: { name: 'never' } })).status, 403)
  const { items } = (await client.get('/apis/ops.orch.io/v1/admissionwebhooks')).body
  assert.deepEqual([items[0].status.breaker, items[0].status.calls], ['Closed', 7])
  await unconfigure(client, 'validating', 'denying')
})

test('if several webhooks with failurePolicy Ignore hang, enough time remains for the write', async (t) => {
  const client = (await serve(t, ['--request-timeout=5s'])).client()
  await client.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })
  const hanging = (count: number) =>
    Array.from({ length: count }, () => webhook(webhooks, '/hang', { failurePolicy: 'Ignore', timeoutSeconds: 30 }))
  await configure(client, 'mutating', 'chain', hanging(2))
  await configure(client, 'validating', 'chain', hanging(3))
  webhooks.taken()
  const { status, text } = await client.post(maps, { metadata: { name: 'patient' } })
  assert.equal(status, 201, text)
  assert.equal(webhooks.taken().length, 5)
})

test('a webhook patch with a large number of operations on long lists does not block other requests', async () => {
  const hostile = () => webhook(webhooks, '/quadratic-patch', { failurePolicy: 'Ignore', timeoutSeconds: 5 })
  await assertBrief(45, async () => {
    await configure(client, 'mutating', 'quadratic', [hostile()])
    const create = () => client.post(maps, { metadata: { generateName: 'quadratic-' } })
    for (const { status } of await Promise.all([create(), create(), create(), create()])) assert.equal(status, 201)
  })
  await unconfigure(client, 'mutating', 'quadratic')
})

test('a request whose timeout expires during a webhook call is not admitted without the webhook', async () => {
  const hook = webhook(webhooks, '/hang', { failurePolicy: 'Ignore', timeoutSeconds: 5 })
  await configure(client, 'validating', 'hanging', [hook])
  const { status } = await client.post(`${maps}?timeout=100ms`, { metadata: { name: 'hurried' } })
  assert.equal(status, 504)
  await unconfigure(client, 'validating', 'hanging')
  assert.equal((await client.get(`${maps}/hurried`)).status, 404)
})

for (const sort of ['mutating', 'validating'] as const)
  for (const failurePolicy of ['Ignore', 'Fail'] as const)
    test(`an expired client timeout does not count as a failure of a ${sort} webhook with failurePolicy ${failurePolicy}`, async () => {
      const others = [webhook(webhooks, '/allow', { failurePolicy }), webhook(webhooks, '/allow', { failurePolicy })]
      const slow = webhook(webhooks, '/slow-deny/1500', { failurePolicy, timeoutSeconds: 10 })
      await configure(client, sort, 'slow', [slow, ...others])
      const make = (timeout: string) => client.post(`${maps}?timeout=${timeout}`, { metadata: { name: 'hasty' } })
      const { status, body } = await make('1s')
      assert.deepEqual([status, body.reason], [504, 'Timeout'], body.message)
      // This timeout is long enough for the webhook. If the three webhooks shared it, the share of this webhook would
      // be too short.
      if (failurePolicy === 'Ignore') assert.ok([403, 504].includes((await make('2500ms')).status))
      const { items } = (await client.get('/apis/ops.orch.io/v1/admissionwebhooks')).body
      assert.deepEqual(
        items.map(({ status }: { status: { breaker: string; lastError?: string } }) => [
          status.breaker,
          status.lastError,
        ]),
        items.map(() => ['Closed', undefined]),
      )
      await unconfigure(client, sort, 'slow')
      assert.equal((await client.get(`${maps}/hasty`)).status, 404)
    })

test('a request whose client disconnects during a webhook call is not admitted without the webhook', async () => {
  await configure(client, 'validating', 'slow', [webhook(webhooks, '/slow-deny/300', { failurePolicy: 'Ignore' })])
  webhooks.taken()
  const body = JSON.stringify({ metadata: { name: 'hasty' } })
  const socket = await openSocket(server, 'http/1.1')
  socket.write(`POST ${maps} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin-token\r\n`)
  socket.write(`content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  await untilTrue(async () => webhooks.calls.length > 0)
  socket.destroy()
  // By the time the webhook denies a second request, the first request has also ended.
  assert.equal((await client.post(maps, { metadata: { name: 'patient' } })).status, 403)
  await unconfigure(client, 'validating', 'slow')
  assert.equal((await client.get(`${maps}/hasty`)).status, 404)
})

test('break-glass access skips webhooks, requires a reason and permission, and is logged', async () => {
  await configure(client, 'validating', 'shut', [webhook(webhooks, '/deny/403/shut')])
  const send = (reason: string, token = 'admin-token') =>
    server.client(token).send(maps, {
      method: 'POST',
      headers: { 'break-glass': reason },
      body: { metadata: { name: 'glass' } },
    })
  assert.equal((await send('')).status, 400)
  const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/hooked'
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }]
  await client.post(`${rbac}/roles`, { metadata: { name: 'maps' }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'maps' }
  const subjects = [{ kind: 'User', name: 'bob' }]
  await client.post(`${rbac}/rolebindings`, { metadata: { name: 'maps' }, roleRef, subjects })
  const refused = await send('because', 'bob-token')
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /admissionbypasses/)
  assert.equal((await send('the webhook is down')).status, 201)
  assert.match(server.output(), /request bypassed the admission webhooks.* user="admin".* reason="the webhook is down"/)
  await unconfigure(client, 'validating', 'shut')
})

test('a failing webhook that matches all requests does not prevent startup, readiness or its own deletion', async () => {
  const dead = await Webhooks.start({ after })
  const hook = webhook(dead, '/allow', { rules: [everything], namespaceSelector: {}, timeoutSeconds: 1 })
  await configure(client, 'mutating', 'dead', [hook])
  await configure(client, 'validating', 'dead', [hook])
  await dead.stop()
  assert.equal((await client.post(maps, { metadata: { name: 'x' } })).status, 500)
  await server.stop()
  await server.restart()
  const again = server.client()
  assert.equal((await again.get('/readyz')).status, 200)
  assert.equal((await again.get('/api/v1/namespaces/default/endpoints/orch')).status, 200)
  assert.equal((await again.post(maps, { metadata: { name: 'x' } })).status, 500)
  await unconfigure(again, 'mutating', 'dead')
  await unconfigure(again, 'validating', 'dead')
  assert.equal((await again.post(maps, { metadata: { name: 'x' } })).status, 201)
})

test('break-glass access is rejected unless a flag enables it', async (t) => {
  const plain = await serve(t)
  const headers = { 'break-glass': 'please' }
  const { status, body } = await plain.client().send('/api/v1/namespaces', { method: 'POST', headers, body: {} })
  assert.equal(status, 403)
  assert.match(body.message, /--enable-break-glass/)
})

test('all servers that share a store apply a new webhook configuration within a second', async (t) => {
  const etcd = await startEtcd()
  t.after(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoints.join(',')}`]
  const one = await serve(t, flags)
  const two = await serve(t, flags)
  const first = one.client()
  const second = two.client()
  await first.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { hooked: 'yes' } } })
  const denied = async () => (await second.post(`${maps}?dryRun=All`, { metadata: { name: 'a' } })).status === 403
  const waitFor = async (expected: boolean) => {
    const began = performance.now()
    while ((await denied()) !== expected) {
      assert.ok(performance.now() - began < 30_000)
      await pause(5)
    }
    return performance.now() - began
  }
  await waitFor(false)
  // Measure how long adding and removing the webhook take to act, and use the longer time. Repeat the measurement if
  // other programs disturbed it.
  const slowest = await assertBelow(1000, 'ms until a change acts on the other server', async () => {
    await configure(first, 'validating', 'shared', [webhook(webhooks, '/deny/403/no')])
    const inForce = await waitFor(true)
    await unconfigure(first, 'validating', 'shared')
    return Math.max(inForce, await waitFor(false))
  })
  t.diagnostic(`acts after ${Math.round(slowest)} ms`)
})

test('the webhook admission plugins can be disabled together with the API versions of their configurations', async (t) => {
  const group = 'admissionregistration.orch.io/v1'
  const off = ['mutating', 'validating'].map((sort) => `${group}/${sort}webhookconfigurations=false`).join(',')
  const plain = await serve(t, [
    '--disable-admission-plugins=MutatingAdmissionWebhook,ValidatingAdmissionWebhook',
    `--runtime-config=${off}`,
  ])
  const { status } = await plain.client().get(`/apis/${group}/mutatingwebhookconfigurations`)
  assert.equal(status, 404)
  assert.equal((await plain.client().post('/api/v1/namespaces', { metadata: { name: 'free' } })).status, 201)
})

test('a stored webhook without a supported review version is not called, and its failure policy applies', async () => {
  const stored = { name: 'old.example.com', admissionReviewVersions: ['v99'], sideEffects: 'None', rules: [everything] }
  const ask = async (failurePolicy: 'Fail' | 'Ignore') => {
    const clock = { now: () => 0, monotonic: () => 0 }
    const configuration = { metadata: { name: 'old' }, webhooks: [{ ...stored, failurePolicy }] }
    const [hook] = compileConfiguration(configuration as never, 'validating', clock)
    const calls = new WebhookCalls({ clock, metrics: new WebhookMetrics(), log: undefined } as never)
    const request = { dryRun: false, operation: 'CREATE', warn: () => {} } as unknown as AdmissionRequest
    return await calls.ask({ webhook: hook!, request } as Question, () => 'asked')
  }
  await assert.rejects(ask('Fail'), { code: 500, message: /supports no AdmissionReview version/ })
  assert.equal(await ask('Ignore'), undefined)
})
