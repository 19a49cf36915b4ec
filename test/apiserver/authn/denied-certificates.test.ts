/**
 * Tests denied and expiring certificates: their effects on requests, on open connections and watches, and on other
 * servers.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { CertifiedKey } from '../../../src/api/pki/authority.ts'
import { temporaryDirectory } from '../../api/pki/openssl.ts'
import { agentOf, authenticatedUser, until } from '../../support/authenticated-user.ts'
import { startEtcd } from '../../support/etcd.ts'
import { asIssuer, makeIdentity, pairOf } from '../../support/identities.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { authorityExtensions, certificatesIn } from '../../support/openssl-certificates.ts'
import { caOf } from '../../support/raw-http.ts'

const lists = '/apis/ops.orch.io/v1/certificatedenylists'
const masters = { organizations: ['system:masters'], usages: ['client auth'] } as const

function listOf(name: string, ...certificates: object[]) {
  return { apiVersion: 'ops.orch.io/v1', kind: 'CertificateDenyList', metadata: { name }, spec: { certificates } }
}

const x509 = ({ certificate }: CertifiedKey) => new X509Certificate(certificate)

interface Watch {
  /** Resolves when the server closes the connection. */
  readonly end: Promise<unknown>
  readonly closed: () => boolean
}

/** Opens a watch over HTTP/1.1. */
async function openWatch(t: TestContext, server: Restartable, pair: CertifiedKey): Promise<Watch> {
  const { certificate: cert, key } = pair
  const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: caOf(server), cert, key })
  t.after(() => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.write('GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n')
  const [head] = await once(socket, 'data')
  assert.match(String(head), /^HTTP\/1\.1 200 /)
  return { end: once(socket.resume(), 'close'), closed: () => socket.destroyed }
}

