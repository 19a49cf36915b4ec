/**
 * Tests simulated failures: each preset for pods and nodes, rules with selectors and a seed, missing images, and
 * real nodes.
 */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import type { SimulationRule } from '../../../src/api/kinds/ops/simulation-rule.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { ActiveRules } from '../../../src/cluster/failures/active-rules.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUp } from '../../support/in-process.ts'
import { until, untilTrue } from '../../support/until.ts'

type RuleSpec = NonNullable<SimulationRule['spec']>

const namespace = 'default'
const owner = endOfFile()
const rules = inDomainOf(vendorOf('orch'), kinds.SimulationRule)
let server: Restartable
let client: Client

before(async () => {
  server = await serveUp(owner, ['--nodes=4', '--simulation-speed=100'])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
})

async function makePod(name: string, spec: object = {}, labels: { [key: string]: string } = {}): Promise<void> {
  await client.create(kinds.Pod, {
    metadata: { name, namespace, labels },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }], ...spec },
  })
}

async function makeRule(name: string, spec: RuleSpec): Promise<void> {
  await client.create(rules, { metadata: { name }, spec })
}

const endRule = (name: string) => client.delete(rules, { name })
const read = (name: string) => client.get(kinds.Pod, { namespace, name })
const untilPod = (name: string, holds: (pod: Pod) => boolean) => until(() => read(name), holds)
const container = ({ status }: Pod) => status?.containerStatuses?.[0]
const waitsFor = (reason: string) => (pod: Pod) => container(pod)?.state?.waiting?.reason === reason
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true

async function hasEvent(name: string, reason: string): Promise<boolean> {
  const { items } = await client.list(kinds.Event, { namespace })
  return items.some((event) => event.involvedObject?.name === name && event.reason === reason)
}

/** The failures of a running pod, each with its effect and the Event that reports it. */
const podPresets: readonly (readonly [failure: string, shows: (pod: Pod) => boolean, event: string])[] = [
  ['crash-loop', (pod) => (container(pod)?.restartCount ?? 0) >= 2 && lastExit(pod) === 'Error 1', 'BackOff'],
  ['oom', (pod) => (container(pod)?.restartCount ?? 0) >= 2 && lastExit(pod) === 'OOMKilled 137', 'BackOff'],
  ['image-pull-error', waitsFor('ImagePullBackOff'), 'Failed'],
  ['not-ready', (pod) => container(pod)?.state?.running !== undefined && !isReady(pod), 'Unhealthy'],
]

function lastExit(pod: Pod): string {
  const { reason, exitCode } = container(pod)?.lastState?.terminated ?? {}
  return `${reason} ${exitCode}`
}

for (const [failure, shows, event] of podPresets)
  test(`a running pod shows the failure ${failure} while a rule selects it, and recovers afterwards`, async () => {
    await makePod(failure)
    await untilPod(failure, isReady)
    await makeRule(failure, { failure, namespaces: [namespace], names: [failure] })
    await untilPod(failure, shows)
    await untilTrue(() => hasEvent(failure, event))
    await endRule(failure)
    await untilPod(failure, isReady)
    assert.equal((await read(failure)).status?.phase, 'Running')
  })

test('a simulated pod ends when its command ends', async () => {
  const never = { restartPolicy: 'Never' }
  const shell = (name: string, script: string) => ({ name, image: 'i', command: ['sh', '-c', script] })
  await makePod('sleeps', { ...never, containers: [shell('c', 'echo a; sleep 100; exit 3')] })
  await makePod('sleeps-with-server', { ...never, containers: [shell('c', 'exit 1'), { name: 'server', image: 'i' }] })
  const ended = await untilPod('sleeps', ({ status }) => status?.phase === 'Failed')
  const { exitCode, startedAt, finishedAt } = container(ended)!.state!.terminated!
  assert.equal(exitCode, 3)
  assert.ok(Date.parse(finishedAt!) - Date.parse(startedAt!) >= 1000, '100 s at a speed of 100')
  assert.equal((await read('sleeps-with-server')).status?.phase, 'Running')
})

test('the failures slow-start and slow-volumes delay the start of new pods', async () => {
  const volumes = [{ name: 'v', emptyDir: {} }]
  await makeRule('slow-start', { failure: 'slow-start', names: ['slow'], delaySeconds: 3600 })
  await makeRule('slow-volumes', { failure: 'slow-volumes', names: ['mounts', 'without-volumes'], delaySeconds: 3600 })
  await makePod('slow')
  await makePod('mounts', { volumes })
  await makePod('without-volumes', { automountServiceAccountToken: false })
  await untilPod('without-volumes', isReady)
  await untilPod('mounts', waitsFor('ContainerCreating'))
  await untilTrue(() => hasEvent('mounts', 'FailedMount'))
  assert.equal((await read('slow')).status?.phase, 'Pending')
  await client.patch(rules, { name: 'slow-start' }, { patch: { merge: { spec: { delaySeconds: 10 } } } })
  await endRule('slow-volumes')
  await Promise.all(['slow', 'mounts'].map((name) => untilPod(name, isReady)))
})

test('images with the tag invalid or doesnotexist cannot be pulled, except by pods that a rule exempts', async () => {
  await makeRule('exempt', { failure: 'none', selector: { matchLabels: { pulls: 'anything' } } })
  const image = (name: string) => ({ containers: [{ name: 'c', image: name }] })
  await makePod('invalid', image('registry.example:5000/app:invalid'))
  await makePod('missing', image('app:doesnotexist@sha256:0'))
  await makePod('exempt', image('app:invalid'), { pulls: 'anything' })
  await makePod('valid', image('invalid:5000/app'))
  await Promise.all(['invalid', 'missing'].map((name) => untilPod(name, waitsFor('ImagePullBackOff'))))
  await Promise.all(['exempt', 'valid'].map((name) => untilPod(name, isReady)))
  assert.equal((await read('invalid')).status?.phase, 'Pending')
})

