/** Tests the certificates in use, with a TLS server and clients on this machine that trust only the CA. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect, createServer, type TLSSocket } from 'node:tls'
import { openAuthority } from '../../../src/api/pki/authority.ts'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { readSubject } from '../../../src/api/pki/identity.ts'
import { generateKey, keyFromPem, keyToPem, publicKeyOf } from '../../../src/api/pki/keys.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { temporaryDirectory } from './openssl.ts'

const names = { dns: ['localhost'], ips: ['127.0.0.1'] }

/**
 * Starts a server that sends each client the subject of its certificate, or the reason why the server does not trust
 * it.
 */
async function start(t: TestContext) {
  const authority = await openAuthority({ directory: temporaryDirectory(t), clock: systemClock })
  const { certificate: cert, key } = await authority.servingCertificate(names)
  const options = { cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false }
  const server = createServer(options, (socket) => socket.end(JSON.stringify(answerTo(socket))))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { authority, server, port: (server.address() as AddressInfo).port }
}

function answerTo(socket: TLSSocket): unknown {
  const peer = socket.getPeerX509Certificate()
  return socket.authorized && peer !== undefined ? readSubject(peer.raw) : String(socket.authorizationError)
}

async function ask(port: number, options: ConnectionOptions): Promise<unknown> {
  const socket = connect({ host: '127.0.0.1', port, ...options })
  try {
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    return JSON.parse(Buffer.concat(chunks).toString())
  } finally {
    socket.destroy()
  }
}

test('the administrator certificate authenticates the administrator, whether the client connects by address or by name', async (t) => {
  const { authority, port } = await start(t)
  const { certificate: cert, key } = await authority.adminCertificate()
  const admin = { commonNames: ['orch-admin'], organizations: ['system:masters'] }
  assert.deepEqual(await ask(port, { ca: authority.certificate, cert, key }), admin)
  assert.deepEqual(await ask(port, { ca: authority.certificate, cert, key, servername: 'localhost' }), admin)
})

test('a client rejects a server whose certificate was issued by another CA or for another name', async (t) => {
  const { authority, port } = await start(t)
  const { authority: other } = await start(t)
  await assert.rejects(ask(port, { ca: other.certificate }), /certificate/)
  await assert.rejects(ask(port, { ca: authority.certificate, servername: 'other' }), /Hostname\/IP does not match/)
})

test('the server rejects a client certificate that has expired, was issued by another CA or is valid only for servers', async (t) => {
  const { authority, port } = await start(t)
  const { authority: other } = await start(t)
  const asking = async ({ certificate, key }: { certificate: string; key: string }) =>
    ask(port, { ca: authority.certificate, cert: certificate, key })
  assert.match(String(await asking(await other.adminCertificate())), /UNABLE_TO_VERIFY|SIGNATURE|SELF_SIGNED/)
  assert.match(String(await asking(await authority.servingCertificate(names))), /INVALID_PURPOSE/)
  const expired = generateKey()
  const certificate = issueCertificate({
    subject: { commonName: 'late', organizations: [] },
    publicKey: publicKeyOf(expired),
    issuer: { certificate: authority.certificate, key: keyFromPem(authority.key) },
    usages: ['digital signature', 'client auth'],
    notBefore: Date.now() - 20_000,
    notAfter: Date.now() - 10_000,
  })
  assert.match(String(await asking({ certificate, key: keyToPem(expired) })), /CERT_HAS_EXPIRED/)
})

test('a running server switches to a new serving certificate', async (t) => {
  const { authority, server, port } = await start(t)
  const { certificate: cert, key } = await authority.servingCertificate({ dns: ['new.example'], ips: [] })
  server.setSecureContext({ cert, key, ca: authority.certificate })
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, servername: 'new.example' })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  assert.equal(socket.getPeerX509Certificate()?.fingerprint256, new X509Certificate(cert).fingerprint256)
})
