/**
 * Tests the certificates that are issued for requests, with openssl as the verifier: the copied fields, the fields that
 * are never copied, and the lifetimes.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { keyUsages } from '../../../src/api/kinds/certificates/key-usages.ts'
import { readCertificateRequest } from '../../../src/api/pki/certificate-request.ts'
import { generateKey, keyToPem } from '../../../src/api/pki/keys.ts'
import { makeRequest } from '../../../src/api/pki/make-request.ts'
import { signRequest } from '../../../src/api/pki/sign-request.ts'
import { openssl, temporaryDirectory } from './openssl.ts'

const minute = 60_000
const hour = 60 * minute
const now = Date.UTC(2026, 5, 1, 12)

/** Uses openssl to create a CA with this type of key. */
function authority(
  directory: string,
  newKey: readonly string[],
  days = '3650',
): { certificate: string; key: KeyObject } {
  const key = join(directory, 'ca.key')
  const algorithm = ['-newkey', ...newKey, '-nodes', '-keyout', key]
  const certificate = openssl([
    ...['req', '-x509', ...algorithm, '-config', '/dev/null', '-subj', '/CN=ca', '-days', days],
    ...['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'],
  ])
  writeFileSync(join(directory, 'ca.crt'), certificate)
  return { certificate, key: createPrivateKey(openssl(['pkey', '-in', key])) }
}

const own = generateKey()
const subject = { commonName: 'jane', organizations: ['dev', 'ops'] }
const read = (pem: string) => readCertificateRequest(Buffer.from(pem))
const plain = read(makeRequest(subject, own, { dns: ['a.example'], ips: ['10.0.0.1'] }))

for (const [name, newKey] of [
  ['RSA', ['rsa:2048']],
  ['P-256', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
  ['P-384', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384']],
  ['P-521', ['ec', '-pkeyopt', 'ec_paramgen_curve:P-521']],
  ['Ed25519', ['ed25519']],
] as const)
  test(`openssl accepts certificates issued by a CA with a ${name} key`, (t) => {
    const directory = temporaryDirectory(t)
    const issuer = authority(directory, newKey)
    const usages = ['digital signature', 'client auth']
    const pem = signRequest({ request: plain, usages, issuer, lifeMs: hour, now: Date.now() })
    writeFileSync(join(directory, 'leaf.crt'), pem)
    const verified = openssl([
      ...['verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', join(directory, 'ca.crt')],
      join(directory, 'leaf.crt'),
    ])
    assert.match(verified, /OK/)
    const told = openssl(['x509', '-noout', '-text', '-in', join(directory, 'leaf.crt')])
    assert.match(told, /Subject: O ?= ?dev, O ?= ?ops, CN ?= ?jane/)
    assert.match(told, /DNS:a.example, IP Address:10.0.0.1/)
    assert.match(told, /CA:FALSE/)
  })

test('an issued certificate is valid from five minutes before issuance until the requested time, but not longer than the CA', (t) => {
  const directory = temporaryDirectory(t)
  const { certificate, key } = authority(directory, ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], '10')
  const issuer = { certificate, key }
  const start = Date.now() - (Date.now() % 1000)
  const end = new X509Certificate(certificate).validToDate.getTime()
  const life = (lifeMs: number, at = start) => {
    const issued = new X509Certificate(signRequest({ request: plain, usages: ['any'], issuer, lifeMs, now: at }))
    return [issued.validFromDate.getTime() - at, issued.validToDate.getTime() - at]
  }
  assert.deepEqual(life(hour), [-5 * minute, hour])
  assert.deepEqual(life(8 * hour - 1000), [-5 * minute, 8 * hour - 1000])
  assert.deepEqual(life(8 * hour), [-5 * minute, 8 * hour - 5 * minute])
  assert.deepEqual(life(365 * 24 * hour), [-5 * minute, end - start])
  assert.throws(() => life(hour, end), /the CA expired at/)
})

test('an issued certificate contains only the subject, names, key and usages from the request', (t) => {
  const directory = temporaryDirectory(t)
  const issuer = authority(directory, ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'])
  const config = join(directory, 'request.cnf')
  writeFileSync(
    config,
    `[req]\ndistinguished_name=dn\nreq_extensions=e\nprompt=no\n[dn]\nCN=jane\nOU=unit\n[e]\nbasicConstraints=critical,CA:TRUE,pathlen:3
keyUsage=critical,keyCertSign,cRLSign\nextendedKeyUsage=codeSigning\n1.2.3.4=DER:0500
subjectAltName=email:a@b.example,URI:https://x.example/,DNS:d.example,dirName:dir\n[dir]\nCN=other\n`,
  )
  const file = join(directory, 'key')
  writeFileSync(file, keyToPem(own))
  const pem = openssl(['req', '-new', '-key', file, '-config', config])
  const issued = signRequest({ request: read(pem), usages: ['client auth'], issuer, lifeMs: hour, now: Date.now() })
  const told = openssl(['x509', '-noout', '-text'], issued)
  assert.match(told, /OU ?= ?unit/)
  assert.match(told, /email:a@b.example, URI:https:\/\/x.example\/, DNS:d.example$/m)
  assert.match(told, /CA:FALSE/)
  assert.match(told, /TLS Web Client Authentication$/m)
  for (const none of ['CA:TRUE', 'Certificate Sign', 'Code Signing', '1.2.3.4', 'CN=other', 'Key Usage: critical'])
    assert.ok(!told.includes(none), none)
})

test('an empty subject makes the subject alternative names of a certificate critical', (t) => {
  const issuer = authority(temporaryDirectory(t), ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'])
  const made = read(makeRequest(subject, own, { dns: ['a.example'], ips: [] }))
  const empty = { ...made, subjectName: Buffer.from('3000', 'hex') }
  const issued = signRequest({ request: empty, usages: ['client auth'], issuer, lifeMs: hour, now: Date.now() })
  assert.match(openssl(['x509', '-noout', '-text'], issued), /Subject Alternative Name: critical/)
})

test('every usage that a request can name appears in the certificate', (t) => {
  const issuer = authority(temporaryDirectory(t), ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'])
  const issued = signRequest({ request: plain, usages: keyUsages, issuer, lifeMs: hour, now: Date.now() })
  const told = openssl(['x509', '-noout', '-text'], issued)
  for (const word of ['Digital Signature', 'Non Repudiation', 'Key Encipherment', 'Data Encipherment', 'Key Agreement'])
    assert.ok(told.includes(word), word)
  for (const word of ['Certificate Sign', 'CRL Sign', 'Encipher Only', 'Decipher Only', 'Any Extended Key Usage'])
    assert.ok(told.includes(word), word)
  for (const word of ['Code Signing', 'E-mail Protection', 'IPSec End System', 'IPSec Tunnel', 'IPSec User'])
    assert.ok(told.toLowerCase().includes(word.toLowerCase()), word)
  for (const word of ['Time Stamping', 'OCSP Signing', 'Microsoft Server Gated Crypto', 'Netscape Server Gated Crypto'])
    assert.ok(told.includes(word), word)
  assert.match(told, /CA:FALSE/)
  const again = () => signRequest({ request: plain, usages: ['toString'], issuer, lifeMs: hour, now })
  assert.throws(again, /unknown usage "toString"/)
})

test('openssl can parse the certificate requests that the server creates', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  for (const key of [own, rsa])
    assert.match(openssl(['req', '-verify', '-noout', '-subject'], makeRequest(subject, key)), /jane/)
})
