/**
 * Tests untrusted certificate requests. Requests created by common tools are accepted, and crafted requests are
 * rejected.
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readCertificateRequest } from '../../../src/api/pki/certificate-request.ts'
import { maxDerBytes } from '../../../src/api/pki/der.ts'
import { generateKey, keyToPem, publicKeyOf } from '../../../src/api/pki/keys.ts'
import { MalformedInput } from '../../../src/api/pki/malformed-input.ts'
import { type RandomSource, seeded } from '../../storage/store/random-source.ts'
import {
  bits,
  der,
  hex,
  identifier,
  integer,
  noAttributes,
  oid,
  pem,
  type RequestParts,
  rdn,
  requestDer,
  requestPem,
  sequence,
  utf8,
} from './encode.ts'
import { openssl, temporaryDirectory } from './openssl.ts'

const key = generateKey()
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const none = der(0x05)
/** Options that use the RSA key above, because generating a new key for each request would take half a second. */
const ownKey = ['-key', 'KEYFILE']
/** Creates a request with the openssl program. */
function made(t: TestContext, options: readonly string[]): string {
  const file = join(temporaryDirectory(t), 'key')
  writeFileSync(file, keyToPem(rsa))
  const chosen = options.map((option) => (option === 'KEYFILE' ? file : option))
  return openssl(['req', '-new', '-nodes', ...(options.includes('-newkey') ? ['-keyout', file] : []), ...chosen])
}

const read = (text: string | Buffer) => readCertificateRequest(Buffer.from(text as string))

