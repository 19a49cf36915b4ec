/** Tests certificate chains from signers: which chains are accepted, and the reasons why others are rejected. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { checkCertificateChain } from '../../../src/api/pki/issued-certificates.ts'
import { MalformedInput } from '../../../src/api/pki/malformed-input.ts'
import { seeded } from '../../storage/store/random-source.ts'
import { pem, requestDer, requestPem } from './encode.ts'
import { makeAuthority, template } from './issue.ts'

const authority = await makeAuthority()
const leaf = issueCertificate(template(authority))
const bytes = new X509Certificate(leaf).raw
const authorityBytes = new X509Certificate(authority.certificate).raw
const check = (text: string) => checkCertificateChain(Buffer.from(text))

/** A certificate with different algorithms in its signed and unsigned parts. */
const twoAlgorithms = Buffer.from(bytes)
twoAlgorithms[bytes.indexOf('2a8648ce3d040302', 'hex') + 7] = 3

const taken: [string, string][] = [
  ['one certificate', leaf],
  ['a chain', leaf + authority.certificate],
  ['text before, between and after the certificates', `for jane\n${leaf}by\n${authority.certificate}# end\n`],
  ['two certificates in one block', pem('CERTIFICATE', Buffer.concat([bytes, authorityBytes]))],
  ['a hundred', leaf.repeat(100)],
]

const refused: [string, string, RegExp][] = [
  ['nothing', '', /at least one/],
  ['text', 'hello', /at least one/],
  ['a block without an end line', leaf.slice(0, -5), /at least one/],
  ['another label', pem('PUBLIC KEY', bytes), /PUBLIC KEY/],
  ['a label other than CERTIFICATE', pem('TRUSTED CERTIFICATE', bytes), /TRUSTED/],
  ['another label after a good block', leaf + requestPem(), /CERTIFICATE REQUEST/],
  ['header lines', leaf.replace('-----\n', '-----\nProc-Type: 4,NONE\n\n'), /headers/],
  ['an empty block', pem('CERTIFICATE', Buffer.alloc(0)), /no certificate/],
  ['no certificate inside', pem('CERTIFICATE', Buffer.from('hello')), /.*/],
  ['a request inside', pem('CERTIFICATE', requestDer()), /.*/],
  ['a bad block after a good one', leaf + pem('CERTIFICATE', Buffer.from('hello')), /.*/],
  ['bytes after the certificate', pem('CERTIFICATE', Buffer.concat([bytes, Buffer.from([5, 0])])), /.*/],
  ['two signature algorithms', pem('CERTIFICATE', twoAlgorithms), /two signature algorithms/],
  ['more than a hundred certificates', leaf.repeat(101), /more than 100/],
  ['a block above the size limit', pem('CERTIFICATE', Buffer.alloc(200 * 1024, 0x30)), /bytes/],
]

for (const [name, text] of taken) test(`accepted: ${name}`, () => check(text))
for (const [name, text, why] of refused) {
  test(`a certificate chain is rejected: ${name}`, () => {
    const isExpected = (error: unknown) => error instanceof MalformedInput && why.test(error.message)
    assert.throws(() => check(text), isExpected)
  })
}

test('mutated certificates are accepted or rejected without unexpected errors', () => {
  const random = seeded(11)
  let taken = 0
  for (let i = 0; i < 3000; i++) {
    const changed = Buffer.from(bytes)
    for (let count = random.below(3); count >= 0; count--) changed[random.below(bytes.length)] = random.below(256)
    try {
      check(pem('CERTIFICATE', changed))
      taken++
    } catch (error) {
      if (!(error instanceof MalformedInput)) throw error
    }
  }
  // After a change to the signature or a name, the bytes are still a certificate. After a change to a length or a tag,
  // they are not.
  assert.ok(taken > 0 && taken < 3000)
})
