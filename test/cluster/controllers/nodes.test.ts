/**
 * Tests the control loops for nodes with a simulated clock: lost nodes, taints, evictions, deleted nodes and pod CIDRs.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { Node } from '../../../src/api/kinds/core/node.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { parseRange } from '../../../src/api/model/ip-range.ts'
import { timestamp } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { CidrPool } from '../../../src/cluster/controllers/nodes/cidr-pool.ts'
import { EvictionRates } from '../../../src/cluster/controllers/nodes/eviction-rates.ts'
import { evictingTaints, toleratedMs } from '../../../src/cluster/controllers/nodes/node-taints.ts'
import { stepFor } from '../../../src/cluster/controllers/nodes/node-ttl.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const vendor = vendorOf('orch')
const namespace = 'default'
const owner = endOfFile()
let server: LoopServer
let passedMs = 0
const clock = {
  now: () => systemClock.now() + passedMs,
  monotonic: () => systemClock.monotonic() + passedMs,
}

before(async () => {
  const flags = ['--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,TaintNodesByCondition']
  server = await loopServer(owner, flags)
})
afterEach(async () => {
  await server.end()
  for (const name of await allNodes()) await server.client.delete(kinds.Node, { name })
  for (const { metadata } of (await server.client.list(kinds.Pod, { namespace })).items)
    await server.client.delete(kinds.Pod, { namespace, name: metadata.name! }, { gracePeriodSeconds: 0 })
})

async function allNodes(): Promise<string[]> {
  return (await server.client.list(kinds.Node)).items.map(({ metadata }) => metadata.name!)
}

async function makeNode(name: string, ready: string | undefined = 'True'): Promise<void> {
  await server.client.create(kinds.Node, { metadata: { name } })
  if (ready !== '') await report(name, ready)
}

/** Reports the conditions of the node as a node agent would. */
async function report(name: string, status: string, more: object[] = []): Promise<void> {
  const time = timestamp(clock.now())
  const ready = { type: 'Ready', status, lastHeartbeatTime: time, lastTransitionTime: time }
  const patch = { merge: { status: { conditions: [ready, ...more] } } }
  await server.client.patch(kinds.Node, { name }, { patch, subresource: 'status' })
}

/** Changes the node without reporting its health. */
async function touch(name: string): Promise<void> {
  const patch = { merge: { metadata: { annotations: { at: String(passedMs) } } } }
  await server.client.patch(kinds.Node, { name }, { patch })
}

async function makePod(name: string, nodeName: string, more: object = {}): Promise<void> {
  const spec = { nodeName, containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0, ...more }
  await server.client.create(kinds.Pod, { metadata: { name, namespace }, spec } as never)
  const conditions = [{ type: 'Ready', status: 'True' }]
  const patch = { merge: { status: { phase: 'Running', conditions } } }
  await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
}

async function podNames(): Promise<string> {
  const { items } = await server.client.list(kinds.Pod, { namespace })
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
    .sort()
    .join(' ')
}

const taintsOf = ({ spec }: Node) =>
  (spec?.taints ?? [])
    .map(({ key, effect }) => `${key?.split('/')[1]}:${effect}`)
    .sort()
    .join(' ')

async function untilTaints(name: string, expected: string): Promise<Node> {
  return await until(
    () => server.client.get(kinds.Node, { name }),
    (node) => taintsOf(node) === expected,
  )
}

test('node conditions are converted to taints, and other taints remain', async () => {
  server.run(['nodelifecycle'], { clock })
  await makeNode('t-1')
  await makeNode('t-2')
  await report('t-1', 'True', [
    { type: 'constructor', status: 'name' },
    { type: 'DiskPressure', status: 'True' },
  ])
  await untilTaints('t-1', 'disk-pressure:NoSchedule')
  const taints = [{ key: 'example.com/own', effect: 'NoSchedule' }]
  await server.client.patch(
    kinds.Node,
    { name: 't-1' },
    { patch: { merge: { spec: { unschedulable: true, taints } } } },
  )
  await untilTaints('t-1', 'disk-pressure:NoSchedule own:NoSchedule unschedulable:NoSchedule')
  await server.client.patch(kinds.Node, { name: 't-1' }, { patch: { merge: { spec: { unschedulable: null } } } })
  await report('t-1', 'False')
  const node = await untilTaints('t-1', 'not-ready:NoExecute not-ready:NoSchedule own:NoSchedule')
  assert.ok(evictingTaints(node)[0]?.timeAdded !== undefined)
  await report('t-1', 'True')
  await untilTaints('t-1', 'own:NoSchedule')
})

