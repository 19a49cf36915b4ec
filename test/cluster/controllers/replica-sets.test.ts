/**
 * Tests ReplicaSets and ReplicationControllers: pod counts, adoption and release of pods, absence of duplicates, and
 * deletion order.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { ReplicaSet } from '../../../src/api/kinds/apps/replica-set.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { ResourceType } from '../../../src/client/requests/resource-type.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until, untilTrue } from '../../support/until.ts'
import {
  laggingWatch,
  namespace,
  podsOf,
  selector,
  setReady,
  template,
  untilObject,
  untilPods,
  withoutAccounts,
} from '../../support/workloads.ts'

const owner = endOfFile()
let server: LoopServer

before(async () => {
  server = await loopServer(owner, withoutAccounts)
})
afterEach(async () => {
  await server.end()
})

async function makeSet(app: string, replicas: number, more: object = {}): Promise<ReplicaSet> {
  const spec = { replicas, selector: selector(app), template: template(app), ...more }
  return await server.client.create(kinds.ReplicaSet, { metadata: { name: app, namespace }, spec })
}

async function scale(app: string, replicas: number): Promise<void> {
  await server.client.patch(kinds.ReplicaSet, { namespace, name: app }, { patch: { merge: { spec: { replicas } } } })
}

const namesOf = (all: readonly { metadata: { name?: string } }[]) =>
  all.map(({ metadata }) => metadata.name ?? '').sort()

test('a ReplicaSet creates, deletes and counts its pods', async () => {
  server.run(['replicaset'])
  const set = await makeSet('counted', 3)
  const made = await untilPods(server.client, 'counted', 3)
  for (const { metadata } of made) {
    assert.match(metadata.name!, /^counted-[a-z0-9]{5}$/)
    const { uid } = set.metadata
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'counted', uid }
    assert.deepEqual(metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }])
  }
  await setReady(server.client, made[0]!)
  const told = await untilObject(server.client, kinds.ReplicaSet, {
    name: 'counted',
    wanted: ({ status }) => status?.readyReplicas === 1,
  })
  const counts = { replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 1, availableReplicas: 1 }
  assert.deepEqual(told.status, { ...counts, observedGeneration: 1 })
  // The ready pod remains. Of the other pods, the one with the lower deletion cost is deleted.
  const annotations = { 'controller.orch.io/pod-deletion-cost': '-1' }
  const patch = { merge: { metadata: { annotations } } }
  await server.client.patch(kinds.Pod, { namespace, name: made[2]!.metadata.name! }, { patch })
  await scale('counted', 2)
  assert.deepEqual(namesOf(await untilPods(server.client, 'counted', 2)), namesOf(made.slice(0, 2)))
  await scale('counted', 0)
  await untilPods(server.client, 'counted', 0)
})

test('a ReplicaSet does not control pods in another namespace', async () => {
  const { apiVersion, kind, metadata } = await makeSet('copied', 1)
  const owner = { apiVersion, kind, name: 'copied', uid: metadata.uid!, controller: true }
  await server.client.create(kinds.Pod, {
    metadata: { name: 'foreign', namespace: 'kube-system', labels: { app: 'copied' }, ownerReferences: [owner] },
    spec: template('copied').spec,
  } as never)
  server.run(['replicaset'])
  await untilPods(server.client, 'copied', 1)
  await scale('copied', 0)
  await untilPods(server.client, 'copied', 0)
  await server.client.get(kinds.Pod, { namespace: 'kube-system', name: 'foreign' })
})

test('a ReplicaSet replaces terminated and deleted pods', async () => {
  server.run(['replicaset'])
  await makeSet('replaced', 2)
  const [first, second] = await untilPods(server.client, 'replaced', 2)
  await server.client.delete(kinds.Pod, { namespace, name: first!.metadata.name! })
  const patch = { merge: { status: { phase: 'Failed' } } }
  await server.client.patch(kinds.Pod, { namespace, name: second!.metadata.name! }, { patch, subresource: 'status' })
  await untilPods(server.client, 'replaced', 3)
  await untilObject(server.client, kinds.ReplicaSet, {
    name: 'replaced',
    wanted: ({ status }) => status?.replicas === 2,
  })
})

test('a ReplicaSet adopts orphaned pods, and releases and replaces pods that no longer match', async () => {
  const orphan = { metadata: { name: 'orphan', namespace, labels: { app: 'adopting' } }, spec: template('x').spec }
  await server.client.create(kinds.Pod, orphan)
  server.run(['replicaset'])
  const set = await makeSet('adopting', 1)
  await untilTrue(async () => namesOf(await podsOf(server.client, set)).includes('orphan'))
  assert.equal((await untilPods(server.client, 'adopting', 1)).length, 1)
  const patch = { merge: { metadata: { labels: { app: 'other' } } } }
  await server.client.patch(kinds.Pod, { namespace, name: 'orphan' }, { patch })
  await untilPods(server.client, 'adopting', 1)
  await untilTrue(async () => {
    const { metadata } = await server.client.get(kinds.Pod, { namespace, name: 'orphan' })
    return metadata.ownerReferences === undefined
  })
  // A surplus pod is adopted and then deleted like any other pod.
  await server.client.create(kinds.Pod, { ...orphan, metadata: { ...orphan.metadata, name: 'late' } })
  await untilPods(server.client, 'adopting', 1)
})

const quotas: ResourceType = { group: '', version: 'v1', plural: 'resourcequotas', namespaced: true }

test('a ReplicaSet reports an exhausted quota in an Event and a condition, and retries only a few times', async () => {
  const events: ResourceType = { ...quotas, plural: 'events' }
  const where = 'tight'
  const namespaceType: ResourceType = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
  await server.client.create(namespaceType, { metadata: { name: where } })
  await server.client.create(quotas, { metadata: { name: 'q', namespace: where }, spec: { hard: { pods: '2' } } })
  let attempts = 0
  server.run(['replicaset', 'resourcequota'], {
    through: (send) => async (request) => {
      if (request.method === 'POST' && request.path.endsWith('/pods')) attempts++
      return await send(request)
    },
  })
  const { client } = server
  await until(
    async () => await client.get(quotas, { namespace: where, name: 'q' }),
    ({ status }) => (status as { used?: object } | undefined)?.used !== undefined,
  )
  const spec = { replicas: 500, selector: selector('many'), template: template('many') }
  await client.create(kinds.ReplicaSet, { metadata: { name: 'many', namespace: where }, spec })
  const told = await until(
    async () => await client.get(kinds.ReplicaSet, { namespace: where, name: 'many' }),
    ({ status }) => status?.replicas === 2 && (status.conditions ?? []).length === 1,
  )
  const [condition] = told.status!.conditions!
  assert.equal(condition?.type, 'ReplicaFailure')
  assert.equal(condition?.reason, 'FailedCreate')
  assert.match(condition?.message ?? '', /exceeded quota: q/)
  await untilTrue(async () =>
    (await client.list(events, { namespace: where })).items.some(({ reason }) => reason === 'FailedCreate'),
  )
  assert.ok(attempts < 30, `${attempts} attempts`)
  await client.patch(
    kinds.ReplicaSet,
    { namespace: where, name: 'many' },
    { patch: { merge: { spec: { replicas: 5 } } } },
  )
  await client.delete(quotas, { namespace: where, name: 'q' })
  const healed = await until(
    async () => await client.get(kinds.ReplicaSet, { namespace: where, name: 'many' }),
    ({ status }) => status?.replicas === 5 && status.conditions === undefined,
  )
  assert.equal(healed.status?.fullyLabeledReplicas, 5)
})

test('a ReplicaSet never creates or deletes a pod twice while the watch lags', async () => {
  const lag = laggingWatch()
  const writes: string[] = []
  server.run(['replicaset'], {
    through: (send) =>
      lag.through(async (request) => {
        if (/\/pods(\/[^/]*)?$/.test(request.path)) writes.push(request.method)
        return await send(request)
      }),
  })
  await makeSet('slow', 0)
  await untilObject(server.client, kinds.ReplicaSet, {
    name: 'slow',
    wanted: ({ status }) => status?.observedGeneration === 1,
  })
  lag.close()
  await scale('slow', 3)
  const pods = await untilPods(server.client, 'slow', 3)
  // Each change to the set triggers a reconcile step. Because the watch lags, that step does not see the new pods yet.
  for (const n of ['1', '2', '3']) {
    const patch = { merge: { spec: { minReadySeconds: Number(n) } } }
    const { metadata } = await server.client.patch(kinds.ReplicaSet, { namespace, name: 'slow' }, { patch })
    await untilObject(server.client, kinds.ReplicaSet, {
      name: 'slow',
      wanted: ({ status }) => status?.observedGeneration === metadata.generation,
    })
  }
  // Only pods that the watch has delivered count as ready.
  for (const pod of pods) await setReady(server.client, pod)
  lag.open()
  await untilObject(server.client, kinds.ReplicaSet, {
    name: 'slow',
    wanted: ({ status }) => status?.readyReplicas === 3,
  })
  assert.deepEqual(writes, ['POST', 'POST', 'POST'])
  lag.close()
  await scale('slow', 1)
  await untilPods(server.client, 'slow', 1)
  await scale('slow', 2)
  lag.open()
  await untilPods(server.client, 'slow', 2)
  assert.deepEqual(writes.slice(3).sort(), ['DELETE', 'DELETE', 'POST'])
})

test('the status of a ReplicaSet counts the pods that the ReplicaSet has created even while the watch lags', async () => {
  const lag = laggingWatch()
  server.run(['replicaset'], { through: lag.through })
  await makeSet('unseen', 0)
  const countsAt = async (generation: number) => {
    const wanted = ({ status }: ReplicaSet) => status?.observedGeneration === generation
    const { status } = await untilObject(server.client, kinds.ReplicaSet, { name: 'unseen', wanted })
    return [status?.replicas, status?.fullyLabeledReplicas, status?.readyReplicas ?? 0]
  }
  await countsAt(1)
  lag.close()
  try {
    await scale('unseen', 3)
    assert.deepEqual(await countsAt(2), [3, 3, 0])
    await scale('unseen', 1)
    assert.deepEqual(await countsAt(3), [3, 3, 0])
  } finally {
    lag.open()
  }
  await untilPods(server.client, 'unseen', 1)
  await untilObject(server.client, kinds.ReplicaSet, { name: 'unseen', wanted: ({ status }) => status?.replicas === 1 })
})

test('if the manager is killed during any write, the next manager finishes scaling a ReplicaSet', async () => {
  const ways = deaths(4)
  for (const [i, death] of (long ? ways : [ways[4]!]).entries()) {
    const app = `killed-${i}`
    const first = server.run(['replicaset'], { death })
    await makeSet(app, 3)
    await (first as unknown as { killed: Promise<void> }).killed
    await server.end()
    server.run(['replicaset'])
    await untilObject(server.client, kinds.ReplicaSet, { name: app, wanted: ({ status }) => status?.replicas === 3 })
    assert.equal((await untilPods(server.client, app, 3)).length, 3)
    await server.end()
  }
})

test('pods of a ReplicaSet become available after minReadySeconds', async () => {
  let now = Date.parse('2030-01-01T00:00:00Z')
  server.run(['replicaset'], { clock: { now: () => now, monotonic: () => now } })
  await makeSet('patient', 1, { minReadySeconds: 30 })
  const [made] = await untilPods(server.client, 'patient', 1)
  await setReady(server.client, made!, now)
  const ready = await untilObject(server.client, kinds.ReplicaSet, {
    name: 'patient',
    wanted: ({ status }) => status?.readyReplicas === 1,
  })
  assert.equal(ready.status?.availableReplicas, undefined)
  now += 30_000
  await scale('patient', 1)
  await server.client.patch(
    kinds.ReplicaSet,
    { namespace, name: 'patient' },
    { patch: { merge: { metadata: { labels: { looked: 'again' } } } } },
  )
  await untilObject(server.client, kinds.ReplicaSet, {
    name: 'patient',
    wanted: ({ status }) => status?.availableReplicas === 1,
  })
})

test('ReplicationControllers behave like ReplicaSets', async () => {
  server.run(['replicationcontroller'])
  const spec = { replicas: 2, selector: { app: 'older' }, template: template('older') }
  const made = await server.client.create(kinds.ReplicationController, { metadata: { name: 'older', namespace }, spec })
  await untilPods(server.client, 'older', 2)
  assert.equal((await podsOf(server.client, made)).length, 2)
  await untilObject(server.client, kinds.ReplicationController, {
    name: 'older',
    wanted: ({ status }) => status?.replicas === 2 && status.observedGeneration === 1,
  })
})
