/**
 * Tests the features that use the clock of a test server: tokens, lifetimes in both stores, control loops and
 * certificate requests.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, before, test } from 'node:test'
import { generateKey } from '../../src/api/pki/keys.ts'
import { makeRequest } from '../../src/api/pki/make-request.ts'
import * as kinds from '../../src/client/requests/built-in-kinds.ts'
import { subresource } from '../../src/client/requests/resource-type.ts'
import { isNotFound } from '../../src/client/requests/status-error.ts'
import { startTestServer, type TestServer } from '../../src/testing/testing.ts'
import { untilTrue } from '../support/until.ts'

const startAt = '2031-02-03T04:05:06Z'
let server: TestServer
before(async () => {
  server = await startTestServer({ startAt })
})
after(() => server.close())

const isGone = (asked: Promise<unknown>) =>
  asked.then(
    () => false,
    (error: unknown) => isNotFound(error),
  )

test('creation timestamps follow the test clock', async () => {
  const made = await server.client.create(kinds.ConfigMap, { metadata: { namespace: 'default', name: 'a' } })
  assert.match(made.metadata.creationTimestamp!, /^2031-02-03T04:0[56]/)
})

test('a token expires when the test clock passes its expiry', async () => {
  const tokens = subresource<kinds.TokenRequest>(kinds.ServiceAccount, 'token')
  const { status } = await server.client.create(tokens, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace: 'default', name: 'default' },
    spec: { audiences: [], expirationSeconds: 3600 },
  })
  const review = () =>
    server.client.create(kinds.TokenReview, { metadata: {}, spec: { token: status!.token! } } as never)
  assert.equal((await review()).status?.authenticated, true)
  server.clock.advance('59m')
  assert.equal((await review()).status?.authenticated, true)
  server.clock.advance('2m')
  assert.notEqual((await review()).status?.authenticated, true)
})

test('a finished Job is deleted when the test clock passes its TTL', async () => {
  const job = { namespace: 'default', name: 'done' }
  const container = { name: 'c', image: 'x' }
  await server.client.create(kinds.Job, {
    metadata: job,
    spec: { ttlSecondsAfterFinished: 7200, template: { spec: { restartPolicy: 'Never', containers: [container] } } },
  } as never)
  const time = new Date(server.clock.now()).toISOString().replace(/\.\d+/, '')
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => {
    return { type, status: 'True', lastTransitionTime: time, lastProbeTime: time }
  })
  const status = { startTime: time, completionTime: time, conditions }
  await server.client.patch(kinds.Job, job, { patch: { merge: { status } }, subresource: 'status' })
  await server.settled()
  server.clock.advance('1h')
  await server.settled()
  await server.client.get(kinds.Job, job)
  server.clock.advance('1h')
  await untilTrue(() => isGone(server.client.get(kinds.Job, job, {})))
})

for (const store of ['memory', 'temporary'] as const)
  test(`an Event is deleted after its lifetime (${store})`, async () => {
    await using own = await server.fork({ store })
    const event = { namespace: 'default', name: 'e' }
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p', apiVersion: 'v1' }
    await own.client.create(kinds.Event, { metadata: event, involvedObject, reason: 'X', message: 'm' } as never)
    own.clock.advance('55m')
    await own.client.get(kinds.Event, event)
    own.clock.advance('10m')
    await untilTrue(() => isGone(own.client.get(kinds.Event, event)))
  })

test('a certificate is signed with the time of the test clock, and the CertificateSigningRequest is deleted later', async () => {
  const name = 'someone'
  const request = makeRequest({ commonName: name, organizations: [] }, generateKey())
  await server.client.create(kinds.CertificateSigningRequest, {
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      expirationSeconds: 3600,
    },
  } as never)
  const now = new Date(server.clock.now()).toISOString().replace(/\.\d+/, '')
  const approved = { type: 'Approved', status: 'True', reason: 'Test', message: '', lastUpdateTime: now }
  await server.client.patch(
    kinds.CertificateSigningRequest,
    { name },
    {
      patch: { merge: { status: { conditions: [approved] } } },
      subresource: 'approval',
    },
  )
  const certificate = async () => {
    const { status } = await server.client.get(kinds.CertificateSigningRequest, { name })
    return status?.certificate as string | undefined
  }
  await untilTrue(async () => (await certificate()) !== undefined)
  const { validToDate } = new X509Certificate(Buffer.from((await certificate())!, 'base64'))
  assert.ok(Math.abs(validToDate.getTime() - server.clock.now() - 3_600_000) < 600_000, validToDate.toISOString())
  await server.settled()
  server.clock.advance('2h')
  await untilTrue(() => isGone(server.client.get(kinds.CertificateSigningRequest, { name })))
})
