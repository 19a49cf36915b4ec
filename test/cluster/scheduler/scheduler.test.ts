/**
 * Tests the scheduler against a real server, with its own account and permissions. Each Pod gets a node, or a status
 * with the reason why no node fits.
 */

import assert from 'node:assert/strict'
import { afterEach, before, beforeEach, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { Client } from '../../../src/client/requests/client.ts'
import { inDomainOf, type ResourceType, subresource } from '../../../src/client/requests/resource-type.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { profileOf } from '../../../src/cluster/scheduler/profile.ts'
import { defaultSettings } from '../../../src/cluster/scheduler/scheduler.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { deaths, type LoopServer, loopServer, type ManagerOptions } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const vendor = vendorOf('orch')
const namespace = 'default'
const events: ResourceType = { group: '', version: 'v1', plural: 'events', namespaced: true }
const budgets: ResourceType = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespaced: true }
const priorities: ResourceType = {
  group: 'scheduling.orch.io',
  version: 'v1',
  plural: 'priorityclasses',
  namespaced: false,
}
const owner = endOfFile()
/** The backoff is short, so that no test has to wait for a second. */
const timing = { firstBackoffMs: 20, maxBackoffMs: 100, maxRestMs: 60_000 }
const settings = { ...defaultSettings, timing, profiles: [profileOf('default-scheduler'), profileOf('second')] }
const quick: ManagerOptions = { options: { scheduler: settings } }
let server: LoopServer
let client: Client

before(async () => {
  const flags = ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition']
  server = await loopServer(owner, flags)
  client = server.client
  for (const [name, value, preemptionPolicy] of [
    ['high', 1000, 'PreemptLowerPriority'],
    ['patient', 1000, 'Never'],
    ['low', 10, 'PreemptLowerPriority'],
  ] as const)
    await client.create(priorities, {
      apiVersion: 'scheduling.orch.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      preemptionPolicy,
    } as never)
})
beforeEach(async () => {
  for (const name of ['node-1', 'node-2']) await makeNode(name)
})
afterEach(async () => {
  await server.end()
  for (const type of [kinds.Pod, kinds.PersistentVolumeClaim, budgets] as ResourceType[])
    await client.deleteCollection(type, { namespace, gracePeriodSeconds: 0 })
  for (const type of [kinds.Node, kinds.PersistentVolume] as ResourceType[]) await client.deleteCollection(type)
})

async function makeNode(name: string, { cpu = '2', labels = {} as Record<string, string>, spec = {} } = {}) {
  await client.create(kinds.Node, {
    apiVersion: 'v1',
    kind: 'Node',
    spec,
    metadata: { name, labels: { 'orch.io/hostname': name, ...labels } },
    status: { allocatable: { cpu, memory: '4Gi', pods: '10' }, capacity: { cpu, memory: '4Gi', pods: '10' } },
  } as never)
}

interface PodParts {
  readonly cpu?: string
  readonly labels?: object
  /** Additional fields of the Pod's spec. */
  readonly [field: string]: unknown
}

async function makePod(name: string, { cpu = '100m', labels = {}, ...spec }: PodParts = {}) {
  await client.create(kinds.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: {
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }],
      terminationGracePeriodSeconds: 0,
      ...spec,
    },
  } as never)
}

async function getPod(name: string): Promise<Pod> {
  return await client.get(kinds.Pod, { namespace, name })
}

async function untilPlaced(name: string): Promise<string> {
  const pod = await until(
    () => getPod(name),
    ({ spec }) => (spec?.nodeName ?? '') !== '',
  )
  return pod.spec!.nodeName!
}

const scheduled = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled')

async function untilRefused(name: string, pattern: RegExp): Promise<Pod> {
  return await until(
    () => getPod(name),
    (pod) => scheduled(pod)?.status === 'False' && pattern.test(scheduled(pod)?.message ?? ''),
  )
}

async function untilEvent(pod: string, reason: string): Promise<ApiObject> {
  const { items } = await until(
    () => client.list(events, { namespace, fieldSelector: `involvedObject.name=${pod},reason=${reason}` }),
    ({ items }) => items.length > 0,
  )
  return items[0]!
}

test('a pod whose binding was undone by a restore is scheduled again', async () => {
  await makePod('undone')
  let answered = 0
  // The server acknowledges the first binding without storing it, as if its store had been restored from a backup.
  const through =
    (send: Transport): Transport =>
    async (request) => {
      if (!request.path.endsWith('/pods/undone/binding') || answered++ > 0) return await send(request)
      const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
      const body = (async function* () {
        yield Buffer.from(JSON.stringify(status))
      })()
      return { status: 201, headers: { 'content-type': 'application/json' }, body }
    }
  server.run(['scheduler'], { options: { scheduler: { ...settings, confirmMs: 50 } }, through })
  assert.match(await untilPlaced('undone'), /^node-/)
  assert.ok(answered >= 2)
})

