/** Tests disruption budgets and evictions: evictions consume the disruptions that the loop allows. */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { PodDisruptionBudget } from '../../../src/api/kinds/policy/pod-disruption-budget.ts'
import type { ApiObject, ObjectBase } from '../../../src/api/model/object.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { subresource } from '../../../src/client/requests/resource-type.ts'
import { StatusError } from '../../../src/client/requests/status-error.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
let server: LoopServer
let passedMs = 0
const clock = { now: () => systemClock.now() + passedMs, monotonic: systemClock.monotonic }

before(async () => {
  server = await loopServer(owner, ['--disable-admission-plugins=ServiceAccount'])
})
afterEach(async () => {
  await server.end()
})

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 },
})
const ownedBy = ({ apiVersion, kind, metadata }: ObjectBase) => [
  { apiVersion, kind, name: metadata.name!, uid: metadata.uid!, controller: true },
]

/** Creates a Deployment, its ReplicaSet and `made` of its pods. The first `ready` of these pods are ready. */
async function makePods(app: string, replicas: number, options: { made?: number; ready?: number } = {}): Promise<void> {
  const { made = replicas, ready = made } = options
  const spec = { replicas, selector: { matchLabels: { app } }, template: template(app) }
  const deployment = await server.client.create(kinds.Deployment, { metadata: { name: app, namespace }, spec } as never)
  const metadata = { name: app, namespace, ownerReferences: ownedBy(deployment) }
  const set = await server.client.create(kinds.ReplicaSet, { metadata, spec: { ...spec, replicas: 1 } } as never)
  for (let i = 0; i < made; i++) {
    const name = `${app}-${i}`
    const pod = { ...template(app), metadata: { name, namespace, labels: { app }, ownerReferences: ownedBy(set) } }
    await server.client.create(kinds.Pod, pod as never)
    await setReady(name, i < ready)
  }
}

async function setReady(name: string, ready: boolean): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }]
  const patch = { merge: { status: { phase: 'Running', conditions } } }
  await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
}

async function makeBudget(name: string, spec: object): Promise<void> {
  const selector = { matchLabels: { app: name } }
  await server.client.create(kinds.PodDisruptionBudget, {
    metadata: { name, namespace },
    spec: { selector, ...spec },
  } as never)
}

async function untilBudget(name: string, expected: string): Promise<PodDisruptionBudget> {
  return await until(
    () => server.client.get(kinds.PodDisruptionBudget, { namespace, name }),
    ({ status = {} }) => countsOf(status) === expected,
  )
}

/** Returns the numbers of allowed disruptions and of healthy, desired and expected pods. */
const countsOf = (status: NonNullable<PodDisruptionBudget['status']>) =>
  [status.disruptionsAllowed, status.currentHealthy, status.desiredHealthy, status.expectedPods].join()

async function evict(name: string): Promise<number> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
  try {
    await server.client.create(subresource<ApiObject>(kinds.Pod, 'eviction'), eviction)
    return 201
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return error.code
  }
}

test('the number of allowed disruptions depends on the current pods, and each disruption is granted only once', async () => {
  server.run(['disruption'])
  await makePods('web', 4)
  await makeBudget('web', { maxUnavailable: '25%' })
  const { status } = await untilBudget('web', '1,4,3,4')
  assert.equal(status?.conditions?.[0]?.reason, 'SufficientPods')
  assert.equal(await evict('web-0'), 201)
  assert.equal(await evict('web-1'), 429)
  const after = await untilBudget('web', '0,3,3,4')
  assert.equal(after.status?.conditions?.[0]?.reason, 'InsufficientPods')
  // The eviction may update the counts before the loop has received the deletion of the pod.
  await untilTrue(async () => {
    const { status } = await server.client.get(kinds.PodDisruptionBudget, { namespace, name: 'web' })
    return Object.keys(status?.disruptedPods ?? {}).length === 0
  })
  assert.equal(await evict('web-1'), 429)
})

test('minAvailable applies to existing pods if it is a number, and to expected pods if it is a percentage', async () => {
  server.run(['disruption'])
  await makePods('some', 10, { made: 3, ready: 2 })
  await makeBudget('some', { minAvailable: 1 })
  await untilBudget('some', '1,2,1,3')
  await setReady('some-2', true)
  await untilBudget('some', '2,3,1,3')
  await makePods('share', 5, { made: 4 })
  await makeBudget('share', { minAvailable: '50%' })
  await untilBudget('share', '1,4,3,5')
  await makeBudget('none', { minAvailable: 0 })
  await untilBudget('none', '0,0,0,0')
})

test('an evicted pod counts as unhealthy for at most two minutes', async () => {
  passedMs = 0
  await makePods('late', 3)
  await makeBudget('late', { maxUnavailable: 1 })
  server.run(['disruption'], { clock })
  await untilBudget('late', '1,3,2,3')
  await server.end()
  const status = { disruptedPods: { 'late-0': new Date(clock.now()).toISOString().replace(/\.\d+/, '') } }
  await server.client.patch(
    kinds.PodDisruptionBudget,
    { namespace, name: 'late' },
    { patch: { merge: { status } }, subresource: 'status' },
  )
  server.run(['disruption'], { clock })
  await untilBudget('late', '0,2,2,3')
  await server.end()
  passedMs += 121_000
  server.run(['disruption'], { clock })
  const { status: later } = await untilBudget('late', '1,3,2,3')
  assert.equal(later?.disruptedPods, undefined)
})

test('a PodDisruptionBudget whose pods cannot be counted allows no disruptions', async () => {
  server.run(['disruption'])
  const controller = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'w', controller: true }
  const metadata = { name: 'odd', namespace, labels: { app: 'odd' }, ownerReferences: [controller] }
  await server.client.create(kinds.Pod, { ...template('odd'), metadata } as never)
  await makeBudget('odd', { maxUnavailable: 1 })
  await until(
    () => server.client.get(kinds.PodDisruptionBudget, { namespace, name: 'odd' }),
    ({ status }) => status?.conditions?.[0]?.reason === 'SyncFailed',
  )
  await makeBudget('web-2', { minAvailable: 0 })
  await untilBudget('web-2', '0,0,0,0')
})
