/**
 * Tests `orch controller-manager` as users run it: a separate process that connects to `orch apiserver` over TLS, with
 * the service accounts of its loops. Covers the path from an openssl request to a working certificate, and the
 * manager's own endpoints.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseFlags, UsageError } from '../../src/base/flags/flags.ts'
import { allManagerFlags } from '../../src/server/flags/controller-manager.ts'
import { startControllerManager } from '../../src/server/manager/controller-manager.ts'
import { openssl } from '../api/pki/openssl.ts'
import { HttpClient } from '../support/http-client.ts'
import { serve } from '../support/in-process.ts'
import { startManager } from '../support/manager.ts'
import { orchctl } from '../support/orchctl.ts'
import { runCommand } from '../support/run-command.ts'
import { root } from '../support/server.ts'
import { openTestLog } from '../support/test-log.ts'
import { until } from '../support/until.ts'

const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests'

async function fetchFrom(port: number, path: string, token?: string): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const sent = request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (response) => {
      let body = ''
      response.on('data', (chunk) => (body += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    sent.on('error', reject).end()
  })
}

test('a controller manager works with a separate API server', async (t) => {
  const server = await serve(t)
  const admin = server.client()
  const keyFile = join(server.directory, 'sa.key')
  writeFileSync(keyFile, openssl(['genrsa', '-traditional', '2048']))
  const port = 20000 + Math.floor(Math.random() * 20000)
  const user = join(server.directory, 'jane')
  openssl([
    'req',
    '-new',
    ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    '-keyout',
    `${user}.key`,
    '-subj',
    '/O=dev/CN=jane',
    '-out',
    `${user}.csr`,
  ])

  await t.test('without a manager, an approved CertificateSigningRequest stays unsigned', async () => {
    const spec = {
      request: readFileSync(`${user}.csr`).toString('base64'),
      signerName: 'orch.io/apiserver-client',
      usages: ['client auth', 'digital signature', 'key encipherment'],
    }
    assert.equal((await admin.post(requests, { metadata: { name: 'jane' }, spec })).status, 201)
    const approve = ['certificate', 'approve', 'jane', `--kubeconfig=${server.directory}/admin.kubeconfig`]
    const { code, stderr } = await orchctl(approve)
    assert.equal(code, 0, stderr)
    assert.equal((await admin.get(`${requests}/jane`)).body.status.certificate, undefined)
  })

  const manager = startManager(t, server, [
    ...[
      '--use-service-account-credentials',
      '--controllers=*,tokencleaner',
      `--service-account-private-key-file=${keyFile}`,
    ],
    ...[`--secure-port=${port}`, '--create-token-secrets', '--concurrent-namespace-syncs=2'],
  ])
  await manager.leads()

  await t.test('the controller manager signs a certificate that authenticates its user', async () => {
    const { body } = await until(
      () => admin.get(`${requests}/jane`),
      (latest) => latest.body.status.certificate !== undefined,
    )
    const certificate = Buffer.from(body.status.certificate, 'base64').toString()
    const ca = readFileSync(join(server.directory, 'data/pki/ca.crt'), 'utf8')
    const jane = new HttpClient({
      port: server.port,
      token: '',
      ca,
      cert: certificate,
      key: readFileSync(`${user}.key`, 'utf8'),
    })
    const review = await jane.post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/api', verb: 'get' } },
    })
    assert.equal(review.status, 201, JSON.stringify(review.body))
    const denied = await jane.get('/api/v1/namespaces/default/secrets')
    assert.match(denied.body.message, /User "jane"/)
    jane.close()
  })

  await t.test('the controller manager publishes the root CA in every namespace and fills token Secrets', async () => {
    const path = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt'
    await until(
      () => admin.get(path),
      ({ status }) => status === 200,
    )
    const { body } = await until(
      () => admin.get('/api/v1/namespaces/default/serviceaccounts/default'),
      (latest) => (latest.body.secrets ?? []).length > 0,
    )
    assert.equal(body.secrets.length, 1)
    assert.match(body.secrets[0].name, /^default-token-.{5}$/)
    const secret = await until(
      () => admin.get(`/api/v1/namespaces/default/secrets/${body.secrets[0].name}`),
      (latest) => latest.body.data?.token !== undefined,
    )
    const token = Buffer.from(secret.body.data.token, 'base64').toString()
    const header = JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())
    assert.equal(header.alg, 'RS256')
    // The server does not know the manager's key, so it rejects a token that is signed with this key.
    assert.equal((await server.client(token).get('/api')).status, 401)
  })

  await t.test(
    'the health endpoint of the controller manager is public, and metrics require authorization',
    async () => {
      assert.deepEqual(await fetchFrom(port, '/healthz'), { status: 200, body: 'ok' })
      assert.equal((await fetchFrom(port, '/metrics')).status, 401)
      assert.equal((await fetchFrom(port, '/metrics', 'wrong')).status, 401)
      assert.equal((await fetchFrom(port, '/metrics', 'alice-token')).status, 403)
      const { status, body } = await fetchFrom(port, '/metrics', 'admin-token')
      assert.equal(status, 200)
      assert.match(body, /workqueue_adds_total\{name="csrsigning"\} [1-9]/)
      assert.match(body, /leader_election_master_status 1/)
      assert.equal((await fetchFrom(port, '/other')).status, 404)
    },
  )

  await t.test('SIGTERM stops the controller manager and releases its lease', async () => {
    assert.equal(await manager.end(), 0, manager.output())
    const lease = await admin.get('/apis/coordination.orch.io/v1/namespaces/kube-system/leases/kube-controller-manager')
    assert.equal(lease.body.spec.holderIdentity, '')
  })
})

test('an invalid command line of the controller manager is reported in one line', async (t) => {
  const server = await serve(t)
  const config = `--kubeconfig=${server.directory}/admin.kubeconfig`
  const pki = join(server.directory, 'data/pki')
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['--controllers=*,tokencleane'],
      /unknown control loop "tokencleane"; did you mean tokencleaner\? Known loops are: .*bootstrapsigner, /,
    ],
    [['--controllers=-nothing'], /unknown control loop "nothing"/],
    [['--leader-elect-lease-duration=5s'], /longer than the renew deadline/],
    [[`--cluster-signing-cert-file=${pki}/ca.crt`], /must be specified together/],
    [
      [`--cluster-signing-cert-file=${pki}/ca.crt`, `--cluster-signing-key-file=${pki}/serving.key`],
      /does not match the certificate/,
    ],
    [
      [`--cluster-signing-cert-file=${pki}/serving.crt`, `--cluster-signing-key-file=${pki}/serving.key`],
      /not a CA certificate/,
    ],
    [
      [
        ...[`--cluster-signing-cert-file=${pki}/ca.crt`, `--cluster-signing-key-file=${pki}/ca.key`],
        ...[
          `--cluster-signing-kubelet-client-cert-file=${pki}/ca.crt`,
          `--cluster-signing-kubelet-client-key-file=${pki}/ca.key`,
        ],
      ],
      /applies to all signers/,
    ],
    [['--root-ca-file=/nowhere'], /--root-ca-file: cannot read/],
    [[`--service-account-private-key-file=${pki}/ca.crt`], /contains no private key/],
    [['--cluster-signing-duration=1m'], /at least 10m/],
    [['--concurrent-namespace-syncs=0'], /--concurrent-namespace-syncs/],
  ]
  const given = [config, '--secure-port=0']
  for (const [flags, message] of wrong) {
    const starting = async () => {
      const manager = await startControllerManager(parseFlags(allManagerFlags, [...given, ...flags]), openTestLog())
      await manager.stop()
    }
    await assert.rejects(starting, (error) => error instanceof UsageError && message.test(error.message))
  }
  const [flags, message] = wrong[0]!
  const ran = await runCommand(join(root, 'bin/orch'), ['controller-manager', ...given, ...flags])
  assert.equal(ran.code, 1)
  assert.match(ran.stderr, message)
  assert.equal(ran.stderr.trim().split('\n').length, 1, ran.stderr)
  const { stdout } = await runCommand(join(root, 'bin/orch'), ['controller-manager', '--help'])
  for (const title of ['Connection', 'Control loop', 'Signing', 'Leader election', 'Serving', 'Logging'])
    assert.ok(stdout.includes(`${title} flags:`), title)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
})