test('a pod is bound to a node, and an Event reports the binding', async () => {
  server.run(['scheduler'], quick)
  await makePod('a')
  const node = await untilPlaced('a')
  const event = await untilEvent('a', 'Scheduled')
  assert.equal(event.message, `Successfully assigned default/a to ${node}`)
  assert.deepEqual(event.source, { component: 'default-scheduler' })
  assert.equal(scheduled(await getPod('a'))?.status, 'True')
})

test('an unschedulable pod reports the reason and is scheduled when a suitable node is added', async () => {
  server.run(['scheduler'], quick)
  await makePod('big', { cpu: '3' })
  const pod = await untilRefused('big', /^0\/2 nodes are available: 2 Insufficient cpu\.$/)
  assert.equal(scheduled(pod)?.reason, 'Unschedulable')
  const event = await untilEvent('big', 'FailedScheduling')
  assert.equal(event.message, '0/2 nodes are available: 2 Insufficient cpu.')
  await makeNode('node-3', { cpu: '4' })
  assert.equal(await untilPlaced('big'), 'node-3')
})

test('an Event reports that no nodes exist', async () => {
  await client.deleteCollection(kinds.Node)
  server.run(['scheduler'], quick)
  await makePod('a')
  await untilRefused('a', /^no nodes available to schedule pods$/)
})

test('many pods are distributed without overcommitting nodes', async () => {
  server.run(['scheduler'], quick)
  await Promise.all(Array.from({ length: 22 }, (_, i) => makePod(`p-${i}`, { cpu: '200m' })))
  const placed = () => client.list(kinds.Pod, { namespace, fieldSelector: 'spec.nodeName!=' })
  const { items } = await until(placed, ({ items }) => items.length === 20)
  const counts = Map.groupBy(items, ({ spec }) => spec!.nodeName!)
  assert.deepEqual(
    [...counts.values()].map(({ length }) => length),
    [10, 10],
  )
})

test('deleting a pod frees resources, and waiting pods are scheduled by priority', async () => {
  await client.deleteCollection(kinds.Node)
  await makeNode('one', { cpu: '1' })
  // Disable the backoff. Otherwise, the Pod that has waited longer would be tried first.
  const eager = { ...settings, timing: { ...timing, firstBackoffMs: 0, maxBackoffMs: 0 } }
  server.run(['scheduler'], { options: { scheduler: eager } })
  await makePod('first', { cpu: '1' })
  await untilPlaced('first')
  await makePod('less', { cpu: '1' })
  await makePod('more', { cpu: '1', priorityClassName: 'patient' })
  for (const name of ['less', 'more']) await untilRefused(name, /Insufficient cpu/)
  await client.delete(kinds.Pod, { namespace, name: 'first' }, { gracePeriodSeconds: 0 })
  assert.equal(await untilPlaced('more'), 'one')
  assert.equal((await getPod('less')).spec?.nodeName, undefined)
})

test('a pod with lower priority is preempted for a pod with higher priority', async () => {
  await client.deleteCollection(kinds.Node)
  for (const name of ['one', 'two']) await makeNode(name, { cpu: '1' })
  await client.create(budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'kept', namespace },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
  } as never)
  server.run(['scheduler'], quick)
  await makePod('kept', { cpu: '1', labels: { app: 'kept' }, priorityClassName: 'low' })
  const keptAt = await untilPlaced('kept')
  await makePod('other', { cpu: '1', labels: { app: 'other' }, priorityClassName: 'low' })
  const otherAt = await untilPlaced('other')
  await makePod('urgent', { cpu: '1', priorityClassName: 'high' })
  assert.equal(await untilPlaced('urgent'), otherAt)
  const event = await untilEvent('other', 'Preempted')
  assert.equal(event.message, `Preempted by default/urgent on node ${otherAt}`)
  assert.equal((await getPod('kept')).spec?.nodeName, keptAt)
})

test('a node stays nominated for a pod until the preempted pod is deleted', async () => {
  await client.deleteCollection(kinds.Node)
  await makeNode('one', { cpu: '1' })
  server.run(['scheduler'], quick)
  await makePod('victim', { cpu: '1', priorityClassName: 'low', terminationGracePeriodSeconds: 3600 })
  await untilPlaced('victim')
  await makePod('urgent', { cpu: '1', priorityClassName: 'high' })
  await until(
    () => getPod('urgent'),
    ({ status }) => status?.nominatedNodeName === 'one',
  )
  assert.notEqual((await getPod('victim')).metadata.deletionTimestamp, undefined)
  await makePod('sneaky', { cpu: '1', priorityClassName: 'low' })
  await client.delete(kinds.Pod, { namespace, name: 'victim' }, { gracePeriodSeconds: 0 })
  assert.equal(await untilPlaced('urgent'), 'one')
  await untilRefused('sneaky', /Insufficient cpu/)
})