const tools: [string, string[]][] = [
  ['RSA', [...ownKey]],
  ['RSA with SHA-1', [...ownKey, '-sha1']],
  ['RSA with SHA-512', [...ownKey, '-sha512']],
  ['RSA-PSS', [...ownKey, '-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:digest']],
  ['P-224', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-224']],
  ['P-256 with SHA-1', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-sha1']],
  ['P-384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-sha384']],
  ['P-521', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521', '-sha512']],
  ['Ed25519', ['-newkey', 'ed25519']],
]

for (const [name, options] of tools) {
  test(`a certificate request created by openssl is parsed: ${name}`, (t) => {
    const subject = ['-subj', '/O=dev/O=ops/CN=jane', '-addext', 'subjectAltName=DNS:a.example,IP:10.0.0.1']
    const request = read(made(t, [...options, ...subject]))
    assert.deepEqual(request.subject, { commonNames: ['jane'], organizations: ['dev', 'ops'] })
    assert.deepEqual(
      request.extensions.map(({ id, critical }) => [id, critical]),
      [['551d11', false]],
    )
  })
}

const refusedTools: [string, string[]][] = [
  [
    'a curve with custom parameters',
    ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'],
  ],
  ['an unusual curve', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1']],
  ['MD5', [...ownKey, '-md5']],
  ['a salt of unusual size', [...ownKey, '-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:7']],
  ['Ed448', ['-newkey', 'ed448']],
]

for (const [name, options] of refusedTools) {
  test(`a certificate request created by openssl is rejected: ${name}`, (t) => {
    const text = made(t, [...options, '-subj', '/CN=jane'])
    assert.throws(() => read(text), MalformedInput)
  })
}

test('the parsed public key is the key of the certificate request', () => {
  assert.ok(read(requestPem({ key })).publicKey.equals(publicKeyOf(key)))
})

/** Returns a request attribute that requests these extensions. */
function asking(...extensions: Buffer[]): RequestParts {
  return { key, rest: [der(0xa0, sequence(identifier('2a864886f70d01090e'), der(0x31, sequence(...extensions))))] }
}
const extension = (id: string, value: Buffer, ...critical: Buffer[]) =>
  sequence(identifier(id), ...critical, der(0x04, value))

test('extensions in a certificate request are returned unchanged, whether critical or not', () => {
  const value = sequence(der(0x01, Buffer.from([0xff])))
  const parts = asking(extension('551d13', value, der(0x01, Buffer.from([0xff]))), extension('551d0f', value))
  assert.deepEqual(read(requestPem(parts)).extensions, [
    { id: '551d13', critical: true, value },
    { id: '551d0f', critical: false, value },
  ])
})

const rsaInfo = (modulus: Buffer, exponent: Buffer, parameters = [none]) =>
  sequence(
    sequence(identifier('2a864886f70d010101'), ...parameters),
    bits(sequence(integer(modulus), integer(exponent))),
  )
const ecInfo = (curve: string, point: Buffer) =>
  sequence(sequence(identifier('2a8648ce3d0201'), identifier(curve)), bits(point))
const p256 = '2a8648ce3d030107'
const point = publicKeyOf(key).export({ type: 'spki', format: 'der' }).subarray(-65)
const three = hex('010001')
const compressed = Buffer.concat([Buffer.from([2 + (point[64]! & 1)]), point.subarray(1, 33)])

const crafted: [string, Buffer | RequestParts][] = [
  ['nothing', Buffer.alloc(0)],
  ['bytes after the end', Buffer.concat([requestDer(), none])],
  ['no attributes', { rest: [] }],
  ['an element after the attributes', { rest: [noAttributes, none] }],
  ['a subject that is a string', { subject: [der(0x0c)] }],
  ['an RSA modulus of a megabit', { publicKey: rsaInfo(Buffer.alloc(maxDerBytes - 1000, 0x7f), three) }],
  ['an RSA modulus of more than the limit', { publicKey: rsaInfo(Buffer.alloc(2049, 0x7f), three) }],
  ['a negative RSA modulus', { publicKey: rsaInfo(Buffer.alloc(256, 0xff), three) }],
  ['an RSA modulus of zero', { publicKey: rsaInfo(Buffer.from([0]), three) }],
  ['an empty RSA modulus', { publicKey: rsaInfo(Buffer.alloc(0), three) }],
  ['a huge RSA exponent', { publicKey: rsaInfo(Buffer.alloc(256, 0x7f), Buffer.alloc(256, 0x7f)) }],
  ['an RSA key without parameters', { publicKey: rsaInfo(Buffer.alloc(256, 0x7f), three, []) }],
  ['a point off the curve', { publicKey: ecInfo(p256, Buffer.from([4, ...Buffer.alloc(64, 1)])) }],
  ['the point at infinity', { publicKey: ecInfo(p256, Buffer.from([0])) }],
  ['a compressed point', { key, publicKey: ecInfo(p256, compressed) }],
  ['a point on another curve', { publicKey: ecInfo('2b81040022', point) }],
  [
    "a different key than the signer's",
    { publicKey: publicKeyOf(generateKey()).export({ type: 'spki', format: 'der' }) },
  ],
  ['a signature algorithm for other keys', { key: rsa }],
  ['an unknown signature algorithm', { algorithm: sequence(identifier('2a03')) }],
  [
    'an RSA key with an RSA-PSS signature without parameters',
    { key: rsa, algorithm: sequence(identifier('2a864886f70d01010a')) },
  ],
  ['an extension without value', asking(sequence(identifier('551d13')))],
  ['an address of five bytes', asking(extension('551d11', sequence(der(0x87, Buffer.alloc(5)))))],
  ['a DNS name beyond ASCII', asking(extension('551d11', sequence(der(0x82, Buffer.from('\u00fc')))))],
  ['a truncated alternative name', asking(extension('551d11', hex('300582')))],
]

for (const [name, input] of crafted) {
  test(`a certificate request is rejected: ${name}`, () => {
    const bytes = Buffer.isBuffer(input) ? input : requestDer(input)
    assert.throws(() => read(pem('CERTIFICATE REQUEST', bytes)), MalformedInput)
  })
}

const labels: [string, string, boolean][] = [
  ['text around', `Subject: jane\n${requestPem()}the end\n`, true],
  ['header lines', requestPem().replace('-----\n', '-----\nX-Note: hello\n\n'), true],
  ['a second request', requestPem() + requestPem(), true],
  ['another label', pem('NEW CERTIFICATE REQUEST', requestDer()), false],
  ['another block first', pem('CERTIFICATE', requestDer()) + requestPem(), false],
  ['no PEM', requestDer().toString('base64'), false],
]

for (const [name, text, accepted] of labels) {
  test(`a certificate request is ${accepted ? 'accepted' : 'rejected'}: ${name}`, () => {
    if (accepted) assert.equal(read(text).subject.commonNames[0], 'jane')
    else assert.throws(() => read(text), MalformedInput)
  })
}

/**
 * Returns a mutated copy of a valid request: one to three bytes are changed, and some copies are also truncated or
 * contain a part of the request twice.
 */
function mutated(good: Buffer, random: RandomSource): Buffer {
  const bytes = Buffer.from(good)
  for (let i = random.below(3); i >= 0; i--) bytes[random.below(bytes.length)] = random.below(256)
  if (random.chance(0.1)) return bytes.subarray(0, random.below(bytes.length))
  return random.chance(0.1) ? Buffer.concat([bytes, bytes.subarray(random.below(bytes.length))]) : bytes
}

const mutable: [string, Buffer][] = [
  ['ECDSA', requestDer({ key, subject: [rdn(utf8(oid.o, 'dev'), utf8(oid.cn, 'jane'))] })],
  ['RSA', requestDer({ key: rsa, algorithm: sequence(identifier('2a864886f70d01010b'), none) })],
]

for (const [name, request] of mutable) {
  test(`mutated certificate requests are rejected without unexpected errors: ${name}`, () => {
    const random = seeded(7)
    assert.equal(read(pem('CERTIFICATE REQUEST', request)).subject.commonNames[0], 'jane')
    for (let i = 0; i < 3000; i++) {
      const bytes = mutated(request, random)
      if (bytes.equals(request)) continue
      assert.throws(() => read(pem('CERTIFICATE REQUEST', bytes)), MalformedInput, bytes.toString('hex'))
    }
  })
}