test('client certificates on a deny list are rejected', { timeout: 300_000 }, async (t) => {
  const make = certificatesIn(temporaryDirectory(t))
  const root = make({ subject: '/CN=root', extensions: authorityExtensions })
  const server = await serve(t, [`--client-ca-file=${root.certificateFile}`])
  const issuer = asIssuer(pairOf(server, 'ca'))
  const lost = await makeIdentity({ commonName: 'lost', ...masters, issuer })
  const allowedIdentity = await makeIdentity({ commonName: 'kept', ...masters, issuer })
  const admin = server.client()
  const statusOf = async (certificate: CertifiedKey) => (await authenticatedUser(server, { certificate })).status

  await t.test(
    'a client certificate is denied by serial number in any notation, on open and new connections',
    async () => {
      const serial = x509(lost).serialNumber
      const spelt = serial.toLowerCase().match(/../g)!.join(':')
      for (const [i, serialNumber] of [serial, spelt, `00${serial}`].entries()) {
        const agent = agentOf(server, lost)
        t.after(() => agent.destroy())
        assert.equal((await authenticatedUser(server, { agent })).user, 'lost')
        const watch = await openWatch(t, server, lost)
        const other = await openWatch(t, server, allowedIdentity)
        const { certificate: cert, key } = lost
        const session = connectHttp2(server.url, { ca: caOf(server), cert, key })
        session.on('error', () => {})
        await once(session, 'connect')
        // For the client, the connection is open before the server has verified the client certificate. A ping response
        // proves that the verification is complete.
        await new Promise((resolve) => session.ping(resolve))
        let asked = false
        session.on('goaway', () => {
          asked = true
        })
        const ended = new Promise((resolve) => session.on('close', resolve))
        assert.equal((await admin.post(lists, listOf(`list-${i}`, { serialNumber, reason: 'stolen' }))).status, 201)
        await watch.end
        await ended
        assert.equal(asked, false, 'cut off, not asked to go for having been idle')
        assert.equal((await authenticatedUser(server, { agent })).status, 401)
        assert.equal(await statusOf(allowedIdentity), 201)
        assert.equal(other.closed(), false)
        assert.equal((await admin.delete(`${lists}/list-${i}`)).status, 200)
        await until(
          () => statusOf(lost),
          (status) => status === 201,
        )
      }
    },
  )

  await t.test('a client certificate is denied by fingerprint, and several deny lists are combined', async () => {
    const fingerprints = [lost, allowedIdentity].map((pair) => x509(pair).fingerprint256)
    await admin.post(lists, listOf('one', { fingerprint: fingerprints[0] }))
    await admin.post(lists, listOf('two', { fingerprint: fingerprints[1]!.replaceAll(':', '').toLowerCase() }))
    await until(
      async () => [await statusOf(lost), await statusOf(allowedIdentity)],
      ([a, b]) => a === 401 && b === 401,
    )
    const two = (await admin.get(`${lists}/two`)).body
    await admin.put(`${lists}/two`, { ...two, spec: { certificates: [] } })
    await until(
      () => statusOf(allowedIdentity),
      (status) => status === 201,
    )
    assert.equal(await statusOf(lost), 401)
    assert.equal((await authenticatedUser(server, { certificate: lost, token: 'bob-token' })).user, 'bob')
  })

  await t.test('denying an intermediate CA denies all certificates issued by that CA', async () => {
    const middle = make({ subject: '/CN=middle', issuer: root, extensions: authorityExtensions })
    const below = make({ subject: '/CN=below', issuer: middle })
    const chain = { certificate: `${below.certificate}\n${middle.certificate}`, key: below.key }
    assert.equal(await statusOf(chain), 201)
    await admin.post(lists, listOf('middle', { fingerprint: x509(middle).fingerprint256 }))
    await until(
      () => statusOf(chain),
      (status) => status === 401,
    )
  })

  await t.test('invalid certificate deny lists are rejected', async () => {
    const bad: readonly object[] = [
      {},
      { reason: 'x' },
      { serialNumber: 'xyz' },
      { serialNumber: '1'.repeat(41) },
      { serialNumber: ':' },
      { fingerprint: 'ab' },
      { fingerprint: 'g'.repeat(64) },
      { serialNumber: '01', fingerprint: 'a'.repeat(64) },
    ]
    for (const entry of bad) {
      const { status, text } = await admin.post(lists, listOf('bad', entry))
      assert.equal(status, 422, text)
      assert.match(text, /spec\.certificates\[0\]/)
    }
    assert.equal((await server.client('bob-token').post(lists, listOf('mine', { serialNumber: '01' }))).status, 403)
  })
})

test('a certificate deny list takes effect on other servers that share the store', { timeout: 300_000 }, async (t) => {
  const etcd = await startEtcd()
  t.after(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoints}`]
  const one = await serve(t, flags)
  const two = await serve(t, flags)
  const lost = await makeIdentity({ commonName: 'lost', ...masters, issuer: asIssuer(pairOf(two, 'ca')) })
  const watch = await openWatch(t, two, lost)
  const serialNumber = x509(lost).serialNumber
  assert.equal((await one.client().post(lists, listOf('list', { serialNumber }))).status, 201)
  await watch.end
  assert.equal((await authenticatedUser(two, { certificate: lost })).status, 401)
})

test('the response to a request with a certificate that expires soon contains a warning', {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t)
  const issuer = asIssuer(pairOf(server, 'ca'))
  const hour = 60 * 60 * 1000
  const day = 24 * hour
  const rows: readonly (readonly [number, number, boolean])[] = [
    [-hour, hour, false],
    [-95 * hour, 5 * hour, true],
    [-85 * hour, 15 * hour, false],
    [-340 * day, 25 * day, false],
    [-355 * day, 10 * day, true],
    [-3000 * day, 20 * day, false],
  ]
  for (const [from, to, warned] of rows) {
    const certificate = await makeIdentity({ commonName: 'jane', usages: ['client auth'], issuer, from, to })
    const { status, warnings } = await authenticatedUser(server, { certificate })
    assert.equal(status, 201)
    const end = x509(certificate).validToDate.toISOString()
    assert.deepEqual(warnings, warned ? [`299 - "the client certificate expires at ${end}: renew it"`] : [])
  }
})
