/** The ABAC and Webhook modes: files, invalid files and the order of modes. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeIdentity } from '../../support/identities.ts'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-modes-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const policy = (spec: object) =>
  JSON.stringify({ apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy', spec })

test('ABAC: policies grant access', async (t) => {
  const file = join(directoryFor(t), 'policies')
  const lines = [
    '# who may do what',
    policy({ user: 'bob', namespace: 'default', apiGroup: '', resource: 'configmaps', readonly: true }),
    policy({ group: 'ops', namespace: '*', apiGroup: '*', resource: '*' }),
    policy({ user: '*', nonResourcePath: '/version' }),
    policy({ user: 'alice', group: 'nobody', nonResourcePath: '*' }),
  ]
  writeFileSync(file, lines.join('\n'))
  const server = await serve(t, ['--authorization-mode=ABAC', `--authorization-policy-file=${file}`])
  const alice = server.client('alice-token')
  const bob = server.client('bob-token')
  const nobody = server.client('')
  assert.equal((await bob.get(configMaps)).status, 200)
  assert.equal((await bob.post(configMaps, { metadata: { name: 'a' } })).status, 403)
  assert.equal((await bob.get('/api/v1/namespaces/kube-system/configmaps')).status, 403)
  assert.equal((await bob.get('/api/v1/configmaps')).status, 403)
  assert.equal((await alice.post(configMaps, { metadata: { name: 'a' } })).status, 201)
  assert.equal((await alice.get('/metrics')).status, 403)
  assert.equal((await bob.get('/version')).status, 200)
  assert.equal((await nobody.get('/version')).status, 403)
})

/** A service that answers reviews as configured and records them. */
async function serviceFor(t: TestContext, answer: (review: Review) => object | undefined) {
  const { certificate, key } = await makeIdentity({
    commonName: 'service',
    usages: ['server auth'],
    names: { dns: [], ips: ['127.0.0.1'] },
  })
  const asked: Review[] = []
  const traces: unknown[] = []
  const service = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Review
      asked.push(review)
      traces.push(request.headers.traceparent, request.headers.tracestate)
      const status = answer(review)
      if (status === undefined) response.writeHead(500).end()
      else response.end(JSON.stringify({ ...review, status }))
    })
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  t.after(() => void service.close())
  const file = join(directoryFor(t), 'webhook.kubeconfig')
  const cluster = {
    server: `https://127.0.0.1:${(service.address() as AddressInfo).port}/authorize`,
    'certificate-authority-data': Buffer.from(certificate).toString('base64'),
  }
  const config = {
    clusters: [{ name: 's', cluster }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'c', context: { cluster: 's', user: 'u' } }],
    'current-context': 'c',
  }
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
  return { asked, traces, flag: `--authorization-webhook-config-file=${file}` }
}

interface Review {
  readonly apiVersion: string
  readonly spec: {
    readonly user: string
    readonly groups?: readonly string[]
    readonly group?: readonly string[]
    readonly resourceAttributes?: { readonly resource: string; readonly verb: string }
  }
}

test('Webhook: requests use the configured version, responses are cached, and a failure means no opinion', async (t) => {
  const { asked, traces, flag } = await serviceFor(t, ({ spec }) => {
    const { resource } = spec.resourceAttributes ?? { resource: '' }
    if (resource === 'secrets') return { allowed: false, denied: true, reason: 'never' }
    return resource === 'pods' ? undefined : { allowed: spec.user === 'bob' && resource === 'configmaps' }
  })
  const flags = ['--authorization-mode=Webhook,AlwaysAllow', '--authorization-webhook-version=v1', flag]
  const server = await serve(t, flags)
  const bob = server.client('bob-token')
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', tracestate: 'a=b' }
  for (let i = 0; i < 5; i++) assert.equal((await bob.get(configMaps, trace)).status, 200)
  assert.equal(asked.length, 1, 'the answer is remembered')
  assert.deepEqual(traces, [trace.traceparent, trace.tracestate])
  assert.equal(asked[0]!.apiVersion, 'authorization.orch.io/v1')
  assert.deepEqual(asked[0]!.spec.groups, ['system:authenticated'])
  const denied = await bob.get('/api/v1/secrets')
  assert.equal(denied.status, 403, 'a no ends it, although the next mode would allow')
  assert.match(denied.body.message, /never/)
  assert.equal((await bob.get('/api/v1/pods')).status, 200, 'a failure is no opinion')
  assert.match(server.output(), /authorization webhook failed/)
  assert.ok(!server.output().includes('secret'), 'the token is not in the log')
})

test('Webhook: v1beta1 uses another field name for groups, and without a cache every request calls the webhook', async (t) => {
  const { asked, flag } = await serviceFor(t, () => ({ allowed: true }))
  const ttl = ['--authorization-webhook-cache-authorized-ttl=0s', '--authorization-webhook-cache-unauthorized-ttl=0s']
  const server = await serve(t, ['--authorization-mode=Webhook', flag, ...ttl])
  const bob = server.client('bob-token')
  for (let i = 0; i < 3; i++) assert.equal((await bob.get(configMaps)).status, 200)
  assert.equal(asked.length, 3)
  assert.deepEqual(asked[0]!.spec.group, ['system:authenticated'])
  assert.equal(asked[0]!.apiVersion, 'authorization.orch.io/v1beta1')
})
