/** Tests the serving flags that affect clients: TLS versions and ciphers, closed connections, and headers. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { servedUrl } from '../../src/server/assembly/server-urls.ts'
import { type Restartable, serve, serveUp } from '../support/in-process.ts'
import { configMaps } from '../support/paths.ts'
import { caOf } from '../support/raw-http.ts'
import { startFailing } from '../support/start-failing.ts'

/** Returns the TLS version and cipher that a client with these offers negotiates, or the error code. */
async function handshake(server: Restartable, offers: ConnectionOptions): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: caOf(server), ...offers })
  try {
    return await new Promise((resolve) => {
      socket.once('secureConnect', () => resolve(`${socket.getProtocol()} ${socket.getCipher().name}`))
      socket.once('error', () => resolve('refused'))
    })
  } finally {
    socket.destroy()
  }
}

test('--tls-min-version and --tls-cipher-suites restrict the TLS handshake', async (t) => {
  const server = await serve(t)
  const tls12 = { maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' } as const
  const weak = { ...tls12, ciphers: 'ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA' }
  const strong = { ...tls12, ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384' }
  assert.match(await handshake(server, strong), /^TLSv1\.2 .*AES256-GCM-SHA384$/)
  const suites = ['ECDSA', 'RSA'].map((key) => `TLS_ECDHE_${key}_WITH_AES_256_GCM_SHA384`).join()
  await server.restart([`--tls-cipher-suites=${suites}`])
  assert.match(await handshake(server, strong), /^TLSv1\.2 .*AES256-GCM-SHA384$/)
  assert.equal(await handshake(server, weak), 'refused')
  assert.match(await handshake(server, {}), /^TLSv1\.3 /)
  await server.restart(['--tls-min-version=VersionTLS13'])
  assert.deepEqual([await handshake(server, strong), (await handshake(server, {})).slice(0, 7)], ['refused', 'TLSv1.3'])
})

test('--strict-transport-security-directives sets the HSTS header', async (t) => {
  const server = await serve(t)
  assert.equal((await server.client().get(configMaps)).headers['strict-transport-security'], undefined)
  await server.restart(['--strict-transport-security-directives=max-age=60,includeSubDomains'])
  const { headers } = await server.client().get(configMaps)
  assert.equal(headers['strict-transport-security'], 'max-age=60; includeSubDomains')
})

test('--advertise-address is published, and the kubeconfig and the console link use an address that the server listens on', async (t) => {
  const server = await serveUp(t, ['--advertise-address=192.0.2.7'])
  const served = `https://127.0.0.1:${server.port}`
  const kubeconfig = readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8')
  assert.match(kubeconfig, new RegExp(`"?server"?: "?${served}"?\\s`))
  assert.ok(server.output().includes(`${served}/console/`), server.output())
  assert.ok(!server.output().includes('192.0.2.7'), server.output())
  const { body } = await server.client().get('/api')
  assert.equal(body.serverAddressByClientCIDRs[0].serverAddress, `192.0.2.7:${server.port}`)
})

test('the kubeconfig contains the advertised address if the server listens on all addresses', () => {
  const isLocal = (address: string) => ['127.0.0.1', '192.0.2.7', '2001:db8::7'].includes(address)
  const rows = [
    ['127.0.0.1', '', '127.0.0.1'],
    ['127.0.0.1', '192.0.2.7', '127.0.0.1'],
    ['192.0.2.8', '192.0.2.7', '192.0.2.8'],
    ['0.0.0.0', '', '127.0.0.1'],
    ['0.0.0.0', '192.0.2.7', '192.0.2.7'],
    ['0.0.0.0', '198.51.100.1', '127.0.0.1'],
    ['0.0.0.0', '2001:db8::7', '127.0.0.1'],
    ['::', '2001:db8::7', '[2001:db8::7]'],
    ['::', '192.0.2.7', '192.0.2.7'],
    ['::1', '', '[::1]'],
  ] as const
  for (const [bindAddress, advertiseAddress, host] of rows)
    assert.equal(
      servedUrl({ bindAddress, advertiseAddress }, 6443, isLocal).origin,
      `https://${host}:6443`,
      `${bindAddress} ${advertiseAddress}`,
    )
})

test('flags set the default toleration seconds of pods', async (t) => {
  const server = await serve(t, [
    ...['--default-not-ready-toleration-seconds=7', '--default-unreachable-toleration-seconds=0'],
    '--disable-admission-plugins=ServiceAccount',
  ])
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  const { status, body } = await server
    .client()
    .post('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec })
  assert.equal(status, 201, JSON.stringify(body))
  const seconds = body.spec.tolerations.map((each: { tolerationSeconds: number }) => each.tolerationSeconds)
  assert.deepEqual(seconds, [7, 0])
})

test('invalid values of serving flags are rejected', async (t) => {
  for (const [flag, expected] of [
    ['--tls-min-version=VersionTLS10', /"VersionTLS10" is not one of VersionTLS12, VersionTLS13/],
    [
      '--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA',
      /is not a supported cipher suite; supported cipher suites are TLS_ECDHE_ECDSA_WITH/,
    ],
    ['--goaway-chance=0.5', /is not a valid probability: use 0 to 0.02/],
    ['--max-connections=5', /is not a valid number of connections: use 16 or more, or 0/],
    ['--max-connections-per-user=0', /is not a valid number: use 1 or more/],
    ['--strict-transport-security-directives=preload', /max-age=SECONDS is missing/],
    ['--max-requests-inflight=-1', /is not a non-negative whole number/],
  ] as const) {
    const { errors } = await startFailing(t, [flag])
    assert.match(errors, expected)
  }
  const none = ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0']
  assert.match((await startFailing(t, none)).errors, /priority and fairness has no seats/)
})
