/**
 * Tests workload fields added since Kubernetes 1.24: ordinals, claim retention, parallel updates, terminating pods,
 * container metrics, scheduling gates and topology hints.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { OwnerReference } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'
import {
  makeAllReady,
  namespace,
  selector,
  setReady,
  template,
  untilObject,
  untilPods,
  withoutAccounts,
} from '../../support/workloads.ts'

const owner = endOfFile()
let server: LoopServer
let readying = new AbortController()

before(async () => {
  server = await loopServer(owner, [
    ...withoutAccounts,
    '--emulated-version=1.36',
    '--feature-gates=MaxUnavailableStatefulSet=true',
  ])
})
afterEach(async () => {
  readying.abort()
  readying = new AbortController()
  await server.end()
})

const storage = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

async function makeSet(name: string, spec: object): Promise<void> {
  const whole = { serviceName: 'web', selector: selector(name), template: template(name), ...spec }
  await server.client.create(kinds.StatefulSet, { metadata: { name, namespace }, spec: whole as never })
}

async function changeSet(name: string, spec: object): Promise<void> {
  await server.client.patch(kinds.StatefulSet, { namespace, name }, { patch: { merge: { spec } } })
}

async function untilNames(app: string, ...names: string[]): Promise<void> {
  await until(
    async () =>
      (await server.client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })).items
        .map(({ metadata }) => metadata.name)
        .sort()
        .join(' '),
    (found) => found === names.join(' '),
  )
}

async function untilOwners(claim: string, owners: string): Promise<readonly OwnerReference[]> {
  const { metadata } = await untilObject(server.client, kinds.PersistentVolumeClaim, {
    name: claim,
    wanted: ({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.map(({ kind, name }) => `${kind}/${name}`).join(' ') === owners,
  })
  return metadata.ownerReferences ?? []
}

test('StatefulSet ordinals begin at the configured start, and changing it replaces the pods outside the new range', async () => {
  void makeAllReady(server.client, readying.signal)
  server.run(['statefulset'])
  await makeSet('from', { replicas: 2, ordinals: { start: 5 } })
  await untilNames('from', 'from-5', 'from-6')
  const pod = await server.client.get(kinds.Pod, { namespace, name: 'from-6' })
  assert.equal(pod.metadata.labels?.['apps.orch.io/pod-index'], '6')
  await changeSet('from', { ordinals: { start: 6 } })
  await untilNames('from', 'from-6', 'from-7')
})

test('the retention policy decides whether the StatefulSet or the removed pod owns a claim', async () => {
  void makeAllReady(server.client, readying.signal)
  server.run(['statefulset'])
  const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' }
  await makeSet('kept', { replicas: 2, volumeClaimTemplates: [storage], persistentVolumeClaimRetentionPolicy })
  await untilNames('kept', 'kept-0', 'kept-1')
  const [reference] = await untilOwners('data-kept-1', 'StatefulSet/kept')
  assert.equal(reference?.controller, true)
  const { metadata } = await server.client.get(kinds.Pod, { namespace, name: 'kept-1' })
  await changeSet('kept', { replicas: 1 })
  const [ofPod] = await untilOwners('data-kept-1', 'Pod/kept-1')
  assert.equal(ofPod?.uid, metadata.uid)
  await untilOwners('data-kept-0', 'StatefulSet/kept')
  await changeSet('kept', { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } })
  await untilOwners('data-kept-0', '')
  // The owner of the claim no longer exists. A new pod with the same name waits until the garbage collector deletes the
  // claim.
  await untilNames('kept', 'kept-0')
  await changeSet('kept', { replicas: 2 })
  await until(
    async () => (await server.client.get(kinds.StatefulSet, { namespace, name: 'kept' })).status?.observedGeneration,
    (seen) => seen === 4,
  )
  await untilNames('kept', 'kept-0')
  await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name: 'data-kept-1' })
  await server.client
    .patch(
      kinds.PersistentVolumeClaim,
      { namespace, name: 'data-kept-1' },
      { patch: { merge: { metadata: { finalizers: null } } } },
    )
    .catch(() => {})
  await untilNames('kept', 'kept-0', 'kept-1')
})

test('an update of a StatefulSet replaces up to maxUnavailable pods at a time', async () => {
  server.run(['statefulset'])
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } }
  await makeSet('wide', { replicas: 5, podManagementPolicy: 'Parallel', updateStrategy })
  const first = await untilPods(server.client, 'wide', 5)
  for (const pod of first) await setReady(server.client, pod)
  await untilObject(server.client, kinds.StatefulSet, {
    name: 'wide',
    wanted: ({ status }) => status?.availableReplicas === 5,
  })
  await changeSet('wide', { template: template('wide', 'two') })
  const renewed = async () => {
    const { items } = await server.client.list(kinds.Pod, { namespace, labelSelector: 'app=wide' })
    return items.filter(({ spec }) => spec?.containers?.[0]?.image === 'two')
  }
  const some = await until(renewed, (pods) => pods.length >= 2)
  assert.deepEqual(some.map(({ metadata }) => metadata.name).sort(), ['wide-3', 'wide-4'])
  await setReady(server.client, some[0]!)
  await until(renewed, (pods) => pods.length === 3)
})

test('ReplicaSets and Deployments count terminating pods', async () => {
  void makeAllReady(server.client, readying.signal)
  server.run(['deployment', 'replicaset'])
  const metadata = { labels: { app: 'slow' }, finalizers: ['example.com/slow'] }
  const spec = { replicas: 2, selector: selector('slow'), template: { ...template('slow'), metadata } }
  await server.client.create(kinds.Deployment, { metadata: { name: 'slow', namespace }, spec: spec as never })
  const [pod] = await untilPods(server.client, 'slow', 2)
  await server.client.delete(kinds.Pod, { namespace, name: pod!.metadata.name! })
  const untilCount = (count: number) =>
    untilObject(server.client, kinds.Deployment, {
      name: 'slow',
      wanted: ({ status }) => status?.terminatingReplicas === count && status.availableReplicas === 2,
    })
  await untilCount(1)
  const patch = { merge: { metadata: { finalizers: null } } }
  await server.client.patch(kinds.Pod, { namespace, name: pod!.metadata.name! }, { patch })
  await untilCount(0)
})

/**
 * Simulates a metrics API that reports the given CPU usage for the container `web` of every pod, and no usage for the
 * container `log`.
 */