test('a node that reports no status is marked unknown unless its Lease is renewed', async () => {
  server.run(['nodelifecycle'], { clock })
  for (const name of ['silent', 'leased', 'never']) await makeNode(name, name === 'never' ? '' : 'True')
  await makePod('on-silent', 'silent')
  await makePod('kept', 'silent', { tolerations: [{ operator: 'Exists' }] })
  const micro = () => `${new Date(clock.now()).toISOString().slice(0, 23)}000Z`
  const leaseName = { name: 'leased', namespace: 'kube-node-lease' }
  const spec = { holderIdentity: 'leased', renewTime: micro() }
  const kind = { apiVersion: 'coordination.orch.io/v1', kind: 'Lease' }
  await server.client.create(inDomainOf(vendor, kinds.Lease), { ...kind, metadata: leaseName, spec })
  passedMs += 30_000
  await server.client.patch(inDomainOf(vendor, kinds.Lease), leaseName, {
    patch: { merge: { spec: { renewTime: micro() } } },
  })
  // Once the loop has received a later change to the node, it has also received the Lease.
  await server.client.patch(kinds.Node, { name: 'leased' }, { patch: { merge: { spec: { unschedulable: true } } } })
  await untilTaints('leased', 'unschedulable:NoSchedule')
  passedMs += 11_000
  for (const name of ['silent', 'leased', 'never']) await touch(name)
  const silent = await untilTaints('silent', 'unreachable:NoExecute unreachable:NoSchedule')
  const ready = silent.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.deepEqual([ready?.status, ready?.reason], ['Unknown', 'NodeStatusUnknown'])
  await until(podNames, (names) => names === 'kept')
  await until(
    () => server.client.get(kinds.Pod, { namespace, name: 'kept' }),
    ({ status }) => status?.conditions?.[0]?.status === 'False',
  )
  const { status } = await server.client.get(kinds.Node, { name: 'leased' })
  assert.equal(status?.conditions?.[0]?.status, 'True')
  passedMs += 20_000
  await report('leased', 'True')
  await touch('never')
  const never = await until(
    () => server.client.get(kinds.Node, { name: 'never' }),
    (node) => (node.status?.conditions ?? []).length > 0,
  )
  assert.equal(never.status?.conditions?.[0]?.reason, 'NodeStatusNeverUpdated')
})

test('pods stay on a tainted node until their toleration time has passed', async () => {
  server.run(['nodelifecycle'], { clock })
  await makeNode('e-1')
  const key = 'example.com/out'
  await makePod('stays', 'e-1', { tolerations: [{ key, operator: 'Exists' }] })
  await makePod('a-while', 'e-1', {
    tolerations: [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
  })
  await makePod('goes', 'e-1')
  const taints = [{ key, effect: 'NoExecute', timeAdded: timestamp(clock.now()) }]
  await server.client.patch(kinds.Node, { name: 'e-1' }, { patch: { merge: { spec: { taints } } } })
  await until(podNames, (names) => names === 'a-while stays')
  passedMs += 301_000
  const patch = { merge: { metadata: { annotations: { looked: 'at' } } } }
  await server.client.patch(kinds.Pod, { namespace, name: 'a-while' }, { patch })
  await until(podNames, (names) => names === 'stays')
})

test('a pod stays on a tainted node for the shortest of the matching toleration times', () => {
  const pod = (tolerations: object[]) => ({ spec: { tolerations } }) as unknown as Pod
  const taints = [
    { key: 'a', value: '1', effect: 'NoExecute' },
    { key: 'b', effect: 'NoExecute' },
  ]
  const rows = [
    [[], 0],
    [[{ operator: 'Exists' }], Number.POSITIVE_INFINITY],
    [
      [
        { key: 'a', value: '1' },
        { key: 'b', operator: 'Exists', tolerationSeconds: 9 },
      ],
      9000,
    ],
    [
      [
        { key: 'a', value: '1', tolerationSeconds: -1 },
        { key: 'b', operator: 'Exists' },
      ],
      0,
    ],
    [
      [
        { key: 'a', value: '2' },
        { key: 'b', operator: 'Exists' },
      ],
      0,
    ],
    [[{ operator: 'Exists', effect: 'NoSchedule' }], 0],
  ] as const
  for (const [tolerations, ms] of rows) assert.equal(toleratedMs(pod([...tolerations]), taints), ms)
})

test('evictions are rate-limited per zone, slower in large unhealthy zones, and paused if no node is ready', () => {
  let now = 0
  const options = { rate: 0.1, secondaryRate: 0.01, unhealthyShare: 0.55, largeSize: 5 }
  const rates = new EvictionRates(options, { now: () => now, monotonic: () => now }, vendor)
  const follow = (name: string, status: string) =>
    rates.follow(name, {
      metadata: { name, labels: { 'topology.orch.io/zone': name[0]! } },
      status: { conditions: [{ type: 'Ready', status }] },
    } as unknown as Node)
  for (const name of ['a1', 'a2', 'a3']) follow(name, 'False')
  assert.equal(rates.takeMs('a1'), Number.POSITIVE_INFINITY, 'none is ready anywhere')
  follow('b1', 'True')
  assert.equal(rates.takeMs('a1'), 0, 'the zone is empty, and there is another')
  assert.equal(rates.takeMs('a2'), 10_000)
  now += 10_000
  assert.equal(rates.takeMs('a2'), 0)
  follow('a4', 'True')
  now += 10_000
  assert.equal(rates.takeMs('a3'), Number.POSITIVE_INFINITY, 'most of a small zone is not ready')
  for (const name of ['a5', 'a6']) follow(name, 'False')
  assert.equal(rates.takeMs('a3'), 0)
  assert.equal(rates.takeMs('a5'), 100_000, 'the slower rate of a large one')
})

test('pods on deleted nodes and terminating unscheduled pods are deleted', async () => {
  server.run(['podgc'], { clock })
  await makeNode('g-1')
  await makePod('there', 'g-1')
  await makePod('lost', 'nowhere')
  await server.client.create(kinds.Pod, {
    metadata: { name: 'unbound', namespace },
    spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 60 },
  } as never)
  await server.client.delete(kinds.Pod, { namespace, name: 'unbound' })
  await until(podNames, (names) => names === 'lost there')
  passedMs += 41_000
  const patch = { merge: { metadata: { labels: { looked: 'at' } } } }
  await server.client.patch(kinds.Pod, { namespace, name: 'lost' }, { patch })
  await until(podNames, (names) => names === 'there')
})