test('the scheduler handles only pods that name one of its profiles', async () => {
  server.run(['scheduler'], quick)
  await makePod('foreign', { schedulerName: 'somebody-else' })
  await makePod('mine', { schedulerName: 'second' })
  await untilPlaced('mine')
  const event = await untilEvent('mine', 'Scheduled')
  assert.deepEqual(event.source, { component: 'second' })
  const { spec, status } = await getPod('foreign')
  assert.equal(spec?.nodeName, undefined)
  assert.equal(status?.conditions, undefined)
})

test('delayed binding chooses a volume that the node can access', async () => {
  await client.create(inDomainOf(vendor, kinds.StorageClass), {
    apiVersion: 'storage.orch.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'late' },
    provisioner: 'orch.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  } as never)
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: 'late' }
  const onNode = { key: 'orch.io/hostname', operator: 'In', values: ['node-2'] }
  await client.create(kinds.PersistentVolume, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'disk' },
    spec: {
      ...shared,
      capacity: { storage: '1Gi' },
      local: { path: '/disk' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
    },
  } as never)
  await client.create(kinds.PersistentVolumeClaim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace },
    spec: { ...shared, resources: { requests: { storage: '1Gi' } } },
  } as never)
  server.run(['scheduler', 'persistentvolume-binder'], quick)
  await makePod('a', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] })
  assert.equal(await untilPlaced('a'), 'node-2')
  assert.equal((await client.get(kinds.PersistentVolumeClaim, { namespace, name: 'data' })).spec?.volumeName, 'disk')
  await makePod('b', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'missing' } }] })
  await untilRefused('b', /^0\/2 nodes are available: 2 persistentvolumeclaim "missing" not found\.$/)
})

test('delayed provisioning waits until the scheduler has selected a node', async () => {
  server.run(['scheduler', 'persistentvolume-binder', 'host-path-provisioner'], {
    options: { scheduler: settings, volumeDirectory: `${server.directory}/volumes` },
  })
  await client.create(inDomainOf(vendor, kinds.StorageClass), {
    apiVersion: 'storage.orch.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'made' },
    provisioner: 'orch.io/host-path',
    volumeBindingMode: 'WaitForFirstConsumer',
  } as never)
  await client.create(kinds.PersistentVolumeClaim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'new', namespace },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'made', resources: { requests: { storage: '1Mi' } } },
  } as never)
  await makePod('a', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'new' } }] })
  const node = await untilPlaced('a')
  const claim = await client.get(kinds.PersistentVolumeClaim, { namespace, name: 'new' })
  assert.equal(claim.metadata.annotations?.['volume.orch.io/selected-node'], node)
  assert.notEqual(claim.spec?.volumeName, undefined)
})

test('if the scheduler is killed during any write, the next scheduler binds all pods', async () => {
  for (const [i, death] of deaths(3).entries()) {
    for (const name of [`x-${i}`, `y-${i}`]) await makePod(name, { cpu: '1m' })
    await server.run(['scheduler'], { ...quick, death }).killed
    await server.end()
    server.run(['scheduler'], quick)
    for (const name of [`x-${i}`, `y-${i}`]) await untilPlaced(name)
    await server.end()
  }
})

test('scheduling decisions count immediately, so a lagging watch causes no overcommitment', async () => {
  await client.deleteCollection(kinds.Node)
  await makeNode('one', { cpu: '1' })
  // The server delays its responses to bindings. Until they arrive, no other component knows the scheduler's decisions.
  const held = Promise.withResolvers<void>()
  server.run(['scheduler'], {
    ...quick,
    through: (send) => async (request) => {
      if (request.path.endsWith('/binding')) await held.promise
      return await send(request)
    },
  })
  for (const name of ['a', 'b', 'c']) await makePod(name, { cpu: '500m' })
  const names = ['a', 'b', 'c']
  const refused = async () => (await Promise.all(names.map(getPod))).filter((pod) => scheduled(pod)?.status === 'False')
  assert.equal((await until(refused, ({ length }) => length > 0)).length, 1)
  held.resolve()
  const placed = async () => (await Promise.all(names.map(getPod))).filter(({ spec }) => spec?.nodeName === 'one')
  await until(placed, ({ length }) => length === 2)
})

test('the scheduler respects a binding by another scheduler', async () => {
  const binding = subresource(kinds.Pod, 'binding')
  let isFirst = true
  server.run(['scheduler'], {
    ...quick,
    through: (send) => async (request) => {
      if (isFirst && request.path.endsWith('/binding')) {
        isFirst = false
        const metadata = { name: 'contested', namespace }
        const target = { kind: 'Node', name: 'node-2' }
        await client.create(binding, { apiVersion: 'v1', kind: 'Binding', metadata, target } as never)
      }
      return await send(request)
    },
  })
  await makePod('contested', { nodeSelector: { 'orch.io/hostname': 'node-1' } })
  assert.equal(await untilPlaced('contested'), 'node-2')
})
