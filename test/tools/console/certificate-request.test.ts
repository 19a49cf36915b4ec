/** Tests that the console and the server show the same subject and names for a certificate request. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readCertificateRequest } from '../../../src/api/pki/certificate-request.ts'
import { signerRelevantPart } from '../../../src/api/pki/requested-names.ts'
import { decodeRequest } from '../../../src/tools/console/page/core/certificate-request.ts'
import { openssl, temporaryDirectory } from '../../api/pki/openssl.ts'

const names = 'DNS:a.example,DNS:b.example,IP:10.0.0.1,IP:2001:db8::1,email:x@example.com,URI:spiffe://a/b,RID:1.2.3.4'

function requestBy(t: TestContext, keyOptions: readonly string[]): Buffer {
  const file = join(temporaryDirectory(t), 'key')
  const options = ['-subj', '/O=one/O=two/CN=jane', '-addext', `subjectAltName=${names}`]
  return Buffer.from(openssl(['req', '-new', '-nodes', '-keyout', file, '-newkey', ...keyOptions, ...options]))
}

for (const { keyOptions, key } of [
  { keyOptions: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], key: 'EC P-256' },
  { keyOptions: ['rsa:2048'], key: 'RSA 2048 bits' },
  { keyOptions: ['ed25519'], key: 'Ed25519' },
])
  test(`the console decodes a certificate request with a key of type ${key} in the same way as the server`, (t) => {
    const pem = requestBy(t, keyOptions)
    const decoded = decodeRequest(pem.toString('base64'))
    const { subject, names: expected } = signerRelevantPart(readCertificateRequest(pem))
    const { der: _, ...shownNames } = expected as typeof expected & { der: unknown }
    assert.deepEqual(decoded, { subject, names: shownNames, key })
    assert.equal(decoded.names.dns.length, 2)
    assert.equal(decoded.names.others, 1)
  })

test('the console rejects bytes that are not a certificate request', () => {
  const asPem = (bytes: Buffer) =>
    btoa(`-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`)
  for (const encoded of [
    btoa('no request'),
    asPem(Buffer.from('3003020100', 'hex')),
    asPem(Buffer.alloc(200_000, 0x30)),
  ])
    assert.throws(() => decodeRequest(encoded), Error)
})
