/**
 * Tests hostile webhooks. In each case, the failure policy is applied within the timeout, other requests are
 * unaffected, memory is bounded, and only configured hosts are called.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { longTest } from '../../../support/long.ts'
import { ownMemory } from '../../../support/memory.ts'
import { startServer } from '../../../support/server.ts'
import { configure, Webhooks, webhook } from '../../../support/webhooks.ts'

const server = await startServer({ after })
const webhooks = await Webhooks.start({ after }, { bomb: true })
const client = server.client()
await client.post('/api/v1/namespaces', { metadata: { name: 'hostile', labels: { hooked: 'yes' } } })
await client.post('/api/v1/namespaces', { metadata: { name: 'calm' } })
const maps = '/api/v1/namespaces/hostile/configmaps'
let names = 0

const failing = [
  'hang',
  'redirect',
  'gigabyte',
  'drip',
  'bad-json',
  'wrong-uid',
  'wrong-version',
  'bomb',
  'reset',
  'many-values',
  'huge-patch',
  'quadratic-patch',
]

async function create(path: string, more: object) {
  const name = `n${names++}`
  await configure(client, 'mutating', 'hostile', [webhook(webhooks, path, { timeoutSeconds: 1, ...more })])
  const began = performance.now()
  const answer = await client.post(maps, { metadata: { name } })
  return { answer, ms: performance.now() - began }
}

test('a webhook that closes the connection after reading the review is not called again', async () => {
  webhooks.taken()
  for (const path of ['/allow', '/reset', '/allow']) {
    const { answer } = await create(path, { failurePolicy: 'Fail' })
    assert.equal(answer.status, path === '/reset' ? 500 : 201, answer.text)
  }
  assert.deepEqual(webhooks.taken(), ['/allow', '/reset', '/allow'])
})

/**
 * The limit is generous, because the machine may be busy. The duration of a request must not depend on how long the
 * webhook runs.
 */
const maxMs = 15_000

for (const path of failing)
  test(`${path}: the failure policy of the webhook is applied before the timeout`, async () => {
    const refused = await create(`/${path}`, { failurePolicy: 'Fail' })
    assert.equal(refused.answer.status, 500, refused.answer.text)
    assert.match(refused.answer.body.message, /failed calling webhook/)
    if (path === 'hang') assert.match(refused.answer.body.message, /context deadline exceeded/, 'as programs look for')
    assert.ok(refused.ms < maxMs, `${refused.ms} ms`)
    const ignored = await create(`/${path}`, { failurePolicy: 'Ignore' })
    assert.equal(ignored.answer.status, 201, ignored.answer.text)
    assert.ok(ignored.ms < maxMs, `${ignored.ms} ms`)
  })

for (const path of ['deep-patch', 'prototype-patch'])
  test(`${path}: a write that calls a hostile webhook succeeds or fails in time`, async () => {
    const { answer, ms } = await create(`/${path}`, { failurePolicy: 'Fail', timeoutSeconds: 2 })
    assert.ok([201, 422, 500].includes(answer.status), answer.text.slice(0, 500))
    assert.ok(ms < maxMs, `${ms} ms`)
  })

test('a Retry-After value from a webhook is dropped unless it is a whole number of seconds', async () => {
  for (const [sent, expected] of [
    ['7', 7],
    ['2147483647', 2_147_483_647],
    ['2147483648', undefined],
    ['1e308', undefined],
    ['0.5', undefined],
    ['-1', undefined],
    ['12345678901234567890', undefined],
  ] as const) {
    const { answer } = await create(`/deny-for/${sent}`, {})
    const seen = [answer.status, answer.body.details?.retryAfterSeconds, answer.headers['retry-after']]
    assert.deepEqual(seen, [429, expected, expected === undefined ? undefined : String(expected)], sent)
  }
})

test('an excessively long list of webhook warnings is truncated, and a webhook response that is too large is an error', async () => {
  const { answer } = await create('/many-warnings/100000', { failurePolicy: 'Fail', timeoutSeconds: 10 })
  assert.equal(answer.status, 201, answer.text)
  const warnings = String(answer.headers.warning).split(', ')
  assert.deepEqual([warnings[0], warnings.length], ['299 - "warning 0"', 50])
  const refused = await create('/many-warnings/300000', { failurePolicy: 'Fail', timeoutSeconds: 10 })
  assert.equal(refused.answer.status, 500)
  assert.match(refused.answer.body.message, /the response has more than 200000 values/)
})

test('a call to a webhook with an untrusted certificate fails', async () => {
  const other = await Webhooks.start({ after })
  const clientConfig = { url: `${webhooks.base}/allow`, caBundle: other.caBundle }
  const { answer } = await create('/allow', { clientConfig })
  assert.equal(answer.status, 500)
  assert.match(answer.body.message, /x509: certificate signed by unknown authority/)
})

test('a call to a webhook whose certificate is for another host name fails before the review is sent', async () => {
  webhooks.taken()
  const url = `https://localhost:${webhooks.port}/allow`
  const { answer } = await create('/allow', { clientConfig: { url, caBundle: webhooks.caBundle } })
  assert.equal(answer.status, 500)
  assert.match(answer.body.message, /x509/)
  assert.deepEqual(webhooks.taken(), [])
})

test('a call to a webhook with an invalid CA bundle fails', async () => {
  const caBundle = Buffer.from('-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n').toString('base64')
  const { answer } = await create('/allow', { clientConfig: { url: `${webhooks.base}/allow`, caBundle } })
  assert.equal(answer.status, 500)
  assert.match(answer.body.message, /x509/)
})

test('the server never follows redirects from webhooks', () => {
  assert.deepEqual(
    webhooks.calls.filter(({ path }) => path === '/canary'),
    [],
  )
})

longTest('hostile webhooks do not slow down other requests, and memory stays bounded', async () => {
  const paths = ['/gigabyte', '/hang', '/many-values', '/huge-patch', '/quadratic-patch']
  await configure(
    client,
    'validating',
    'hostile',
    paths.map((path) => webhook(webhooks, path, { timeoutSeconds: 2, failurePolicy: 'Ignore' })),
  )
  await configure(client, 'mutating', 'hostile', [])
  const before = ownMemory(server.process.pid!)
  let ended = false
  const attacked = Promise.all(
    Array.from({ length: 10 }, (_, i) => client.post(maps, { metadata: { name: `attack-${i}` } })),
  ).finally(() => {
    ended = true
  })
  const calm = server.client()
  const times: number[] = []
  let most = 0
  while (!ended) {
    const began = performance.now()
    assert.equal((await calm.get('/api/v1/namespaces/calm')).status, 200)
    times.push(performance.now() - began)
    most = Math.max(most, ownMemory(server.process.pid!) - before)
  }
  for (const { status } of await attacked) assert.equal(status, 201)
  times.sort((a, b) => a - b)
  assert.ok(times.length > 5, `only ${times.length} reads in between`)
  assert.ok(times[Math.floor(times.length * 0.5)]! < 1000, `slow reads: ${times.slice(-5)} ms`)
  assert.ok(most < 400 * 1024 * 1024, `${most} bytes more`)
})
