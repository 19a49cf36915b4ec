/** Tests the authorization modes ABAC and Webhook: valid and invalid files, and the order of modes. */
import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeIdentity } from '../../support/identities.ts'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { startFailing } from '../../support/start-failing.ts'
import { until } from '../../support/until.ts'

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-modes-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const policy = (spec: object) =>
  JSON.stringify({ apiVersion: 'abac.authorization.orch.io/v1beta1', kind: 'Policy', spec })

test('ABAC: a request is allowed if a policy in the file matches it', async (t) => {
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

/** Starts a service that records access reviews and answers them as configured. */
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
  return { asked, traces, file, flag: `--authorization-webhook-config-file=${file}` }
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

test('Webhook: v1beta1 uses another field name for groups, and without caching every request calls the webhook', async (t) => {
  const { asked, flag } = await serviceFor(t, () => ({ allowed: true }))
  const ttl = ['--authorization-webhook-cache-authorized-ttl=0s', '--authorization-webhook-cache-unauthorized-ttl=0s']
  const server = await serve(t, ['--authorization-mode=Webhook', flag, ...ttl])
  const bob = server.client('bob-token')
  for (let i = 0; i < 3; i++) assert.equal((await bob.get(configMaps)).status, 200)
  assert.equal(asked.length, 3)
  assert.deepEqual(asked[0]!.spec.group, ['system:authenticated'])
  assert.equal(asked[0]!.apiVersion, 'authorization.orch.io/v1beta1')
})

test('the authorizers in an AuthorizationConfiguration are called in order, and the file is reloaded', async (t) => {
  const denying = await serviceFor(t, () => ({ allowed: false, denied: true, reason: 'never' }))
  const failing = await serviceFor(t, () => undefined)
  const webhook = (file: string, conditions: readonly string[], failurePolicy = 'Deny') => ({
    type: 'Webhook',
    webhook: {
      timeout: '3s',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy,
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: file },
      matchConditions: conditions.map((expression) => ({ expression })),
    },
  })
  const file = join(directoryFor(t), 'authz.yaml')
  const write = (...authorizers: readonly object[]) => {
    const named = authorizers.map((each, i) => ({ name: `a${i}`, ...each }))
    const document = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'AuthorizationConfiguration' }
    writeFileSync(`${file}.new`, JSON.stringify({ ...document, authorizers: named }))
    renameSync(`${file}.new`, file)
  }
  const resource = 'has(request.resourceAttributes)'
  const ofSecrets = 'request.resourceAttributes.resource == "secrets"'
  const ofPods = 'request.resourceAttributes.resource == "pods"'
  write(
    webhook(denying.file, [resource, ofSecrets]),
    webhook(failing.file, [resource, ofPods]),
    webhook(denying.file, ['request.resourceAttributes.name == "x"', 'request.user != "bob"'], 'NoOpinion'),
    { type: 'AlwaysAllow' },
  )
  const server = await serve(t, ['--emulated-version=1.36', '--anonymous-auth=false', `--authorization-config=${file}`])
  const bob = server.client('bob-token')
  assert.equal((await bob.get(configMaps)).status, 200)
  assert.deepEqual([denying.asked.length, failing.asked.length], [0, 0], 'the conditions skip the webhooks')
  assert.match((await bob.get('/api/v1/secrets')).body.message, /never/)
  assert.equal((await bob.get('/api/v1/pods')).status, 403, 'a failure denies the request')
  assert.equal((await bob.get('/version')).status, 200)

  const reloads = async (status: string) => {
    const { text } = await server.client().get('/metrics')
    return new RegExp(`^apiserver_authorization_config_.*reloads_total\\{status="${status}"\\} 1$`, 'm').test(text)
  }
  write(webhook(denying.file, ['request.verb == "get"']), { type: 'AlwaysAllow' })
  await until(() => reloads('failure'), Boolean)
  assert.match(server.output(), /matchConditions\[0\]\.expression: compilation failed/)
  assert.equal((await bob.get('/api/v1/secrets')).status, 403)
  write({ type: 'AlwaysAllow' })
  await until(() => reloads('success'), Boolean)
  assert.equal((await bob.get('/api/v1/secrets')).status, 200)
})

test('an invalid AuthorizationConfiguration prevents startup, and the error contains the line and the column', async (t) => {
  const file = join(directoryFor(t), 'authz.yaml')
  const header = 'apiVersion: apiserver.config.orch.io/v1\nkind: AuthorizationConfiguration\n'
  const webhook = `${header}authorizers:
- name: w
  type: Webhook
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /x}
`
  const one = (type: string, name = 'a') => `${header}authorizers:\n- type: ${type}\n  name: ${name}\n`
  const rows: readonly (readonly [string, RegExp, ...string[]])[] = [
    [header, /authorizers: at least one authorizer is required/],
    [one('Nobody'), /authz\.yaml:4:3: authorizers\[0\]\.type: must be one of Node, RBAC/],
    [one('RBAC', 'A_b'), /authz\.yaml:5:3: authorizers\[0\]\.name: /],
    [`${one('RBAC')}- {type: RBAC, name: b}\n`, /authz\.yaml:6:4: .*RBAC can occur only once/],
    [`${one('RBAC')}- {type: Node, name: a}\n`, /authorizers\[1\]\.name: is a duplicate/],
    [one('Webhook'), /authorizers\[0\]\.webhook: is required/],
    [one('AlwaysAllow'), /AlwaysAllow requires --anonymous-auth/],
    [one('ABAC'), /ABAC requires --authorization-policy-file/],
    [webhook.replace('3s', '31s'), /authz\.yaml:7:5: .*timeout: must be at most 30s/],
    [webhook.replace('Deny', 'Ignore'), /authz\.yaml:9:5: .*failurePolicy: must be NoOpinion or Deny/],
    [webhook.replace('KubeConfigFile', 'InClusterConfig'), /InClusterConfig is not supported/],
    [webhook.replace('/x', 'x'), /must be an absolute path/],
    [`${webhook}    matchConditions: [{expression: "true"}]\n`, /matchConditionSubjectAccessReviewVersion: must be v1/],
    [one('RBAC'), /--authorization-mode are mutually exclusive/, '--authorization-mode=Node,RBAC'],
    [one('RBAC'), /in apiserver\.config\.orch\.io\/v1beta1 or/, '--emulated-version=1.31'],
    [one('RBAC'), /requires the feature gate StructuredAuthorization/, '--emulated-version=1.28'],
  ]
  for (const [text, error, ...flags] of rows) {
    writeFileSync(file, text)
    const versions = flags.some((flag) => flag.startsWith('--emulated')) ? [] : ['--emulated-version=1.36']
    const { errors } = await startFailing(t, [...versions, `--authorization-config=${file}`, ...flags])
    assert.match(errors, error)
  }
})
