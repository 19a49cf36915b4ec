/** Tests how the cluster terminates pods since Kubernetes 1.26: pod conditions, and nodes that are out of service. */
import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { timestamp } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
const vendor = vendorOf('orch')
let newer: LoopServer
let passedMs = 0
const clock = {
  now: () => systemClock.now() + passedMs,
  monotonic: () => systemClock.monotonic() + passedMs,
}

before(async () => {
  const disabled = '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,TaintNodesByCondition'
  newer = await loopServer(owner, ['--emulated-version=1.36', disabled])
})
afterEach(() => newer.end())

async function makeNode(name: string, ready: string): Promise<void> {
  await newer.client.create(kinds.Node, { metadata: { name } })
  const allocatable = { cpu: '1', pods: '10' }
  const status = { conditions: [{ type: 'Ready', status: ready }], capacity: allocatable, allocatable }
  await newer.client.patch(kinds.Node, { name }, { patch: { merge: { status } }, subresource: 'status' })
}

async function taint(name: string, key: string): Promise<void> {
  const taints = [{ key: `node.${vendor.keyDomain}/${key}`, effect: 'NoExecute' }]
  await newer.client.patch(kinds.Node, { name }, { patch: { merge: { spec: { taints } } } })
}

/** Creates a running pod that stays visible after its deletion. */
async function makePod(name: string, { metadata = {}, ...spec }: { metadata?: object; [field: string]: unknown }) {
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }]
  await newer.client.create(kinds.Pod, {
    metadata: { name, namespace, ...metadata },
    spec: { containers, terminationGracePeriodSeconds: 3600, ...spec },
  } as never)
  if (spec.nodeName === undefined) return
  const patch = { merge: { status: { phase: 'Running' } } }
  await newer.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
}

async function untilTerminating(name: string): Promise<Pod> {
  return await until(
    () => newer.client.get(kinds.Pod, { namespace, name }),
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
  )
}

function disruptionOf({ status }: Pod) {
  const { status: is, reason, message } = status?.conditions?.find(({ type }) => type === 'DisruptionTarget') ?? {}
  return [is, reason, message]
}

const held = { metadata: { finalizers: ['example.com/hold'] } }

test('a pod that a taint evicts gets the condition DisruptionTarget', async () => {
  await makeNode('t-1', 'True')
  newer.run(['nodelifecycle'], { clock })
  await makePod('evicted', { nodeName: 't-1' })
  await taint('t-1', 'maintenance')
  const expected = ['True', 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint']
  assert.deepEqual(disruptionOf(await untilTerminating('evicted')), expected)
})

test('a pod on a missing node fails with the condition DisruptionTarget', async () => {
  newer.run(['podgc'], { clock })
  await makePod('lost', { nodeName: 'nowhere', ...held })
  await newer.client.patch(
    kinds.Pod,
    { namespace, name: 'lost' },
    { patch: { merge: { metadata: { labels: { a: 'b' } } } } },
  )
  passedMs += 41_000
  await newer.client.patch(
    kinds.Pod,
    { namespace, name: 'lost' },
    { patch: { merge: { metadata: { labels: { a: 'c' } } } } },
  )
  const pod = await untilTerminating('lost')
  assert.equal(pod.status?.phase, 'Failed')
  assert.deepEqual(disruptionOf(pod), ['True', 'DeletionByPodGC', 'PodGC: node no longer exists'])
})

test('a terminating pod is removed from a node that is not ready and has the out-of-service taint', async () => {
  newer.run(['podgc'], { clock })
  await makeNode('down', 'False')
  for (const name of ['ending', 'running']) await makePod(name, { nodeName: 'down' })
  await newer.client.delete(kinds.Pod, { namespace, name: 'ending' })
  await taint('down', 'out-of-service')
  const names = async () =>
    (await newer.client.list(kinds.Pod, { namespace, fieldSelector: 'spec.nodeName=down' })).items.map(
      ({ metadata }) => metadata.name,
    )
  assert.deepEqual(await until(names, (all) => all.length === 1), ['running'])
})

test('the condition DisruptionTarget of a pod that was not deleted is reset after two minutes', async () => {
  const target = async (name: string, reason: string, ageMs: number) => {
    await makePod(name, {})
    const lastTransitionTime = timestamp(clock.now() - ageMs)
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason, message: 'm', lastTransitionTime }]
    const patch = { merge: { status: { phase: 'Running', conditions } } }
    await newer.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
  }
  await target('fresh', 'EvictionByEvictionAPI', 60_000)
  await target('by-node', 'TerminationByKubelet', 300_000)
  await target('stale', 'EvictionByEvictionAPI', 121_000)
  newer.run(['disruption'], { clock })
  const statusOf = async (name: string) => disruptionOf(await newer.client.get(kinds.Pod, { namespace, name }))[0]
  await until(
    () => statusOf('stale'),
    (status) => status === 'False',
  )
  assert.deepEqual([await statusOf('fresh'), await statusOf('by-node')], ['True', 'True'])
})

test('a preempted pod gets the condition DisruptionTarget', async () => {
  await makeNode('small', 'True')
  const classes = inDomainOf(vendor, kinds.PriorityClass)
  await newer.client.create(classes, { metadata: { name: 'high' }, value: 1000 } as never)
  newer.run(['scheduler'])
  await makePod('victim', { nodeName: 'small' })
  await makePod('urgent', { priorityClassName: 'high' })
  const message = 'default-scheduler: preempting to accommodate a higher priority pod'
  assert.deepEqual(disruptionOf(await untilTerminating('victim')), ['True', 'PreemptionByScheduler', message])
})
