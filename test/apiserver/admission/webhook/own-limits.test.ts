/**
 * Tests the server's own limits on webhook calls. The responses or delays of one webhook must not cause the server to
 * skip another webhook that would deny the request, even if the skipped webhook has `failurePolicy: Ignore`.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../../support/in-process.ts'
import { answerRaw, floods, type RawAnswers } from '../../../support/raw-answers.ts'
import { soon, untilTrue } from '../../../support/until.ts'
import { configure, Webhooks, webhook } from '../../../support/webhooks.ts'

const server = await serve({ after })
const client = server.client()
const webhooks = await Webhooks.start({ after })
for (const hooked of ['hostile', 'denied'])
  await client.post('/api/v1/namespaces', { metadata: { name: hooked, labels: { hooked } } })

let names = 0
const create = (namespace: string, through = client) =>
  through.post(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: `n${names++}` } })

const hostileWebhook = (clientConfig: object, more: object = {}) => ({
  ...webhook(webhooks, '/allow', { timeoutSeconds: 30, failurePolicy: 'Ignore', ...more }, 'hostile'),
  clientConfig,
})
const configOf = ({ url, caBundle }: RawAnswers) => ({ url: `${url}/`, caBundle })
const deny = (more: object = {}) => webhook(webhooks, '/deny/403/no', { failurePolicy: 'Ignore', ...more }, 'denied')

test('a flood of trailers in a webhook response does not cause other webhooks to be skipped', async () => {
  let flooded = false
  const flooding = await answerRaw({ after }, async (socket) => {
    // All webhook responses used to share a limit of 64 MiB. This response would have used up most of it.
    await floods.trailers!(socket, 64 * 1024 * 1024 - 300)
    flooded = true
  })
  await configure(client, 'validating', 'hostile', [hostileWebhook(configOf(flooding))])
  await configure(client, 'validating', 'denied', [deny()])
  const attack = create('hostile')
  await soon(() => flooded)
  for (let i = 0; i < 10; i++) {
    const answer = await create('denied')
    assert.equal(answer.status, 403, answer.text)
  }
  assert.equal((await attack).status, 201)
})

test('a request that finds no free connection to a webhook fails with a retryable error instead of skipping the webhook', async () => {
  // Both webhooks have the same address, so they share connections.
  await configure(client, 'validating', 'hostile', [hostileWebhook(webhooks.clientConfig('/hang'))])
  await configure(client, 'validating', 'denied', [deny({ timeoutSeconds: 1 })])
  webhooks.taken()
  const patient = server.client()
  const hanging = Promise.allSettled(Array.from({ length: 64 }, () => create('hostile', patient)))
  await soon(() => webhooks.calls.length === 64)
  // Make more calls than are needed to open a breaker.
  const answers = await Promise.all(Array.from({ length: 10 }, () => create('denied')))
  for (const answer of [...answers, await create('denied')]) {
    assert.equal(answer.status, 429, answer.text)
    assert.match(answer.body.message, /was not called/)
    assert.equal(answer.headers['retry-after'], '1')
  }
  assert.doesNotMatch(server.output(), /cannot call admission webhook .*denied/)
  patient.close()
  await hanging
  // The server aborts the calls when it notices that their clients have disconnected.
  await untilTrue(async () => (await create('denied')).status === 403)
})
