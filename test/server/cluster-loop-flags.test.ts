/**
 * Tests the flags for the loops that handle Services, Jobs and nodes. Invalid values are reported before anything runs.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { clusterLoopFlags, clusterLoopOptions, podRangesOf } from '../../src/server/flags/cluster-loops.ts'

const read = (...args: string[]) => ({ ...parseFlags(clusterLoopFlags, args), serviceClusterIpRange: [] })

for (const [args, message] of [
  [['--allocate-node-cidrs'], /requires --cluster-cidr/],
  [['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16', '--node-cidr-mask-size=8'], /use \/16 to \/32/],
  [
    ['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16,fd00::/48', '--node-cidr-mask-size=24'],
    /-ipv4 and --node-cidr-mask-size-ipv6/,
  ],
  [['--allocate-node-cidrs', '--cluster-cidr=fd00::/32'], /use \/32 to \/48/],
  [['--cluster-cidr=10.0.0.010/16'], /is not a CIDR range/],
  [['--cluster-cidr=10.0.0.0/16,10.1.0.0/16'], /one per IP family/],
  [['--cluster-cidr=10.0.0.0'], /not a CIDR range/],
  [['--max-endpoints-per-slice=0'], /from 1 to 1000/],
  [['--node-eviction-rate=x'], /not a valid number: use a number such as 0\.1/],
] as const)
  test(`the flags ${args.join(' ')} are rejected`, () => {
    assert.throws(() => podRangesOf(read(...args)), { name: 'UsageError', message })
  })

test('control-loop flags set the options of the loops', () => {
  const args = ['--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/16', '--node-cidr-mask-size=26']
  const { podRanges, nodeHealth, ...others } = clusterLoopOptions(
    read(
      ...args,
      '--node-monitor-grace-period=1m',
      '--terminated-pod-gc-threshold=7',
      '--max-endpoints-per-slice=9',
      '--legacy-service-account-token-clean-up-period=48h',
    ),
  )
  assert.deepEqual([podRanges?.ranges[0]?.text, podRanges?.ipv4Bits], ['10.244.0.0/16', 26])
  assert.equal(nodeHealth?.graceMs, 60_000)
  assert.deepEqual([others.maxEndedPods, others.maxEndpointsPerSlice], [7, 9])
  assert.equal(others.unusedTokenMs, 48 * 60 * 60_000)
})
