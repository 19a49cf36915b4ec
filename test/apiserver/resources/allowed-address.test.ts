/**
 * Tests which addresses of nodes and pods the server may connect to. These tests call the check directly and send no
 * requests.
 */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { AddressPolicy } from '../../../src/apiserver/resources/allowed-address.ts'
import { parseFlags } from '../../../src/base/flags/flags.ts'
import { serverFlags } from '../../../src/server/flags/options.ts'

const own = { host: '10.1.2.3', port: 6443 }

function policy(cidrs = ''): AddressPolicy {
  const { allowedProxyCidrs: allowed } = parseFlags(serverFlags, [`--allowed-proxy-cidrs=${cidrs}`])
  return new AddressPolicy({ allowed, ownAddress: () => own, advertised: '198.51.100.7' })
}

const standard = policy()
const refusedBy = (rules: AddressPolicy, addresses: readonly string[]) => {
  for (const address of addresses) assert.equal(rules.isAllowed(address, 10250), false, address)
}
const allowedBy = (rules: AddressPolicy, addresses: readonly string[]) => {
  for (const address of addresses) assert.equal(rules.isAllowed(address, 10250), true, address)
}

test('the server connects to proxy targets on other machines', () => {
  allowedBy(standard, ['10.9.8.7', '192.0.2.1', '100.100.100.201', '172.16.0.1', '2001:db8::1', 'fd12::1', '2a00::5'])
})

test('invalid proxy targets are rejected', () => {
  refusedBy(standard, ['', 'localhost', '10.0.0', '010.0.0.1', '0x7f.0.0.1', 'fe80::1%eth0', '2001:db8::1%1', '[::1]'])
})

test('proxy targets with loopback, link-local, multicast or reserved addresses are rejected in every notation', () => {
  refusedBy(standard, ['127.0.0.1', '127.9.9.9', '0.0.0.0', '0.1.2.3', '169.254.169.254', '169.254.0.23'])
  refusedBy(standard, ['224.0.0.1', '240.0.0.1', '255.255.255.255'])
  refusedBy(standard, ['::', '::1', '0:0:0:0:0:0:0:1', '0::0001', 'fe80::1', 'FEBF::1', 'ff02::1'])
})

test('proxy targets with addresses of cloud metadata services are rejected', () => {
  refusedBy(standard, ['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'FD00:0EC2:0::fe'])
  refusedBy(standard, ['fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42'])
  refusedBy(standard, ['fd00:c1::a9fe:a9fe', 'fd00:a9fe:a9fe::1', 'fd00:100::100:200', 'fec0::1'])
})

/** Returns IPv6 addresses that embed an IPv4 address, some in several spellings. */
const embeddings = (a: string, b: string) => [
  ...[`::ffff:${a}:${b}`, `0:0:0:0:0:FFFF:${a}:${b}`, `::ffff:0:${a}:${b}`, `::${a}:${b}`],
  ...[
    `64:ff9b::${a}:${b}`,
    `0064:FF9B:0::${a}:${b}`,
    `64:ff9b:1::${a}:${b}`,
    `64:ff9b:1:${a}:${b.padStart(4, '0').slice(0, 2)}::`,
  ],
  ...[`2002:${a}:${b}::`, `2002:${a}:${b}::1`, `2001:0:${a}:${b}::`, `2001::${a}:${b}`],
  ...[`2a00:1:2:3:0:5efe:${a}:${b}`, `2a00:1:2:3:200:5efe:${a}:${b}`],
]

test('proxy targets with IPv6 addresses that embed a rejected IPv4 address are rejected', () => {
  refusedBy(standard, [...embeddings('7f00', '1'), ...embeddings('a9fe', 'a9fe'), ...embeddings('a09', '807')])
  refusedBy(standard, ['::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::169.254.169.254', '::FFFF:0A00:0001'])
})

test('proxy targets with an address of this machine are rejected on every port', () => {
  const local = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const addresses = ['10.1.2.3', '198.51.100.7', ...local.map(({ address }) => address)]
  for (const port of [6443, 10250, 80, 2379])
    for (const address of addresses) assert.equal(standard.isAllowed(address, port), false, address)
})

test("a flag can allow ranges of proxy targets, but never the server's own port or a rejected embedded address", () => {
  const loose = policy('127.0.0.0/8, 10.1.2.3/32,169.254.0.0/16,64:ff9b::/96,2002::/16,::1/128')
  allowedBy(loose, ['127.0.0.1', '10.1.2.3', '169.254.1.1', '::1', '64:ff9b::a09:807', '2002:a09:807::1'])
  refusedBy(loose, ['100.100.100.200', '::ffff:127.0.0.1', '64:ff9b::c000:c0', '2002:6464:64c8::1', '::2', '0.0.0.0'])
  for (const address of ['127.0.0.1', '127.3.2.1', '10.1.2.3', '::1', '64:ff9b::a01:203'])
    assert.equal(loose.isAllowed(address, own.port), false, address)
  assert.throws(() => policy('10.0.0.1'), /is not a CIDR range: use a range such as 10.0.0.5\/32/)
  assert.throws(() => policy('010.0.0.0/8'), /is not a CIDR range/)
  assert.throws(() => policy('::ffff:0:0/96'), /is not a CIDR range/)
})

test('a proxy target is allowed only if all addresses of its host name are allowed, and numeric names count as addresses', async () => {
  for (const host of ['localhost', '127.1', '2130706433', '0x7f.1', '0177.0.0.1'])
    await assert.rejects(standard.resolve(host, 10250), /address not allowed|no such host/, host)
  assert.equal(await standard.resolve('192.0.2.1', 10250), '192.0.2.1')
  assert.match(await policy('127.0.0.0/8,::1/128').resolve('localhost', 10250), /^(127\.0\.0\.1|::1)$/)
})