const measuring =
  (cpu: string) =>
  (send: Transport): Transport =>
  async (request) => {
    if (!request.path.startsWith('/apis/metrics.orch.io/v1beta1/')) return await send(request)
    const app = /app%3D([a-z]+)/.exec(request.path)?.[1] ?? ''
    const { items: pods } = await server.client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })
    const usage = [
      ['web', cpu],
      ['log', '0'],
    ].map(([name, amount]) => ({ name, usage: { cpu: amount } }))
    const items = pods.map(({ metadata: { name } }) => ({ metadata: { name, namespace }, containers: usage }))
    const list = { kind: 'PodMetricsList', apiVersion: 'metrics.orch.io/v1beta1', metadata: {}, items }
    const chunks = async function* () {
      yield Buffer.from(JSON.stringify(list))
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: chunks() }
  }

async function makeScaled(app: string, behavior: object): Promise<void> {
  const container = (name: string) => ({ name, image: 'i', resources: { requests: { cpu: '100m' } } })
  const spec = { nodeName: 'somewhere', containers: [container('web'), container('log')] }
  const labels = { app }
  for (const name of [`${app}-0`, `${app}-1`]) {
    await server.client.create(kinds.Pod, { metadata: { name, namespace, labels }, spec })
    const past = new Date(Date.now() - 3_600_000).toISOString()
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: past }]
    const patch = { merge: { status: { phase: 'Running', startTime: past, conditions } } }
    await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
  }
  const target = { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } }
  await server.client.create(kinds.Deployment, { metadata: { name: app, namespace }, spec: target as never })
  const containerResource = { name: 'cpu', container: 'web', target: { type: 'Utilization', averageUtilization: 50 } }
  const scaling = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: app },
    maxReplicas: 10,
    metrics: [{ type: 'ContainerResource', containerResource }],
    behavior,
  }
  await server.client.create(kinds.HorizontalPodAutoscaler, { metadata: { name: app, namespace }, spec: scaling })
}

