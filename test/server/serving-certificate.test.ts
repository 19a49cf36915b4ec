/**
 * Tests serving certificate files that are replaced while the server is running. New connections use the new
 * certificate, and open connections continue.
 */
import assert from 'node:assert/strict'
import type { X509Certificate } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { readNames } from '../../src/api/pki/names.ts'
import { temporaryDirectory } from '../api/pki/openssl.ts'
import { until } from '../support/authenticated-user.ts'
import { serve } from '../support/in-process.ts'
import { certificatesIn, serverExtensions } from '../support/openssl-certificates.ts'

/** Returns the name in the certificate that the server presents on a new connection. */
async function shownName(t: TestContext, port: number): Promise<string> {
  return (await shownCertificate(t, port)).subject
}

async function shownCertificate(t: TestContext, port: number): Promise<X509Certificate> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  t.after(() => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  const certificate = socket.getPeerX509Certificate()!
  socket.destroy()
  return certificate
}

test('a replaced serving certificate takes effect without a restart', { timeout: 300_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const make = certificatesIn(directory)
  const [first, second, third] = ['first', 'second', 'third'].map((name) =>
    make({ subject: `/CN=${name}`, extensions: serverExtensions }),
  )
  const certificate = join(directory, 'tls.crt')
  const key = join(directory, 'tls.key')
  copyFileSync(first!.certificateFile, certificate)
  copyFileSync(first!.keyFile, key)
  const server = await serve(t, [`--tls-cert-file=${certificate}`, `--tls-private-key-file=${key}`])
  assert.equal(await shownName(t, server.port), 'CN=first')
  const open = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false })
  t.after(() => open.destroy())
  await new Promise((resolve) => open.once('secureConnect', resolve))

  copyFileSync(second!.certificateFile, certificate)
  copyFileSync(second!.keyFile, key)
  await until(
    () => shownName(t, server.port),
    (name) => name === 'CN=second',
  )
  const config = () => readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8')
  const encoded = Buffer.from(second!.certificate).toString('base64')
  await until(
    async () => config(),
    (text) => text.includes(encoded),
  )

  // If the key does not match or the certificate is missing, the previous certificate remains in use.
  copyFileSync(third!.certificateFile, certificate)
  await until(
    async () => server.output(),
    (log) => /cannot load a changed file; .*the key in .*tls\.key does not match/.test(log),
  )
  assert.equal(await shownName(t, server.port), 'CN=second')
  writeFileSync(certificate, 'canary')
  await until(
    async () => server.output(),
    (log) => /tls\.crt contains no usable PEM certificate/.test(log),
  )
  assert.equal(await shownName(t, server.port), 'CN=second')
  assert.ok(!server.output().includes('canary'))

  copyFileSync(third!.certificateFile, certificate)
  copyFileSync(third!.keyFile, key)
  await until(
    () => shownName(t, server.port),
    (name) => name === 'CN=third',
  )
  open.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  let text = ''
  for await (const chunk of open) text += chunk
  assert.match(text, /^HTTP\/1\.1 200 /)
  // A write that started before the stop is complete after the stop.
  await server.stop()
  assert.ok(config().includes(Buffer.from(third!.certificate).toString('base64')))
})

test('the certificate of a server that listens on all addresses contains all addresses and the host name', async (t) => {
  const { port } = await serve(t, ['--bind-address=0.0.0.0'])
  const { dns, ips } = readNames((await shownCertificate(t, port)).raw)
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const expected = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address)
  assert.ok(expected.length > 0)
  assert.deepEqual(
    expected.filter((address) => !ips.includes(address)),
    [],
  )
  assert.ok(dns.includes(hostname().toLowerCase()), dns.join())
})

test('if --cert-dir contains no certificate, the server logs a message and uses a self-signed certificate', async (t) => {
  const server = await serve(t, [`--cert-dir=${temporaryDirectory(t)}`])
  assert.equal((await server.client().get('/readyz')).status, 200)
  assert.match(
    server.output(),
    /--cert-dir does not contain apiserver\.crt and apiserver\.key; serving a self-signed certificate/,
  )
})
