/** Tests simulated nodes with a real server: they register, send heartbeats and run the pods bound to them. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { Informer } from '../../../src/client/informers/informer.ts'
import { startLoops } from '../../../src/client/reconcile/loop.ts'
import { MissingRights } from '../../../src/client/reconcile/missing-rights.ts'
import { WorkQueueMetrics } from '../../../src/client/reconcile/work-queue-metrics.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { heartbeatLoop } from '../../../src/cluster/nodes/heartbeats.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUp } from '../../support/in-process.ts'
import { openTestLog } from '../../support/test-log.ts'
import { until } from '../../support/until.ts'

const owner = endOfFile()
let server: Restartable
let client: Client

before(async () => {
  server = await serveUp(owner, ['--nodes=2'])
  client = new Client(server.transport())
})

const key = (name: string) => `simulation.orch.io/${name}`

async function makePod(name: string, annotations: object = {}, spec: object = {}): Promise<Pod> {
  return await client.create(kinds.Pod, {
    metadata: { name, namespace: 'default', annotations: annotations as { [key: string]: string } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }], ...spec },
  })
}

const read = (name: string) => client.get(kinds.Pod, { namespace: 'default', name })

async function untilPod(name: string, predicate: (pod: Pod) => boolean): Promise<Pod> {
  return await until(() => read(name), predicate)
}

const phaseIs = (phase: string) => (pod: Pod) => pod.status?.phase === phase
const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((each) => each.type === type)?.status

test('a simulated node registers like a kubelet and renews its Lease', async () => {
  const node = await until(
    async () => (await client.list(kinds.Node)).items.find(({ metadata }) => metadata.name === 'node-2'),
    (found) => found?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
  )
  assert.ok(node)
  assert.equal(node.metadata.labels?.['orch.io/hostname'], 'node-2')
  assert.equal(node.status?.capacity?.pods, '110')
  assert.deepEqual(
    node.status?.addresses?.map(({ type }) => type),
    ['InternalIP', 'Hostname'],
  )
  // Cluster loops also write to the node: they set taints and an annotation.
  assert.ok(node.metadata.managedFields?.some(({ manager }) => manager === 'nodeagent'))
  const lease = await until(
    async () =>
      (await client.list(kinds.Lease, { namespace: 'kube-node-lease' })).items.find(
        ({ metadata }) => metadata.name === 'node-2',
      ),
    (found) => found?.spec?.renewTime !== undefined,
  )
  assert.equal(lease?.spec?.holderIdentity, 'node-2')
  assert.equal(lease?.metadata.ownerReferences?.[0]?.uid, node.metadata.uid)
})

test('a simulated node reports the newest patch release of the emulated version', async () => {
  const later = await serveUp(owner, ['--nodes=1', '--emulated-version=1.36'])
  const versionIn = async (reader: Client) =>
    await until(
      async () => (await reader.list(kinds.Node)).items[0]?.status?.nodeInfo?.kubeletVersion ?? '',
      (version) => version !== '',
    )
  assert.match(await versionIn(client), /^v1\.23\.17\+orch-/)
  assert.match(await versionIn(new Client(later.transport())), /^v1\.36\.4\+orch-/)
})

test('simulated nodes of later versions report host addresses, the sandbox and the observed generation', async () => {
  const podName = { namespace: 'default', name: 'p' }
  for (const [version, hasHostIps, hasGeneration] of [
    ['1.28', false, false],
    ['1.29', true, false],
    ['1.36', true, true],
  ] as const) {
    const server = await serveUp(owner, ['--nodes=1', `--emulated-version=${version}`])
    const reader = new Client(server.transport())
    const account = () =>
      reader.get(kinds.ServiceAccount, { namespace: 'default', name: 'default' }).catch(() => undefined)
    await until(account, (found) => found !== undefined)
    const spec = { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] }
    await reader.create(kinds.Pod, { metadata: podName, spec } as never)
    const readPod = () => reader.get(kinds.Pod, podName)
    const pod = await until(readPod, (found) => condition(found, 'Ready') === 'True')
    assert.deepEqual(pod.status?.hostIPs, hasHostIps ? [{ ip: pod.status?.hostIP }] : undefined, version)
    assert.equal(condition(pod, 'PodReadyToStartContainers'), hasHostIps ? 'True' : undefined, version)
    assert.equal(pod.status?.observedGeneration, hasGeneration ? 1 : undefined, version)
    if (!hasGeneration) continue
    for (const each of pod.status?.conditions ?? []) assert.equal(each.observedGeneration, 1, String(each.type))
    const patch = { strategic: { spec: { containers: [{ name: 'c', image: 'other' }] } } }
    await reader.patch(kinds.Pod, podName, { patch })
    await until(readPod, ({ status }) => status?.observedGeneration === 2)
  }
})

test('a pod becomes running and ready with a unique address in the range of its node', async () => {
  await makePod('one')
  await makePod('two', {}, { initContainers: [{ name: 'first', image: 'i' }] })
  await makePod('host', {}, { hostNetwork: true })
  const [one, two, host] = await Promise.all(['one', 'two', 'host'].map((name) => untilPod(name, phaseIs('Running'))))
  for (const type of ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'])
    assert.equal(condition(one!, type), 'True', type)
  assert.ok(one!.status?.podIP?.startsWith('10.128.0.') && one!.status.podIP !== two!.status?.podIP)
  assert.equal(host!.status?.podIP, host!.status?.hostIP)
  assert.equal(two!.status?.initContainerStatuses?.[0]?.state?.terminated?.reason, 'Completed')
  const [container] = one!.status?.containerStatuses ?? []
  assert.ok(container?.ready && container.started && container.state?.running?.startedAt)
  assert.equal(one!.status?.qosClass, 'Burstable')
})

test('annotations can delay or prevent the readiness of a pod, and readiness gates can block it', async () => {
  await makePod('never', { [key('ready')]: 'never' })
  await makePod('late', { [key('ready-after')]: '300ms' })
  await makePod('gated', {}, { readinessGates: [{ conditionType: 'example.com/gate' }] })
  const never = await untilPod('never', phaseIs('Running'))
  assert.equal(condition(never, 'Ready'), 'False')
  await untilPod('late', (pod) => condition(pod, 'Ready') === 'True')
  const gated = await untilPod('gated', (pod) => condition(pod, 'ContainersReady') === 'True')
  assert.equal(condition(gated, 'Ready'), 'False')
  assert.equal(condition(await read('never'), 'Ready'), 'False')
})

test('terminated containers restart according to their restart policy and exit code', async () => {
  const soon = { [key('run-for')]: '10ms', [key('restart-after')]: '10ms' }
  await makePod('succeeds', soon, { restartPolicy: 'Never' })
  await makePod('fails', { ...soon, [key('exit-code')]: '3' }, { restartPolicy: 'Never' })
  await makePod('onfailure', soon, { restartPolicy: 'OnFailure' })
  await makePod('crashes', { ...soon, [key('exit-code')]: '1' })
  await untilPod('succeeds', phaseIs('Succeeded'))
  const failed = await untilPod('fails', phaseIs('Failed'))
  assert.equal(failed.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3)
  await untilPod('onfailure', phaseIs('Succeeded'))
  const crashing = await untilPod('crashes', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 2)
  assert.equal(crashing.status?.phase, 'Running')
  assert.equal(crashing.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 1)
})

test('pods of a Job succeed, and an annotation makes an image pull fail', async () => {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'f0a6f0d6-0000-4000-8000-000000000000' }
  await client.create(kinds.Pod, {
    metadata: { name: 'of-job', namespace: 'default', ownerReferences: [owner] },
    spec: { nodeName: 'node-2', restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  })
  await makePod('no-image', { [key('start')]: 'image-pull-error' })
  const waits = await untilPod('no-image', ({ status }) => (status?.containerStatuses ?? []).length > 0)
  assert.equal(waits.status?.phase, 'Pending')
  assert.equal(waits.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ImagePullBackOff')
  // The garbage collector deletes pods whose owner does not exist, so the pod may already have been deleted.
  await until(
    () => client.get(kinds.Pod, { namespace: 'default', name: 'of-job' }).catch(() => undefined),
    (pod) => pod === undefined || pod.status?.phase === 'Succeeded',
  )
})

test('a node rejects pods that exceed its resources, even if several arrive at once', async () => {
  const { status } = await client.get(kinds.Node, { name: 'node-2' })
  const most = Number(status?.allocatable?.cpu)
  const asking = (cpu: number) => ({
    nodeName: 'node-2',
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: String(cpu) } } }],
  })
  const names = ['half-1', 'half-2', 'half-3']
  await Promise.all(names.map((name) => makePod(name, {}, asking(most * 0.5))))
  const settled = await Promise.all(names.map((name) => untilPod(name, (pod) => pod.status?.phase !== 'Pending')))
  const refused = settled.filter(phaseIs('Failed'))
  assert.equal(refused.length, 1)
  const [{ status: told }] = refused as [Pod]
  assert.equal(told?.reason, 'OutOfcpu')
  const used = `requested: ${most * 500}, used: ${most * 1000}, capacity: ${most * 1000}`
  assert.equal(told?.message, `Pod Node didn't have enough resource: cpu, ${used}`)
  assert.deepEqual([told?.podIP, told?.containerStatuses], [undefined, undefined])
  const [running] = settled.filter(phaseIs('Running'))
  const name = running!.metadata.name!
  await client.delete(kinds.Pod, { namespace: 'default', name })
  await until(
    async () =>
      (await client.list(kinds.Pod, { namespace: 'default' })).items.some(({ metadata }) => metadata.name === name),
    (isThere) => !isThere,
  )
  await makePod('in-its-place', {}, asking(most * 0.5))
  await untilPod('in-its-place', phaseIs('Running'))
})

test('a node rejects pods with conflicting host ports or a node selector that does not match', async () => {
  const onPort = (hostIP: string, protocol = 'TCP') => ({
    nodeName: 'node-1',
    containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 8080, hostIP, protocol }] }],
  })
  await makePod('first', {}, onPort('127.0.0.1'))
  await untilPod('first', phaseIs('Running'))
  const outcomes = {
    'same-address': onPort('127.0.0.1'),
    'all-addresses': onPort(''),
    'other-address': onPort('127.0.0.2'),
    'other-protocol': onPort('127.0.0.1', 'UDP'),
    'other-label': { nodeName: 'node-1', nodeSelector: { disk: 'ssd' } },
    'other-name': { nodeName: 'node-1', affinity: toNode('node-2') },
    'same-name': { nodeName: 'node-1', affinity: toNode('node-1') },
  }
  const told = Object.entries(outcomes).map(async ([name, spec]) => {
    await makePod(name, {}, spec)
    const { status } = await untilPod(name, (pod) => pod.status?.phase !== 'Pending')
    return [name, status?.reason ?? status?.phase, status?.message ?? '']
  })
  assert.deepEqual(await Promise.all(told), [
    ['same-address', 'NodePorts', 'Pod Predicate NodePorts failed'],
    ['all-addresses', 'NodePorts', 'Pod Predicate NodePorts failed'],
    ['other-address', 'Running', ''],
    ['other-protocol', 'Running', ''],
    ['other-label', 'NodeAffinity', 'Pod Predicate NodeAffinity failed'],
    ['other-name', 'NodeAffinity', 'Pod Predicate NodeAffinity failed'],
    ['same-name', 'Running', ''],
  ])
})

function toNode(name: string): object {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [name] }]
  return {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } },
  }
}

test('a pod wrongly marked as not ready becomes ready again, and readiness gates are respected', async () => {
  const set = (name: string, type: string, status: string) =>
    client.patch(
      kinds.Pod,
      { namespace: 'default', name },
      { subresource: 'status', patch: { strategic: { status: { conditions: [{ type, status }] } } } },
    )
  const readyIs = (status: string) => (pod: Pod) => condition(pod, 'Ready') === status
  await makePod('mistaken')
  await untilPod('mistaken', readyIs('True'))
  // Simulates the loop that treats a node as lost.
  await set('mistaken', 'Ready', 'False')
  await untilPod('mistaken', readyIs('True'))
  await makePod('with-a-gate', {}, { readinessGates: [{ conditionType: 'example.com/gate' }] })
  const closed = await untilPod('with-a-gate', (pod) => condition(pod, 'ContainersReady') === 'True')
  assert.equal(condition(closed, 'Ready'), 'False')
  for (const status of ['True', 'False']) {
    await set('with-a-gate', 'example.com/gate', status)
    await untilPod('with-a-gate', readyIs(status))
  }
})

test('pods can request extended resources that were added to the capacity of a node', async () => {
  const gpu = 'example.com/gpu'
  const set = (amount: string | null) =>
    client.patch(
      kinds.Node,
      { name: 'node-1' },
      { subresource: 'status', patch: { merge: { status: { capacity: { [gpu]: amount, pods: '1' } } } } },
    )
  const untilAmount = (amount: string | undefined) =>
    until(
      async () => (await client.get(kinds.Node, { name: 'node-1' })).status,
      (status) =>
        status?.allocatable?.[gpu] === amount && status?.capacity?.[gpu] === amount && status?.capacity?.pods === '110',
    )
  const limits = { [gpu]: '2' }
  const containers = [{ name: 'c', image: 'i', resources: { limits } }]
  await set('2')
  // The node restores the capacity for pods, which it sets itself.
  await untilAmount('2')
  await makePod('with-gpu', {}, { containers })
  await untilPod('with-gpu', phaseIs('Running'))
  await makePod('without-gpu', {}, { containers })
  assert.equal((await untilPod('without-gpu', phaseIs('Failed'))).status?.reason, `OutOf${gpu}`)
  await set(null)
  await untilAmount(undefined)
})

test('a pod that exceeds its active deadline is terminated and not restarted', async () => {
  await makePod('limited', {}, { activeDeadlineSeconds: 1 })
  // Polling may miss the phase Running. The exit code therefore proves that the pod ran.
  const { status } = await untilPod('limited', phaseIs('Failed'))
  assert.equal(status?.reason, 'DeadlineExceeded')
  assert.equal(status?.message, 'Pod was active on the node longer than the specified deadline')
  assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 137)
  assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False')
})

test('a deleted pod is removed within its grace period unless a finalizer remains', async () => {
  const gone = (name: string) =>
    until(
      () => read(name).catch((error: { code?: number }) => error.code),
      (found) => found === 404,
    )
  await makePod('soon')
  await makePod('stubborn', { [key('termination')]: 'ignore' })
  await makePod('held', { [key('termination')]: 'ignore' })
  await client.patch(
    kinds.Pod,
    { namespace: 'default', name: 'held' },
    { patch: { merge: { metadata: { finalizers: ['example.com/hold'] } } } },
  )
  for (const name of ['soon', 'stubborn', 'held']) await untilPod(name, phaseIs('Running'))
  for (const [name, gracePeriodSeconds] of [
    ['soon', 3600],
    ['stubborn', 3600],
    ['held', 1],
  ] as const)
    await client.delete(kinds.Pod, { namespace: 'default', name }, { gracePeriodSeconds })
  await gone('soon')
  const held = await untilPod('held', phaseIs('Succeeded'))
  assert.ok(held.metadata.deletionTimestamp)
  assert.equal((await read('stubborn')).status?.phase, 'Running')
})

test('a simulated node ignores pods on other nodes', async () => {
  await makePod('elsewhere', {}, { nodeName: 'node-3' })
  await makePod('here')
  await untilPod('here', phaseIs('Running'))
  assert.equal((await read('elsewhere')).status?.phase, 'Pending')
})

test('simulated nodes continue after a restart and never assign the same pod address twice', async () => {
  const before = await read('one')
  await server.restart(['--nodes=2'])
  await makePod('after')
  const fresh = await untilPod('after', phaseIs('Running'))
  const { items } = await client.list(kinds.Pod, { namespace: 'default' })
  const running = items.filter(({ spec, status }) => !spec?.hostNetwork && status?.phase === 'Running')
  const addresses = running.flatMap(({ status }) => status?.podIP || [])
  assert.equal(new Set(addresses).size, addresses.length)
  assert.ok(addresses.includes(fresh.status!.podIP!))
  assert.equal((await read('one')).status?.startTime, before.status?.startTime)
})

test('heartbeats of many nodes are sent concurrently even if the server does not respond', async (t) => {
  let asking = 0
  const transport: Transport = ({ signal }) => {
    asking++
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const silent = new Client(transport)
  const many = Array.from({ length: 60 }, (_, i) => ({
    name: `n${i}`,
    address: '10.127.0.1',
    port: () => 0,
    capacity: {},
    labels: {},
    taints: [],
    podRange: '',
  }))
  const log = openTestLog()
  const vendor = vendorOf('orch')
  const loop = heartbeatLoop({
    nodes: new Map(many.map((node) => [node.name, node])),
    informer: new Informer(silent, kinds.Node, { onError: () => {} }),
    clientOf: () => silent,
    vendor,
    clock: systemClock,
    outages: { isUnreachable: () => false, hasDiskPressure: () => false },
    stages: { step: async () => undefined },
    sources: [],
  })
  // Use only the first source, which yields the names of the nodes. The other source is an informer, which would send
  // requests of its own.
  const sources = loop.sources.slice(0, 1)
  const records = { log, clock: systemClock, metrics: new WorkQueueMetrics(), missingRights: new MissingRights(log) }
  const running = startLoops([{ ...loop, sources }], records)
  t.after(() => running.stop())
  await until(
    async () => asking,
    (count) => count === many.length,
  )
})
