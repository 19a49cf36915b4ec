/**
 * Tests the subjects of client certificates, both ordinary and crafted: the server reads the ASN.1 of the subject,
 * and rejects malformed subjects.
 */
import assert from 'node:assert/strict'
import { sign, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { MalformedDer, maxDerBytes } from '../../../src/api/pki/der.ts'
import { readSubject } from '../../../src/api/pki/identity.ts'
import { generateKey, publicKeyOf } from '../../../src/api/pki/keys.ts'
import { attribute, der, oid, rdn, utf8 } from './encode.ts'
import { makeAuthority, template } from './issue.ts'
import { openssl, temporaryDirectory } from './openssl.ts'

const key = generateKey()

/** Returns a certificate with this subject. The certificate has a signature, so that OpenSSL can read it too. */
function certificate(...subject: Buffer[]): Buffer {
  const algorithm = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
  const validity = der(0x30, ...['260101000000Z', '360101000000Z'].map((time) => der(0x17, Buffer.from(time))))
  const tbs = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    der(0x30, rdn(utf8(oid.cn, 'issuer'))),
    validity,
    der(0x30, ...subject),
    publicKeyOf(key).export({ type: 'spki', format: 'der' }),
  )
  return der(0x30, tbs, algorithm, der(0x03, Buffer.from([0]), sign('sha256', tbs, key)))
}

const utf16 = (text: string) => Buffer.from(text, 'utf16le').swap16()
const utf32 = (text: string) =>
  Buffer.concat([...text].map((c) => Buffer.from(c.codePointAt(0)!.toString(16).padStart(8, '0'), 'hex')))

const subjects: [string, Buffer[], string | readonly string[], string[]][] = [
  ['an empty subject', [], [], []],
  ['no common name', [rdn(utf8(oid.o, 'a'))], [], ['a']],
  ['an empty common name before another', [rdn(utf8(oid.cn, '')), rdn(utf8(oid.cn, 'b'))], ['', 'b'], []],
  ['several common names', [rdn(utf8(oid.cn, 'first')), rdn(utf8(oid.cn, 'second'))], ['first', 'second'], []],
  ['a multi-valued name', [rdn(utf8(oid.cn, 'a'), utf8(oid.o, 'x'), utf8(oid.o, 'y'))], 'a', ['x', 'y']],
  ['repeated organizations', [rdn(utf8(oid.o, 'x')), rdn(utf8(oid.o, 'x')), rdn(utf8(oid.cn, 'a'))], 'a', ['x', 'x']],
  ['a NUL', [rdn(utf8(oid.cn, 'admin\0.example')), rdn(utf8(oid.o, '\0'))], 'admin\0.example', ['\0']],
  [
    'text that looks like more names',
    [rdn(utf8(oid.cn, 'a\nCN=admin, O=x/O=y+CN=b'))],
    'a\nCN=admin, O=x/O=y+CN=b',
    [],
  ],
  ['a byte order mark and U+FFFD', [rdn(utf8(oid.cn, '\ufeffa\ufffd'))], '\ufeffa\ufffd', []],
  ['characters beyond the BMP', [rdn(utf8(oid.cn, '\u{1f600}'))], '\u{1f600}', []],
  ['PrintableString', [rdn(attribute(oid.cn, 0x13, 'Some One'))], 'Some One', []],
  ['PrintableString with odd characters', [rdn(attribute(oid.cn, 0x13, 'a*@\0'))], 'a*@\0', []],
  ['IA5String and NumericString', [rdn(attribute(oid.cn, 0x16, 'a'), attribute(oid.o, 0x12, '1'))], 'a', ['1']],
  ['T61String', [rdn(attribute(oid.cn, 0x14, Buffer.from([0x6a, 0xe9])))], 'j\u00e9', []],
  ['BMPString', [rdn(attribute(oid.cn, 0x1e, utf16('j\u00e9\u4e2d\0')))], 'j\u00e9\u4e2d\0', []],
  ['UniversalString', [rdn(attribute(oid.cn, 0x1c, utf32('a\u{1f600}')))], 'a\u{1f600}', []],
  [
    'other attributes, whatever their type',
    [
      rdn(attribute(oid.ou, 0x03, Buffer.from([0x00, 0xff]))),
      rdn(attribute(oid.email, 0x16, 'a@b')),
      rdn(utf8(oid.cn, 'a')),
    ],
    'a',
    [],
  ],
  [
    'long values',
    [rdn(utf8(oid.cn, 'n'.repeat(300))), rdn(utf8(oid.o, 'o'.repeat(130)))],
    'n'.repeat(300),
    ['o'.repeat(130)],
  ],
]

for (const [what, subject, names, organizations] of subjects) {
  test(`the identity in a client certificate is read from ${what}`, () => {
    const bytes = certificate(...subject)
    assert.ok(new X509Certificate(bytes).verify(publicKeyOf(key)), 'the crafted certificate is one')
    assert.deepEqual(readSubject(bytes), { commonNames: [names].flat(), organizations })
  })
}

test('a VisibleString in a certificate name is accepted, although OpenSSL rejects it', () => {
  const bytes = certificate(rdn(attribute(oid.cn, 0x1a, 'a')))
  assert.deepEqual(readSubject(bytes), { commonNames: ['a'], organizations: [] })
})

