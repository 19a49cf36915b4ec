/**
 * Tests StatefulSets: ordered pods with stable names and claims, partitioned updates, revisions and their history.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { StatefulSet } from '../../../src/api/kinds/apps/stateful-set.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer, type Manager } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'
import {
  laggingWatch,
  makeAllReady,
  namespace,
  selector,
  setReady,
  template,
  untilObject,
  untilPods,
  withoutAccounts,
} from '../../support/workloads.ts'

const loops = ['statefulset']
const owner = endOfFile()
let server: LoopServer
let readying = new AbortController()

before(async () => {
  server = await loopServer(owner, withoutAccounts)
})
afterEach(async () => {
  readying.abort()
  readying = new AbortController()
  await server.end()
})

function nodesReady(): void {
  void makeAllReady(server.client, readying.signal)
}

async function make(name: string, spec: object = {}): Promise<StatefulSet> {
  const whole = { replicas: 3, serviceName: 'web', selector: selector(name), template: template(name), ...spec }
  return await server.client.create(kinds.StatefulSet, { metadata: { name, namespace }, spec: whole })
}

async function change(name: string, spec: object): Promise<void> {
  await server.client.patch(kinds.StatefulSet, { namespace, name }, { patch: { merge: { spec } } })
}

async function settled(name: string, wanted: (status: NonNullable<StatefulSet['status']>) => boolean) {
  return await untilObject(server.client, kinds.StatefulSet, {
    name,
    wanted: ({ metadata, status = {} }) => status.observedGeneration === metadata.generation && wanted(status),
  })
}

const namesOf = (all: readonly Pod[]) => all.map(({ metadata }) => metadata.name).sort()
const imageOf = ({ spec }: Pod) => spec?.containers?.[0]?.image

/** Records the created and deleted pods of an application in order: `+web-0`, `-web-0`. */
async function historyOf(app: string): Promise<{ readonly events: string[]; readonly end: () => Promise<void> }> {
  const events: string[] = []
  const ended = new AbortController()
  const { resourceVersion } = await server.client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })
  const options = { namespace, labelSelector: `app=${app}`, resourceVersion, signal: ended.signal }
  const watching = async () => {
    for await (const event of server.client.watch(kinds.Pod, options)) {
      if (event.type === 'ADDED') events.push(`+${event.object.metadata.name}`)
      if (event.type === 'DELETED') events.push(`-${event.object.metadata.name}`)
    }
  }
  const running = watching().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error
  })
  return {
    events,
    end: async () => {
      ended.abort()
      await running
    },
  }
}

test('a StatefulSet creates pods in order as their predecessors become ready, and deletes them in reverse order', async () => {
  server.run(loops)
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  await make('web', { volumeClaimTemplates: [claim] })
  for (const count of [1, 2, 3]) {
    const there = await untilPods(server.client, 'web', count)
    assert.deepEqual(namesOf(there), ['web-0', 'web-1', 'web-2'].slice(0, count))
    await settled('web', ({ replicas }) => replicas === count)
    await setReady(server.client, there.find(({ metadata }) => metadata.name === `web-${count - 1}`)!)
  }
  const { status } = await settled('web', ({ availableReplicas }) => availableReplicas === 3)
  assert.equal(status?.currentRevision, status?.updateRevision)
  const last = await server.client.get(kinds.Pod, { namespace, name: 'web-2' })
  assert.equal(status?.collisionCount, 0)
  assert.equal(last.metadata.generateName, 'web-')
  assert.equal(last.spec?.hostname, 'web-2')
  assert.equal(last.spec?.subdomain, 'web')
  assert.deepEqual(last.metadata.labels, {
    app: 'web',
    'controller-revision-hash': status?.updateRevision,
    'statefulset.orch.io/pod-name': 'web-2',
  })
  assert.equal(last.spec?.volumes?.find(({ name }) => name === 'data')?.persistentVolumeClaim?.claimName, 'data-web-2')
  const { events, end } = await historyOf('web')
  await change('web', { replicas: 0 })
  await settled('web', ({ replicas = 0 }) => replicas === 0)
  await until(
    async () => events,
    ({ length }) => length === 3,
  )
  await end()
  assert.deepEqual(events, ['-web-2', '-web-1', '-web-0'])
  const remainingClaims = (await server.client.list(kinds.PersistentVolumeClaim, { namespace })).items
  assert.deepEqual(remainingClaims.map(({ metadata }) => metadata.name).sort(), [
    'data-web-0',
    'data-web-1',
    'data-web-2',
  ])
  assert.deepEqual(remainingClaims[0]?.metadata.labels, { app: 'web' })
})

test('a StatefulSet update proceeds from the highest ordinal to the partition and then updates the current revision', async () => {
  nodesReady()
  server.run(loops)
  await make('rolled', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } })
  const first = await settled('rolled', ({ availableReplicas }) => availableReplicas === 3)
  await change('rolled', { template: template('rolled', 'two') })
  const half = await settled(
    'rolled',
    ({ updatedReplicas, readyReplicas }) => updatedReplicas === 1 && readyReplicas === 3,
  )
  assert.equal(half.status?.currentRevision, first.status?.currentRevision)
  assert.equal(half.status?.currentReplicas, 2)
  // A deleted pod below the partition is recreated from the old revision.
  const { uid } = (await server.client.get(kinds.Pod, { namespace, name: 'rolled-0' })).metadata
  await server.client.delete(kinds.Pod, { namespace, name: 'rolled-0' })
  const back = await untilObject(server.client, kinds.Pod, {
    name: 'rolled-0',
    wanted: ({ metadata }) => metadata.uid !== uid,
  })
  assert.equal(imageOf(back), 'one')
  await settled('rolled', ({ readyReplicas, currentReplicas }) => readyReplicas === 3 && currentReplicas === 2)
  const { events, end } = await historyOf('rolled')
  await change('rolled', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } })
  const done = await settled('rolled', ({ currentRevision, updateRevision }) => currentRevision === updateRevision)
  await end()
  assert.deepEqual(events, ['-rolled-1', '+rolled-1', '-rolled-0', '+rolled-0'])
  assert.equal(done.status?.currentReplicas, 3)
})