test('an autoscaler can use the resource usage of one container, and does not scale if the deviation is within the tolerance', async () => {
  server.run(['horizontalpodautoscaling'], { through: measuring('90m') })
  await makeScaled('strict', {})
  await makeScaled('tolerant', { scaleUp: { tolerance: '0.9' } })
  const settled = (name: string) =>
    untilObject(server.client, kinds.HorizontalPodAutoscaler, {
      name,
      wanted: ({ status }) => (status?.currentMetrics ?? []).length === 1 && (status?.desiredReplicas ?? 0) > 0,
    })
  const [strict, tolerant] = [await settled('strict'), await settled('tolerant')]
  assert.equal(strict.status?.desiredReplicas, 4)
  assert.equal(tolerant.status?.desiredReplicas, 2)
  const { container, current } = strict.status?.currentMetrics?.[0]?.containerResource ?? {}
  assert.deepEqual([container, current?.averageUtilization], ['web', 90])
})

test('a pod is scheduled only after its last scheduling gate is removed', async () => {
  server.run(['scheduler'])
  await server.client.create(kinds.Node, { metadata: { name: 'free' } })
  // The pods of earlier tests are also scheduled to this node.
  const status = { conditions: [{ type: 'Ready', status: 'True' }], allocatable: { pods: '100', cpu: '8' } }
  await server.client.patch(kinds.Node, { name: 'free' }, { patch: { merge: { status } }, subresource: 'status' })
  const schedulingGates = [{ name: 'example.com/first' }, { name: 'example.com/second' }]
  const containers = [{ name: 'c', image: 'i' }]
  for (const [name, spec] of [
    ['gated', { containers, schedulingGates }],
    ['open', { containers }],
  ] as const)
    await server.client.create(kinds.Pod, { metadata: { name, namespace }, spec: spec as never })
  const untilNode = (name: string) =>
    untilObject(server.client, kinds.Pod, { name, wanted: ({ spec }) => spec?.nodeName === 'free' })
  await untilNode('open')
  const { spec, status: waiting } = await server.client.get(kinds.Pod, { namespace, name: 'gated' })
  assert.equal(spec?.nodeName, undefined)
  assert.equal(waiting?.conditions?.find(({ type }) => type === 'PodScheduled')?.reason, 'SchedulingGated')
  const patch = { merge: { spec: { schedulingGates: null } } }
  await server.client.patch(kinds.Pod, { namespace, name: 'gated' }, { patch })
  await untilNode('gated')
})

test('EndpointSlices contain zone and node hints for ready endpoints', async () => {
  server.run(['endpointslice'])
  const labels = { 'topology.orch.io/zone': 'west' }
  await server.client.create(kinds.Node, { metadata: { name: 'near', labels } })
  for (const name of ['ready', 'unready']) {
    const spec = { nodeName: 'near', containers: [{ name: 'c', image: 'i' }] }
    await server.client.create(kinds.Pod, { metadata: { name, namespace, labels: { app: 'hinted' } }, spec })
    const conditions = [{ type: 'Ready', status: name === 'ready' ? 'True' : 'False' }]
    const ip = name === 'ready' ? '10.1.0.1' : '10.1.0.2'
    const patch = { merge: { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions } } }
    await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
  }
  const spec = { selector: { app: 'hinted' }, ports: [{ port: 80 }], trafficDistribution: 'PreferSameNode' }
  await server.client.create(kinds.Service, { metadata: { name: 'hinted', namespace }, spec })
  const slices = inDomainOf(vendorOf('orch'), kinds.EndpointSlice)
  const untilHints = (hints: object | undefined) =>
    until(
      async () =>
        (await server.client.list(slices, { namespace })).items.flatMap(({ endpoints = [] }) =>
          endpoints.map((each) => [each.addresses?.[0], each.hints]),
        ),
      (found) =>
        JSON.stringify(found.sort()) ===
        JSON.stringify([
          ['10.1.0.1', hints],
          ['10.1.0.2', undefined],
        ]),
    )
  await untilHints({ forZones: [{ name: 'west' }], forNodes: [{ name: 'near' }] })
  const change = (trafficDistribution: string | null) =>
    server.client.patch(
      kinds.Service,
      { namespace, name: 'hinted' },
      { patch: { merge: { spec: { trafficDistribution } } } },
    )
  await change('PreferSameZone')
  await untilHints({ forZones: [{ name: 'west' }] })
  await change(null)
  await untilHints(undefined)
})
