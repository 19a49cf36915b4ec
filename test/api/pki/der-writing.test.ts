/**
 * Tests that the strict DER reader accepts the output of the DER writer. `certificate.test.ts` verifies certificates
 * with openssl.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import { readWhole, tags } from '../../../src/api/pki/der.ts'
import { element, namedBits, time } from '../../../src/api/pki/encode-der.ts'
import { readNames } from '../../../src/api/pki/names.ts'
import { makeAuthority, template } from './issue.ts'

test('DER lengths are written in their shortest form', () => {
  for (const size of [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000]) {
    const written = element(tags.octetString, Buffer.alloc(size, 7))
    assert.equal(readWhole(written, tags.octetString).content.length, size)
  }
})

test('a DER bit string that encodes flags ends with the last set bit', () => {
  for (const [bits, hex] of [
    [[0], '03020780'],
    [[5, 6], '03020106'],
    [[0, 5, 6], '03020186'],
    [[7], '03020001'],
    [[0, 8], '0303078080'],
  ] as const)
    assert.equal(namedBits(bits).toString('hex'), hex)
})

test('DER times have a two-digit year up to 2049', () => {
  const second = 1000
  const border = Date.UTC(2050, 0)
  assert.equal(time(border - second).toString('latin1'), '\x17\x0d491231235959Z')
  assert.equal(time(border + 999).toString('latin1'), '\x18\x0f20500101000000Z')
})

test('IP addresses survive a round trip through DER', async () => {
  const ips = ['127.0.0.1', '::', '::1', '1::', 'fe80::1:0:2', '1:2:3:4:5:6:7:8', '::ffff:7f00:1', '2001:db8:0:1::']
  const issued = issueCertificate(template(await makeAuthority(), { names: { dns: ['a.example'], ips } }))
  assert.deepEqual(readNames(new X509Certificate(issued).raw), { dns: ['a.example'], ips: ips.toSorted() })
})
