/** Tests the Service ranges in flags, and the pools that are created from these ranges. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EmulatedVersion } from '../../src/api/versions/emulated-version.ts'
import { defaultGatesOf, type Gates } from '../../src/api/versions/feature-gates.ts'
import { allocatorOf, type Pool } from '../../src/apiserver/registry/reservations/pools.ts'
import { ownAddress, readClusterRanges, readPortRange, servicePools } from '../../src/server/flags/service-pools.ts'

function poolsOf(ranges: string, ports = '30000-32767', gates: Gates = new Set()): { pools: Pool[]; own: string } {
  const options = { serviceClusterIpRange: readClusterRanges(ranges), serviceNodePortRange: readPortRange(ports) }
  return { pools: servicePools(options, gates), own: ownAddress(options) }
}

test('addresses from a Service CIDR exclude the network and broadcast addresses', () => {
  const rows: readonly (readonly [range: string, own: string, last: string, size: number, outside: string])[] = [
    ['10.0.0.0/24', '10.0.0.1', '10.0.0.254', 254, '10.0.0.255'],
    ['10.0.0.77/24', '10.0.0.1', '10.0.0.254', 254, '10.0.0.0'],
    ['10.5.0.8/29', '10.5.0.9', '10.5.0.14', 6, '10.5.0.15'],
    ['10.96.0.0/12', '10.96.0.1', '10.111.255.254', 1_048_574, '10.112.0.0'],
    ['fd00::/112', 'fd00::1', 'fd00::ffff', 65_535, 'fd00::1:0'],
    ['fd00::/108', 'fd00::1', 'fd00::ffff', 65_535, 'fd00::1:0'],
    ['FD00:0::8/125', 'fd00::9', 'fd00::f', 7, 'fd00::8'],
  ]
  for (const [range, own, last, size, outside] of rows) {
    const { pools, own: found } = poolsOf(range)
    const [pool] = pools
    assert.deepEqual([found, pool!.at(0), pool!.at(pool!.size - 1), pool!.size], [own, own, last, size], range)
    assert.ok(pool!.contains(own) && pool!.contains(last) && !pool!.contains(outside), range)
    assert.equal(pool!.reserved, 1)
  }
})

test('the first of two Service CIDRs is the primary CIDR', () => {
  const { pools, own } = poolsOf('fd00::/112, 10.0.0.0/24')
  assert.equal(own, 'fd00::1')
  assert.deepEqual(
    pools.map(({ name, reserved }) => [name, reserved]),
    [
      ['cluster-ips-v6', 1],
      ['cluster-ips-v4', undefined],
      ['node-ports', undefined],
    ],
  )
  assert.ok(!pools[0]!.contains('10.0.0.1') && !pools[1]!.contains('fd00::1'))
  assert.match(pools[1]!.outside('10.1.0.0'), /10\.1\.0\.0.*10\.0\.0\.0\/24/)
})

test('a node port range includes its first and last port', () => {
  for (const [text, first, size] of [
    ['30000-32767', '30000', 2768],
    ['1-65535', '1', 65535],
    ['8080', '8080', 1],
    ['8080+9', '8080', 10],
  ] as const) {
    const pool = poolsOf('10.0.0.0/24', text).pools.at(-1)!
    assert.deepEqual([pool.at(0), pool.size, pool.contains(first)], [first, size, true])
    assert.ok(!pool.contains(String(Number(first) - 1)) && !pool.contains(String(Number(first) + size)))
  }
})

test('values at the start of a range are assigned last, since 1.25 for addresses and since 1.28 for ports', () => {
  const rows: readonly (readonly [range: string, ports: string, addressBand: number, portBand: number])[] = [
    ['10.0.0.0/24', '30000-32767', 16, 86],
    ['10.0.0.0/28', '30000-30015', 0, 0],
    ['10.0.0.0/22', '1-65535', 64, 128],
    ['10.0.0.0/16', '30000-30100', 256, 16],
  ]
  for (const [range, ports, addressBand, portBand] of rows) {
    const bandsOf = (version: EmulatedVersion) =>
      poolsOf(range, ports, defaultGatesOf(version)).pools.map(({ staticBand = 0 }) => staticBand)
    assert.deepEqual(bandsOf('1.24'), [0, 0], range)
    assert.deepEqual(bandsOf('1.25'), [addressBand, 0], range)
    assert.deepEqual(bandsOf('1.28'), [addressBand, portBand], range)
  }
})

test('a value in the static range is assigned only if all other values are in use', () => {
  const [pool] = poolsOf('10.0.0.0/27', undefined, defaultGatesOf('1.36')).pools
  const taken = new Set<string>()
  const reservations = { has: (_: string, value: string) => taken.has(value), count: () => taken.size }
  const draw = () => {
    const parts = { pools: [pool!], reservations: reservations as never, maxValues: 1, current: [] }
    const value = allocatorOf(parts).draw(pool!.name)
    if (value !== undefined) taken.add(value)
    return value === undefined ? undefined : Number(value.split('.')[3])
  }
  const drawn = Array.from({ length: 29 }, draw)
  const sorted = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const ascending = (numbers: (number | undefined)[]) => numbers.toSorted((a, b) => a! - b!)
  assert.deepEqual(ascending(drawn.slice(0, 14)), sorted(17, 30))
  assert.deepEqual(ascending(drawn.slice(14)), sorted(2, 16))
  assert.equal(draw(), undefined)
})

test('an invalid CIDR or port range is reported', () => {
  const ranges: readonly (readonly [string, RegExp])[] = [
    ['', /is not a CIDR range/],
    ['10.0.0.0', /is not a CIDR range/],
    ['10.0.0.0/33', /is not a CIDR range/],
    ['10.0.0/24', /is not a CIDR range/],
    ['10.0.0.0/24,', /is not a CIDR range/],
    ['10.0.0.0/30', /is too small/],
    ['10.0.0.0/11', /use \/12/],
    ['fd00::/107', /use \/108/],
    ['10.0.0.0/24,10.1.0.0/24', /the same IP family/],
    ['10.0.0.0/24,fd00::/112,10.1.0.0/24', /at most two ranges/],
  ]
  for (const [text, expected] of ranges) assert.throws(() => readClusterRanges(text), expected, text)
  for (const text of ['', '0-1', '5-4', '1-65536', '65535+1', 'a-b', '1-2-3', '-5'])
    assert.throws(() => readPortRange(text), /is not a port range/, text)
})
