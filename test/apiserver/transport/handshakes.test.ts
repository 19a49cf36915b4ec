/**
 * Tests handshakes designed by attackers: unusual server names, very long certificate chains, and thousands of
 * certificates.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { generateKey, keyToPem, publicKeyOf } from '../../../src/api/pki/keys.ts'
import { template } from '../../api/pki/issue.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { caOf, statusesOf, untilClosed } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const day = 24 * 60 * 60 * 1000
const version = 'GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const livez = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

test('unusual server names in a TLS handshake have no effect', async (t) => {
  const server = await serve(t)
  const names = [
    '__proto__',
    'constructor',
    '..',
    '*',
    'x\0y',
    'a'.repeat(255),
    `${'a.'.repeat(120)}b`,
    '%00',
    '\x7f\n',
  ]
  for (const servername of names) {
    const options = { host: '127.0.0.1', port: server.port, ca: caOf(server), servername }
    const socket = connect({ ...options, checkServerIdentity: () => undefined })
    socket.on('secureConnect', () => socket.write(livez))
    const answer = await untilClosed(socket)
    // The client is either rejected in the handshake or served normally.
    assert.ok(answer === '' || statusesOf(answer)[0] === 200, `${JSON.stringify(servername)}: ${answer.slice(0, 100)}`)
  }
  await survivalCheck(server)()
})

test('a client with a very long or untrusted certificate chain is rejected quickly', async (t) => {
  const server = await serve(t)
  for (const length of [1, 10, 100]) {
    const answer = await answerTo(server, chainOf(length))
    assert.ok(answer === '' || statusesOf(answer)[0] === 401, `${length}: ${answer.slice(0, 100)}`)
  }
  await survivalCheck(server)()
})

test('handshakes with client certificates leak no memory', async (t) => {
  const server = await serve(t)
  const alive = survivalCheck(server)
  const stranger = chainOf(1)
  const rounds = long ? 100_000 : 20
  for (let i = 0; i < rounds; i++) await answerTo(server, stranger)
  await alive()
})

interface Shown {
  readonly cert: string
  readonly key: string
}

/** Returns a client certificate at the end of a chain with the given number of unknown CAs. */
function chainOf(length: number): Shown {
  const notBefore = Date.now() - day
  const notAfter = Date.now() + day
  let key = generateKey()
  let certificate = issueCertificate({
    publicKey: publicKeyOf(key),
    notBefore,
    notAfter,
    authority: true,
    subject: { commonName: 'ca-0', organizations: [] },
    issuer: { certificate: 'self', key },
    usages: ['cert sign'],
  })
  const chain = [certificate]
  for (let i = 1; i <= length; i++) {
    const own = generateKey()
    const isLast = i === length
    certificate = issueCertificate({
      ...template({ certificate, key }, { publicKey: publicKeyOf(own), notBefore, notAfter }),
      ...(isLast
        ? {}
        : { subject: { commonName: `ca-${i}`, organizations: [] }, usages: ['cert sign'], authority: true }),
    })
    chain.unshift(certificate)
    key = own
  }
  return { cert: chain.join(''), key: keyToPem(key) }
}

async function answerTo(server: Awaited<ReturnType<typeof serve>>, shown: Shown): Promise<string> {
  const options = { host: '127.0.0.1', port: server.port, ca: caOf(server), ...shown, ALPNProtocols: ['http/1.1'] }
  const socket: TLSSocket = connect(options)
  socket.on('secureConnect', () => socket.write(version))
  return await untilClosed(socket)
}
