/**
 * Tests that each IPv6 address has one canonical spelling, which is the spelling of the URL parser, and that address
 * ranges are parsed.
 */
import assert from 'node:assert/strict'
import { isIPv6 } from 'node:net'
import { test } from 'node:test'
import { formatIp, parseIp, parseRange } from '../../../src/api/model/ip-range.ts'
import { seeded } from '../../storage/store/random-source.ts'

test('the parser accepts the same IPv6 notations as the URL parser', () => {
  const random = seeded(1)
  const group = () => (random.chance(0.5) ? '0' : random.below(65_536).toString(16))
  const groups = (count: number) => Array.from({ length: count }, group).join(':')
  for (let i = 0; i < 5_000; i++) {
    const before = random.below(7)
    const text = random.pick([
      groups(8),
      `${groups(before)}::${groups(random.below(8 - before))}`,
      `${groups(6)}:${random.below(256)}.0.2.${random.below(256)}`,
      groups(8).toUpperCase(),
    ])
    const read = parseIp(text)!
    assert.equal(read.family, 'IPv6', text)
    assert.equal(formatIp(read), new URL(`http://[${text}]`).hostname.slice(1, -1), text)
  }
})

test('IP addresses and ranges survive a round trip through parser and formatter', () => {
  const ranges = [
    ['10.0.0.7/24', '10.0.0.0/24'],
    ['010.000.0.255/32', '10.0.0.255/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['::ffff:10.1.2.3/24', '10.1.2.0/24'],
    ['2001:DB8::1:0:0:1/127', '2001:db8:0:0:1::/127'],
    ['fd00::/129', undefined],
    ['10.0.0.0/33', undefined],
    ['10.0.0.0/08', '10.0.0.0/8'],
    ['fe80::1%eth0/64', undefined],
    ['10.0.0/8', undefined],
    ['', undefined],
  ] as const
  for (const [text, read] of ranges) assert.equal(parseRange(text)?.text, read, text)
  for (const text of ['', '1.2.3', '1.2.3.256', ':::', '1::2::3', '12345::', 'fe80::1%eth0', '::1.2.3.4.5'])
    assert.equal(parseIp(text), undefined, text)
})

test('the server accepts the same IPv6 addresses as Node', () => {
  const random = seeded(2)
  const parts = ['0', '1', 'ffff', 'ABCD', '12345', 'g', ':', '::', '1.2.3.4', '1.2.3.04', '256.0.0.1', '.', '%1', ']']
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: 1 + random.below(9) }, () => random.pick(parts)).join(random.pick(['', ':']))
    if (text.includes(':') && text.length <= 45 && !text.includes('%'))
      assert.equal(parseIp(text) !== undefined, isIPv6(text), text)
  }
})
