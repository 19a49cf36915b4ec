/** Tests EventRateLimit: events beyond a limit get a 429, and each limit counts the events in its own scope. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { configuredEventRateLimit } from '../../../src/apiserver/admission/controls/event-rate-limit.ts'
import { admissionFile } from '../../support/admission-file.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'

const enabled = '--enable-admission-plugins=EventRateLimit'
const head = { apiVersion: 'eventratelimit.admission.orch.io/v1alpha1', kind: 'Configuration' }

test('the rate of Events is limited per namespace, and dry runs do not count', async () => {
  const limits = [{ type: 'Namespace', qps: 1, burst: 3 }]
  const file = admissionFile({ after }, { EventRateLimit: { ...head, limits } })
  const server = await serve({ after }, [enabled, file])
  const client = server.client()
  const create = async (namespace: string, at: HttpClient, query = '') => {
    const object = { metadata: { generateName: 'e-' }, involvedObject: { kind: 'Pod', namespace, name: 'p' } }
    return await at.post(`/api/v1/namespaces/${namespace}/events${query}`, object)
  }
  for (let i = 0; i < 5; i++) assert.equal((await create('default', client, '?dryRun=All')).status, 201)
  const answers = await Promise.all(Array.from({ length: 50 }, () => create('default', client)))
  const refused = answers.filter(({ status }) => status === 429)
  // The requests may take a second or two. In each second, the limit admits one more event.
  assert.ok(refused.length >= 30 && answers.length - refused.length >= 3, `${refused.length} refused`)
  assert.match(refused[0]!.body.message, /the Namespace limit has been exceeded/)
  assert.equal((await create('kube-system', client)).status, 201)
  assert.equal((await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } })).status, 201)
})

describe('rate limit buckets', () => {
  let now = 0
  const limited = (...limits: Json[]) => {
    const value = { ...head, limits }
    const clock = { now: () => now, monotonic: () => now }
    const { validate } = configuredEventRateLimit({ vendor: vendorOf('orch'), clock }, value)
    const event = (name: string) => ({ metadata: {}, involvedObject: { name }, source: { component: 's' } })
    return (namespace: string, user: string, name = 'p') => {
      const request = { namespace, user: { name: user }, object: event(name) as unknown as ApiObject, dryRun: false }
      try {
        validate!(request as never)
        return true
      } catch (error) {
        assert.equal((error as { code?: number }).code, 429)
        return false
      }
    }
  }

  test('rate limit buckets refill over time up to their burst', () => {
    const ask = limited({ type: 'Server', qps: 2, burst: 2 })
    assert.deepEqual([ask('a', 'u'), ask('b', 'v'), ask('a', 'u')], [true, true, false])
    now += 500
    assert.deepEqual([ask('a', 'u'), ask('a', 'u')], [true, false])
    now += 60_000
    assert.deepEqual([ask('a', 'u'), ask('a', 'u'), ask('a', 'u')], [true, true, false])
  })

  test('each user, or each source and object, has its own rate limit bucket, and the oldest buckets are evicted', () => {
    const byUser = limited({ type: 'User', qps: 1, burst: 1 })
    assert.deepEqual([byUser('a', 'u'), byUser('b', 'u'), byUser('a', 'v')], [true, false, true])
    const byObject = limited({ type: 'SourceAndObject', qps: 1, burst: 1, cacheSize: 2 })
    assert.deepEqual([byObject('a', 'u', 'p'), byObject('a', 'v', 'p'), byObject('a', 'u', 'q')], [true, false, true])
    assert.deepEqual([byObject('a', 'u', 'r'), byObject('a', 'u', 'q'), byObject('a', 'u', 'p')], [true, false, true])
    const both = limited({ type: 'Server', qps: 1, burst: 2 }, { type: 'Namespace', qps: 1, burst: 1 })
    assert.deepEqual([both('a', 'u'), both('b', 'u'), both('c', 'u')], [true, true, false])
  })
})

const limit = { type: 'Server', qps: 1, burst: 1 }
for (const [what, limits, expected] of [
  ['an empty list of limits', [], /limits: at least one limit is required/],
  ['an unknown type', [{ ...limit, type: 'Planet' }], /limits\[0\]\.type/],
  ['a rate of zero', [{ ...limit, qps: 0 }], /limits\[0\]\.qps: .*must be positive/],
  ['an unknown field', [{ ...limit, x: 1 }], /unknown field "limits\[0\]\.x"/],
] as const)
  test(`an EventRateLimit configuration with ${what} is rejected`, () => {
    const value = { ...head, limits } as unknown as Json
    const clock = { now: () => 0, monotonic: () => 0 }
    assert.throws(() => configuredEventRateLimit({ vendor: vendorOf('orch'), clock }, value), expected)
  })

test('the server does not start if EventRateLimit is enabled without limits', async () => {
  const { code, errors } = await startFailing({ after }, [enabled])
  assert.equal(code, 1)
  assert.match(errors, /EventRateLimit requires limits/)
})