test('the OnDelete strategy of a StatefulSet replaces pods only after their deletion, and failed pods immediately', async () => {
  nodesReady()
  server.run(loops)
  await make('manual', { replicas: 2, updateStrategy: { type: 'OnDelete' } })
  await settled('manual', ({ availableReplicas }) => availableReplicas === 2)
  await change('manual', { template: template('manual', 'two') })
  await settled('manual', ({ updatedReplicas = 0, currentReplicas }) => updatedReplicas === 0 && currentReplicas === 2)
  await server.client.delete(kinds.Pod, { namespace, name: 'manual-0' })
  await settled('manual', ({ updatedReplicas, readyReplicas }) => updatedReplicas === 1 && readyReplicas === 2)
  const patch = { merge: { status: { phase: 'Failed' } } }
  await server.client.patch(kinds.Pod, { namespace, name: 'manual-1' }, { patch, subresource: 'status' })
  await settled('manual', ({ updatedReplicas, readyReplicas }) => updatedReplicas === 2 && readyReplicas === 2)
})

test('with the Parallel policy, a StatefulSet creates and deletes pods without waiting for other pods', async () => {
  server.run(loops)
  await make('parallel', { podManagementPolicy: 'Parallel' })
  await untilPods(server.client, 'parallel', 3)
  await change('parallel', { replicas: 1 })
  assert.deepEqual(namesOf(await untilPods(server.client, 'parallel', 1)), ['parallel-0'])
})

test('a StatefulSet can be scaled down while a very large replica count is being created', async () => {
  server.run(loops)
  await make('slip', { podManagementPolicy: 'Parallel', replicas: 1_000_000 })
  await untilObject(server.client, kinds.StatefulSet, {
    name: 'slip',
    wanted: ({ status }) => (status?.replicas ?? 0) > 0,
  })
  await change('slip', { replicas: 0 })
  await settled('slip', ({ replicas }) => replicas === 0)
  await untilPods(server.client, 'slip', 0)
})

test('a StatefulSet repairs a pod without its labels and adopts an orphan with a matching name', async () => {
  const metadata = { name: 'lost-0', namespace, labels: { app: 'lost' } }
  await server.client.create(kinds.Pod, { metadata, spec: template('lost').spec })
  server.run(loops)
  const set = await make('lost', { replicas: 1, updateStrategy: { type: 'OnDelete' } })
  await setReady(server.client, await server.client.get(kinds.Pod, { namespace, name: 'lost-0' }))
  const adopted = await untilObject(server.client, kinds.Pod, {
    name: 'lost-0',
    wanted: ({ metadata }) => metadata.labels?.['statefulset.orch.io/pod-name'] === 'lost-0',
  })
  assert.equal(adopted.metadata.ownerReferences?.[0]?.uid, set.metadata.uid)
})

test('StatefulSet revisions that exceed revisionHistoryLimit are deleted, and a rollback gives its revision a new number', async () => {
  nodesReady()
  server.run(loops)
  await make('kept', { replicas: 1, revisionHistoryLimit: 1 })
  const revisions = async () =>
    (await server.client.list(kinds.ControllerRevision, { namespace, labelSelector: 'app=kept' })).items
      .map(({ revision = 0 }) => revision)
      .sort()
  for (const image of ['one', 'two', 'three', 'two']) {
    await change('kept', { template: template('kept', image) })
    await untilObject(server.client, kinds.Pod, { name: 'kept-0', wanted: (pod) => imageOf(pod) === image })
    await settled('kept', ({ currentRevision, updateRevision }) => currentRevision === updateRevision)
  }
  await until(revisions, (latest) => latest.join() === '3,4')
})

test('a StatefulSet never creates a pod or claim twice, even if the watch lags or the manager is killed', async () => {
  const lag = laggingWatch()
  server.run(loops, { through: lag.through })
  lag.close()
  await make('slow', { replicas: 2, podManagementPolicy: 'Parallel' })
  const uids = (all: readonly Pod[]) => all.map(({ metadata }) => metadata.uid).sort()
  const made = uids(await untilPods(server.client, 'slow', 2))
  for (const minReadySeconds of [1, 2]) await change('slow', { minReadySeconds })
  lag.open()
  await settled('slow', ({ replicas }) => replicas === 2)
  assert.deepEqual(uids(await untilPods(server.client, 'slow', 2)), made)
  await server.end()
  nodesReady()
  const ways = deaths(8)
  for (const [i, death] of (long ? ways : [ways[6]!]).entries()) {
    const name = `killed-${i}`
    const dying = server.run(loops, { death }) as Manager
    await make(name, { replicas: 2 })
    await dying.killed
    await server.end()
    server.run(loops)
    await settled(name, ({ availableReplicas }) => availableReplicas === 2)
    const { items } = await server.client.list(kinds.ControllerRevision, { namespace, labelSelector: `app=${name}` })
    assert.equal(items.length, 1)
    await server.end()
  }
})
