/** Tests issued certificates, with openssl as the verifier. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import type { CertificateTemplate } from '../../../src/api/pki/certificate-template.ts'
import { generateKey, keyFromPem, keyToPem, publicKeyOf } from '../../../src/api/pki/keys.ts'
import { readNames } from '../../../src/api/pki/names.ts'
import { day, makeAuthority, now, template } from './issue.ts'
import { openssl, temporaryDirectory } from './openssl.ts'

const ca = await makeAuthority()

function text(pem: string): string {
  return openssl(['x509', '-noout', '-text'], pem)
}

test('openssl accepts an issued chain in strict mode, but only for its purpose and names', async (t) => {
  const directory = temporaryDirectory(t)
  const names = { dns: ['localhost'], ips: ['127.0.0.1', '::1'] }
  const pem = issueCertificate(template(ca, { usages: ['digital signature', 'server auth'], names }))
  const caFile = join(directory, 'ca.pem')
  const file = join(directory, 'leaf.pem')
  writeFileSync(caFile, ca.certificate)
  writeFileSync(file, pem)
  const at = ['verify', '-x509_strict', '-attime', String(now / 1000), '-CAfile', caFile]
  for (const check of ['-verify_hostname=localhost', '-verify_ip=127.0.0.1', '-verify_ip=::1']) {
    assert.match(openssl([...at, '-purpose', 'sslserver', ...check.split('='), file]), /OK/)
  }
  assert.throws(() => openssl([...at, '-purpose', 'sslclient', file]), /purpose/)
  assert.throws(() => openssl([...at, '-verify_hostname', 'other', file]), /mismatch/)
})

test('a CA certificate has the extensions that a CA must have', () => {
  const shown = text(ca.certificate)
  assert.match(shown, /Version: 3/)
  assert.match(shown, /Basic Constraints: critical\s+CA:TRUE, pathlen:0/)
  assert.match(shown, /Key Usage: critical\s+Certificate Sign, CRL Sign\n/)
  assert.doesNotMatch(shown, /Extended Key Usage/)
  const [own, issuer] = ['Subject', 'Authority'].map((of) => new RegExp(`${of} Key Identifier: \\s+(\\S+)`).exec(shown))
  assert.ok(own?.[1])
  assert.equal(own[1], issuer?.[1])
})

test('a client certificate has the extensions for client authentication', async () => {
  const shown = text(issueCertificate(template(ca)))
  assert.match(shown, /Signature Algorithm: ecdsa-with-SHA256/)
  assert.match(shown, /Issuer: CN = test-ca\n/)
  assert.match(shown, /Subject: O = one, O = two, CN = someone\n/)
  assert.match(shown, /Basic Constraints: critical\s+CA:FALSE/)
  assert.match(shown, /X509v3 Key Usage: critical\s+Digital Signature\n/)
  assert.match(shown, /Extended Key Usage: \s+TLS Web Client Authentication\n/)
  const authority = /Subject Key Identifier: \s+(\S+)/.exec(text(ca.certificate))?.[1]
  assert.equal(/Authority Key Identifier: \s+(\S+)/.exec(shown)?.[1], authority)
  assert.doesNotMatch(shown, /Alternative Name/)
})

test('certificate times are UTCTime up to 2049 and GeneralizedTime from 2050', async () => {
  const changes = { notBefore: Date.UTC(2049, 11, 31, 23, 59, 59, 999), notAfter: Date.UTC(2050, 0, 1) }
  const shown = openssl(['asn1parse'], issueCertificate(template(ca, changes)))
  assert.match(shown, /UTCTIME +:491231235959Z/)
  assert.match(shown, /GENERALIZEDTIME +:20500101000000Z/)
})

test('a certificate has the specified serial number, or a positive 128-bit number from the given random source', async () => {
  const serialOf = async (changes: Partial<CertificateTemplate>) =>
    new X509Certificate(issueCertificate(template(ca, changes))).serialNumber
  assert.equal(await serialOf({ random: (size) => Buffer.alloc(size, 0xff) }), '7F'.padEnd(32, 'F'))
  assert.equal(await serialOf({ random: (size) => Buffer.alloc(size) }), '40'.padEnd(32, '0'))
  assert.equal(await serialOf({ serial: Buffer.from('00ff', 'hex') }), 'FF')
  assert.notEqual(await serialOf({}), await serialOf({}))
})

test('subject names survive a round trip and are returned in canonical form', async () => {
  const names = {
    dns: ['B.example', 'a.example', '*.wild.example', 'b.example'],
    ips: ['10.0.0.1', '2001:DB8:0::1', '::FFFF:1.2.3.4', '::', '2001:db8::1'],
  }
  const pem = issueCertificate(template(ca, { names }))
  assert.deepEqual(readNames(new X509Certificate(pem).raw), {
    dns: ['*.wild.example', 'a.example', 'b.example'],
    ips: ['10.0.0.1', '2001:db8::1', '::', '::ffff:102:304'],
  })
  const shown = text(pem)
  assert.match(shown, /DNS:\*\.wild\.example, DNS:a\.example, DNS:b\.example, IP Address:10\.0\.0\.1,/)
  assert.match(shown, /IP Address:2001:DB8:0:0:0:0:0:1, IP Address:0:0:0:0:0:0:0:0, IP Address:0:0:0:0:0:FFFF:102:304/)
})

const badIps = [
  '010.1.2.3',
  '1.2.3',
  '1.2.3.4/8',
  '0x7f.0.0.1',
  '256.1.1.1',
  'fe80::1%eth0',
  ':::1',
  '::1]',
  '1::2::3',
  '::010.1.2.3',
  '1:2:3:4:5:6:7',
  '12345::',
  '1.2.3.4\n',
  '',
]
const badDns = ['', '.', 'a..b', '-a', 'a-', 'a b', 'a\0b', 'é.example', '1.2.3.4', '010.1.2.3', '*', 'a.*.b', 'a.b\n']

for (const ip of badIps) {
  test(`the IP address ${JSON.stringify(ip)} is rejected in a certificate`, async () => {
    assert.throws(() => issueCertificate(template(ca, { names: { dns: [], ips: [ip] } })), /not an IP address/)
  })
}

for (const dns of [...badDns, 'a'.repeat(64), `${'a.'.repeat(127)}a`]) {
  test(`the DNS name ${JSON.stringify(dns.slice(0, 20))} with ${dns.length} characters is rejected in a certificate`, async () => {
    assert.throws(() => issueCertificate(template(ca, { names: { dns: [dns], ips: [] } })), /not a DNS name/)
  })
}

const leaf = issueCertificate(template(ca))
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
const contradictions: [string, Partial<CertificateTemplate>, RegExp][] = [
  ['a CA that may not sign', { authority: true }, /cert sign/],
  ['an end-entity certificate that may sign', { usages: ['cert sign'] }, /cert sign/],
  ['no usages', { usages: [] }, /usages/],
  ['no common name', { subject: { commonName: '', organizations: [] } }, /common name/],
  ['half a surrogate pair', { subject: { commonName: 'a', organizations: ['\ud800'] } }, /not Unicode/],
  ['an end date before the start date', { notBefore: now, notAfter: now - day }, /valid/],
  ['an invalid time', { notBefore: Number.NaN }, /valid/],
  ['a year before 1950', { notBefore: Date.UTC(1949, 0) }, /valid/],
  ['a five-digit year', { notAfter: Date.UTC(10000, 0) }, /valid/],
  ['a serial number of zero', { serial: Buffer.alloc(1) }, /serial/],
  ['a negative serial', { serial: Buffer.from([0x80]) }, /serial/],
  ['a serial number with a redundant zero byte', { serial: Buffer.from([0, 1]) }, /serial/],
  ['a 21-byte serial number', { serial: Buffer.alloc(21, 1) }, /serial/],
  ['an issuer that is not a CA', { issuer: { certificate: leaf, key: ca.key } }, /not a certificate authority/],
  ['an issuer with another key', { issuer: { certificate: ca.certificate, key: generateKey() } }, /issuer's key/],
  ['an issuer with a key of another type', { issuer: { certificate: ca.certificate, key: rsa } }, /issuer's key/],
  ['a self-signed certificate with another key', { issuer: { certificate: 'self', key: ca.key } }, /with its own key/],
  ['too many names', { names: { dns: Array(257).fill('a'), ips: [] } }, /more than 256/],
]

for (const [what, changes, message] of contradictions) {
  test(`an invalid certificate template is rejected: ${what}`, () =>
    assert.throws(() => issueCertificate(template(ca, changes)), message))
}

test('a private key survives a PKCS#8 PEM round trip, and other kinds of keys are rejected', () => {
  const key = generateKey()
  const pem = keyToPem(key)
  assert.match(pem, /^-----BEGIN PRIVATE KEY-----\n/)
  assert.ok(keyFromPem(pem).equals(key))
  assert.match(openssl(['pkey', '-noout', '-text'], pem), /NIST CURVE: P-256/)
  assert.equal(openssl(['pkey', '-pubout'], pem), publicKeyOf(key).export({ type: 'spki', format: 'pem' }))
  assert.throws(() => keyFromPem(keyToPem(rsa)), /P-256/)
})