test('the pod garbage collector deletes the oldest terminated pods first', async () => {
  await makeNode('o-1')
  for (const name of ['o-1', 'o-2', 'o-3', 'o-4']) {
    await makePod(name, 'o-1')
    if (name === 'o-4') continue
    const patch = { merge: { status: { phase: 'Succeeded' } } }
    await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
  }
  server.run(['podgc'], { clock, options: { maxEndedPods: 1 } })
  await until(podNames, (names) => names === 'o-3 o-4')
})

test('every node gets its own pod CIDR outside the Service CIDR', async () => {
  const podRanges = {
    ranges: [parseRange('10.244.0.0/22')!, parseRange('fd00::/62')!],
    ipv4Bits: 24,
    ipv6Bits: 64,
    services: [parseRange('10.244.0.0/25')!],
  }
  await server.client.create(kinds.Node, {
    metadata: { name: 'r-0' },
    spec: { podCIDR: '10.244.2.0/24', podCIDRs: ['10.244.2.0/24', 'fd00:0:0:1::/64'] },
  })
  server.run(['nodeipam'], { options: { podRanges } })
  for (const name of ['r-1', 'r-2', 'r-3']) await makeNode(name, '')
  const ranges = async () =>
    (await server.client.list(kinds.Node)).items.flatMap(({ spec }) => spec?.podCIDRs?.join() ?? [])
  const assignedRanges = await until(ranges, (all) => all.length === 3)
  assert.deepEqual(assignedRanges.sort(), [
    '10.244.1.0/24,fd00::/64',
    '10.244.2.0/24,fd00:0:0:1::/64',
    '10.244.3.0/24,fd00:0:0:2::/64',
  ])
  await server.client.delete(kinds.Node, { name: 'r-0' })
  await until(ranges, (all) => all.length === 3 && all.some((each) => each.startsWith('10.244.2.0/24')))
})

test('a pod CIDR is reused only after its node releases it', () => {
  const pool = new CidrPool(parseRange('10.0.0.0/30')!, 31)
  assert.deepEqual([pool.take('a'), pool.take('b'), pool.take('c')], ['10.0.0.0/31', '10.0.0.2/31', undefined])
  pool.release('10.0.0.0/31', 'b')
  assert.equal(pool.take('c'), undefined)
  pool.release('10.0.0.0/31', 'a')
  assert.equal(pool.take('c'), '10.0.0.0/31')
})

test('the cache TTL annotation on nodes grows with the cluster size', async () => {
  assert.deepEqual(
    [stepFor(0, 100), stepFor(0, 101), stepFor(1, 95), stepFor(1, 89), stepFor(0, 5000)],
    [0, 1, 1, 0, 4],
  )
  server.run(['ttl'])
  await makeNode('ttl-1', '')
  await until(
    () => server.client.get(kinds.Node, { name: 'ttl-1' }),
    ({ metadata }) => metadata.annotations?.['node.alpha.orch.io/ttl'] === '0',
  )
})