const renewTime = async (name: string) =>
  (await client.get(kinds.Lease, { namespace: 'kube-node-lease', name })).spec?.renewTime

for (const failure of ['down', 'partition'])
  test(`a node that is ${failure} sends nothing, starts no pods, and serves no logs until it recovers`, async () => {
    const name = failure === 'down' ? 'node-2' : 'node-3'
    await makePod(`old-${failure}`, { nodeName: name })
    const { status } = await untilPod(`old-${failure}`, isReady)
    await makeRule(failure, { failure, names: [name] })
    const log = `/api/v1/namespaces/${namespace}/pods/old-${failure}/log`
    await untilTrue(async () => (await server.client().get(log)).status === 500)
    const renewed = await renewTime(name)
    await makePod(`new-${failure}`, { nodeName: name })
    await makePod(`beside-${failure}`, { nodeName: 'node-1' })
    await untilPod(`beside-${failure}`, isReady)
    assert.equal((await read(`new-${failure}`)).status?.phase, 'Pending')
    assert.equal(await renewTime(name), renewed)
    await endRule(failure)
    await untilPod(`new-${failure}`, isReady)
    const restarts = failure === 'down' ? 1 : 0
    const after = await untilPod(`old-${failure}`, (pod) => isReady(pod) && container(pod)?.restartCount === restarts)
    assert.equal(after.metadata.uid !== undefined && after.status?.podIP, status?.podIP)
    if (failure === 'down') assert.equal(lastExit(after), 'Unknown 255')
  })

test('a simulated node with disk pressure reports the pressure, rejects new pods and evicts running pods', async () => {
  await makePod('evicted', { nodeName: 'node-4' })
  await untilPod('evicted', isReady)
  await makeRule('full', { failure: 'disk-pressure', names: ['node-4'] })
  const pressure = async () =>
    (await client.get(kinds.Node, { name: 'node-4' })).status?.conditions?.find(({ type }) => type === 'DiskPressure')
  await until(pressure, (condition) => condition?.status === 'True')
  await makePod('rejected', { nodeName: 'node-4' })
  const rejected = await untilPod('rejected', ({ status }) => status?.phase === 'Failed')
  assert.equal(rejected.status?.reason, 'Evicted')
  assert.match(rejected.status?.message ?? '', /DiskPressure/)
  const evicted = await untilPod('evicted', ({ status }) => status?.phase === 'Failed')
  assert.equal(evicted.status?.reason, 'Evicted')
  await endRule('full')
  await until(pressure, (condition) => condition?.status === 'False')
})

test('an Event reports that a failure rule has no effect on real nodes and their pods', async () => {
  await client.create(kinds.Node, { metadata: { name: 'real' } })
  await makePod('on-real', { nodeName: 'real' })
  await makeRule('ignored-node', { failure: 'down', names: ['real'] })
  await makeRule('ignored-pod', { failure: 'oom', names: ['on-real'] })
  for (const name of ['ignored-node', 'ignored-pod']) await untilTrue(() => hasEvent(name, 'Ignored'))
  assert.equal(await hasEvent('exempt', 'Ignored'), false)
})

test('the seed of a probabilistic failure rule determines the selected names, and the first matching rule by name applies', () => {
  const rule = (name: string, spec: RuleSpec): SimulationRule => ({
    apiVersion: 'ops.orch.io/v1',
    kind: 'SimulationRule',
    metadata: { name },
    spec,
  })
  const active = (...all: SimulationRule[]) => new ActiveRules({ size: all.length, objects: () => all })
  const names = Array.from({ length: 1000 }, (_, i) => `web-${i}`)
  const pod = (name: string) => ({ metadata: { namespace: 'shop', name } })
  const chosenBy = (seed: number) => {
    const chosen = active(rule('some', { failure: 'oom', probabilityPercent: 30, seed }))
    return names.filter((name) => chosen.podRule(pod(name)) !== undefined)
  }
  assert.ok(chosenBy(1).length > 230 && chosenBy(1).length < 370)
  assert.deepEqual(chosenBy(1), chosenBy(1))
  assert.notDeepEqual(chosenBy(1), chosenBy(2))
  const both = active(rule('b', { failure: 'oom' }), rule('a', { failure: 'not-ready', namespaces: ['shop'] }))
  assert.equal(both.podRule(pod('x'))?.failure, 'not-ready')
  assert.equal(both.podRule({ metadata: { namespace: 'other', name: 'x' } })?.failure, 'oom')
})

test('invalid failure rules are rejected', async () => {
  const rows: readonly (readonly [RuleSpec, RegExp])[] = [
    [{}, /spec.failure: Required/],
    [{ failure: 'explode' }, /spec.failure: Unsupported value: "explode"/],
    [{ failure: 'down', namespaces: ['a'] }, /spec.namespaces: Forbidden: nodes have no namespace/],
    [{ failure: 'oom', probabilityPercent: 101 }, /must be between 0 and 100/],
    [{ failure: 'oom', delaySeconds: -1 }, /must be between 0 and 86400/],
    [{ failure: 'oom', names: Array.from({ length: 1001 }, String) }, /spec.names: Too many: 1001/],
  ]
  for (const [spec, fault] of rows) await assert.rejects(makeRule('invalid', spec), fault)
})
