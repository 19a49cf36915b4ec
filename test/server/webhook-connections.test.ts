/**
 * Tests token and authorization webhooks for which no connection is free: the server asks its client to retry, and does
 * not continue without the webhook's decision.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Json, JsonObject } from '../../src/api/json/json.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { tokenWebhook } from '../../src/apiserver/authn/token-webhook.ts'
import { webhook } from '../../src/apiserver/authz/webhook.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { UrlConnections } from '../../src/wire/http/client/url-connections.ts'
import { askForJson } from '../../src/wire/http/https-json.ts'
import { answerRaw } from '../support/raw-answers.ts'
import { soon } from '../support/until.ts'

let connections = 0
const hanging = await answerRaw({ after }, () => connections++)
const connect = () => new UrlConnections({ maxConnections: 1, authority: hanging.destination.authority })
let current = connect()
after(() => current.destroy())
const ask = (timeoutMs: number) => (body: JsonObject) =>
  askForJson({ url: hanging.url, connections: current, body: JSON.stringify(body), timeoutMs }) as Promise<Json>
const faultOf = (call: Promise<unknown>) => call.then(String, ({ name }: Error) => name)

// This call occupies the only connection.
const first = faultOf(ask(600_000)({}))
await soon(() => connections === 1)

const common = {
  vendor: vendorOf('orch'),
  clock: systemClock,
  version: 'v1',
  sendsSelectors: true,
  post: ask(100),
  onFailure: () => {},
} as const
const isTooMany = { name: 'ApiError', code: 429, reason: 'TooManyRequests' }

test('a call to an admission webhook fails with a specific error if no connection is free', async () => {
  assert.equal(await faultOf(ask(100)({})), 'NoFreeConnection')
})

test('a request is rejected if the authorization webhook has no free connection', async () => {
  const { authorizer } = webhook({ ...common, authorizedTtlMs: 0, unauthorizedTtlMs: 0 })
  const user = { name: 'bob', uid: '', groups: [], extra: new Map() }
  const question = { user, attributes: { resource: false, verb: 'get', path: '/version' } } as const
  await assert.rejects(async () => authorizer(question), isTooMany)
})

test('a request is rejected with 429 instead of 401 if the token webhook has no free connection', async () => {
  const authenticator = tokenWebhook({ ...common, ttlMs: 0, audiences: [] })
  await assert.rejects(async () => authenticator({ authorization: 'Bearer x' } as never), isTooMany)
})

test('a webhook response that takes too long to read is reported as a webhook error', async () => {
  current.destroy()
  current = connect()
  assert.equal(await first, 'Error')
  assert.equal(await faultOf(ask(100)({})), 'BadAnswer')
})