const malformed: [string, Buffer[]][] = [
  ['UTF8String with bad bytes', [rdn(attribute(oid.cn, 0x0c, Buffer.from([0x61, 0xff])))]],
  ['UTF8String with an overlong form', [rdn(attribute(oid.cn, 0x0c, Buffer.from([0xc0, 0xaf])))]],
  ['UTF8String with a surrogate', [rdn(attribute(oid.o, 0x0c, Buffer.from([0xed, 0xa0, 0x80])))]],
  ['PrintableString with a byte above 127', [rdn(attribute(oid.cn, 0x13, Buffer.from([0xe9])))]],
  ['BMPString of an odd length', [rdn(attribute(oid.cn, 0x1e, Buffer.from([0, 0x61, 0])))]],
  ['BMPString with a surrogate', [rdn(attribute(oid.cn, 0x1e, utf16('\u{1f600}')))]],
  ['UniversalString beyond Unicode', [rdn(attribute(oid.cn, 0x1c, Buffer.from('00110000', 'hex')))]],
  ['a common name that is not a string', [rdn(attribute(oid.cn, 0x04, 'a'))]],
  ['a constructed string', [rdn(attribute(oid.cn, 0x2c, der(0x0c, Buffer.from('a'))))]],
  ['a short length in long form', [Buffer.concat([Buffer.from([0x31, 0x81]), rdn(utf8(oid.cn, 'a')).subarray(1)])]],
  ['an empty RDN', [rdn()]],
  ['an RDN that is not a set', [utf8(oid.cn, 'a')]],
  ['an attribute with three elements', [rdn(der(0x30, der(0x06, Buffer.from(oid.cn, 'hex')), der(0x0c), der(0x0c)))]],
  ['an attribute with one element', [rdn(der(0x30, der(0x06, Buffer.from(oid.cn, 'hex'))))]],
]

for (const [what, subject] of malformed) {
  test(`reading the identity from a certificate fails: ${what}`, () =>
    assert.throws(() => readSubject(certificate(...subject)), MalformedDer))
}

test('input that does not consist of exactly one DER certificate is rejected', () => {
  const good = certificate(rdn(utf8(oid.cn, 'a')))
  const body = good.subarray(4)
  const bad = {
    empty: Buffer.alloc(0),
    'trailing byte': Buffer.concat([good, Buffer.alloc(1)]),
    twice: Buffer.concat([good, good]),
    'indefinite length': Buffer.concat([Buffer.from([0x30, 0x80]), body, Buffer.alloc(2)]),
    'a length that is not in its shortest form': Buffer.concat([
      Buffer.from([0x30, 0x83, 0, good[2]!, good[3]!]),
      body,
    ]),
    'a five-byte length': Buffer.concat([Buffer.from([0x30, 0x85, 0, 0, 0, good[2]!, good[3]!]), body]),
    'a multi-byte tag': Buffer.from([0x3f, 0x81, 0x01, 0x00]),
    'a set': der(0x31, body),
    'too long': certificate(rdn(utf8(oid.cn, 'a'.repeat(maxDerBytes)))),
  }
  for (const [what, bytes] of Object.entries(bad)) assert.throws(() => readSubject(bytes), MalformedDer, what)
})

test('a truncated or modified certificate is rejected without unexpected errors', () => {
  const good = certificate(rdn(utf8(oid.cn, 'a'), utf8(oid.o, 'b')), rdn(attribute(oid.cn, 0x1e, utf16('bmp'))))
  for (let size = 0; size < good.length; size++) {
    assert.throws(() => readSubject(good.subarray(0, size)), MalformedDer)
  }
  for (let at = 0; at < good.length; at++) {
    for (const value of [0x00, 0x1f, 0x30, 0x7f, 0x80, 0x84, 0xff]) {
      const changed = Buffer.from(good)
      changed[at] = value
      assert.doesNotThrow(() => readOrRefuse(changed))
    }
  }
})

function readOrRefuse(bytes: Buffer): void {
  try {
    readSubject(bytes)
  } catch (error) {
    if (!(error instanceof MalformedDer)) throw error
  }
}

test('the identity is read from a certificate created by issueCertificate', async () => {
  const subject = { commonName: 'system:node:a\u00e9\u{1f600}', organizations: ['system:nodes', 'b'] }
  const pem = issueCertificate(template(await makeAuthority(), { subject }))
  const { commonName, organizations } = subject
  assert.deepEqual(readSubject(new X509Certificate(pem).raw), { commonNames: [commonName], organizations })
})

// Each mask makes openssl write the given string type.
for (const [type, mask] of [
  ['PrintableString', '0x2'],
  ['T61String', '0x4'],
  ['BMPString', '0x800'],
  ['UTF8String', '0x2000'],
] as const) {
  test(`the identity is read from an openssl certificate with ${type}, a multi-valued RDN and a URI`, (t) => {
    const config = join(temporaryDirectory(t), 'openssl.cnf')
    const lines = [
      '[req]',
      `string_mask=MASK:${mask}`,
      'prompt=no',
      'distinguished_name=dn',
      'x509_extensions=ext',
      '[dn]',
      '0.O=first group',
      '0.+CN=some one',
      '1.O=second',
      '1.CN=other',
      '[ext]',
      'subjectAltName=URI:spiffe://x/CN=admin,DNS:y',
    ]
    writeFileSync(config, lines.join('\n'))
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${config}.key`]
    const pem = openssl(['req', '-x509', '-utf8', '-config', config, ...newKey])
    assert.match(openssl(['asn1parse'], pem), new RegExp(`${type}\\b`, 'i'))
    assert.deepEqual(readSubject(new X509Certificate(pem).raw), {
      commonNames: ['some one', 'other'],
      organizations: ['first group', 'second'],
    })
  })
}
