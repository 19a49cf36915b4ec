/**
 * Tests Deployments: rollout limits after every event, Recreate, scaling, pausing, deadlines, history and rollback.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { Deployment } from '../../../src/api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../src/api/kinds/apps/replica-set.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { contentHash } from '../../../src/cluster/controllers/workloads/template-hash.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer, type Manager } from '../../support/loop-manager.ts'
import { until, untilTrue } from '../../support/until.ts'
import {
  makeAllReady,
  namespace,
  selector,
  setReady,
  template,
  untilObject,
  withoutAccounts,
} from '../../support/workloads.ts'

const loops = ['deployment', 'replicaset']
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

async function make(name: string, spec: object = {}): Promise<Deployment> {
  const whole = { replicas: 3, selector: selector(name), template: template(name), ...spec }
  return await server.client.create(kinds.Deployment, { metadata: { name, namespace }, spec: whole })
}

async function change(name: string, merge: object): Promise<Deployment> {
  return await server.client.patch(kinds.Deployment, { namespace, name }, { patch: { merge } })
}

const changeTemplate = (name: string, image: string) => change(name, { spec: { template: template(name, image) } })

async function complete(name: string): Promise<Deployment> {
  return await untilObject(server.client, kinds.Deployment, { name, wanted: isComplete })
}

function isComplete({ metadata, spec, status = {} }: Deployment): boolean {
  const wanted = spec?.replicas ?? 0
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status
  const isTold = status.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable') ?? false
  return (
    isTold &&
    observedGeneration >= metadata.generation! &&
    [updatedReplicas, replicas, availableReplicas].every((count) => count === wanted)
  )
}

async function setsOf(name: string): Promise<ReplicaSet[]> {
  const { items } = await server.client.list(kinds.ReplicaSet, { namespace, labelSelector: `app=${name}` })
  return items.sort((a, b) => revisionOf(a) - revisionOf(b))
}

const revisionOf = ({ metadata }: ReplicaSet | Deployment) =>
  Number(metadata.annotations?.['deployment.orch.io/revision'] ?? 0)

const imageOf = ({ spec }: Pod) => spec?.containers?.[0]?.image ?? ''
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')

/** Calls `look` with all pods of an application after each watch event. The returned function ends the watch. */
async function watchPods(app: string, look: (all: readonly Pod[]) => void): Promise<() => Promise<void>> {
  const ended = new AbortController()
  const all = new Map<string, Pod>()
  const { items, resourceVersion } = await server.client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })
  for (const pod of items) all.set(pod.metadata.name!, pod)
  const options = { namespace, labelSelector: `app=${app}`, resourceVersion, signal: ended.signal }
  const watching = async () => {
    for await (const event of server.client.watch(kinds.Pod, options)) {
      if (event.type === 'BOOKMARK') continue
      if (event.type === 'DELETED') all.delete(event.object.metadata.name!)
      else all.set(event.object.metadata.name!, event.object)
      look([...all.values()])
    }
  }
  const running = watching().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error
  })
  return async () => {
    ended.abort()
    await running
  }
}

test('a Deployment rollout never exceeds maxSurge or maxUnavailable', async () => {
  nodesReady()
  server.run(loops)
  const rollingUpdate = { maxSurge: 2, maxUnavailable: 1 }
  await make('rolling', { replicas: 6, strategy: { type: 'RollingUpdate', rollingUpdate } })
  await complete('rolling')
  const seen = { most: 0, least: 6, events: 0 }
  const end = await watchPods('rolling', (all) => {
    seen.events++
    seen.most = Math.max(seen.most, all.length)
    seen.least = Math.min(seen.least, all.filter(isReady).length)
  })
  await changeTemplate('rolling', 'two')
  const done = await complete('rolling')
  await end()
  assert.ok(seen.events >= 12, `${seen.events} events`)
  assert.equal(seen.most, 8)
  assert.ok(seen.least >= 5, `${seen.least} available`)
  assert.equal(revisionOf(done), 2)
  const sets = await setsOf('rolling')
  assert.deepEqual(
    sets.map((set) => [revisionOf(set), set.spec?.replicas]),
    [
      [1, 0],
      [2, 6],
    ],
  )
  for (const { metadata, spec } of sets) {
    const hash = metadata.labels!['pod-template-hash']
    assert.equal(metadata.name, `rolling-${hash}`)
    assert.equal(spec?.selector?.matchLabels?.['pod-template-hash'], hash)
    assert.equal(spec?.template?.metadata?.labels?.['pod-template-hash'], hash)
  }
  const { items } = await server.client.list(kinds.Pod, { namespace, labelSelector: 'app=rolling' })
  assert.ok(items.every((pod) => imageOf(pod) === 'two'))
})

test('a Deployment respects its rollout limits even while ReplicaSets have not reached their desired sizes', async () => {
  server.run(['deployment'])
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } }
  await make('lagging', { replicas: 10, strategy })
  const sizes = async () => (await setsOf('lagging')).map(({ spec }) => spec?.replicas)
  const tell = async (revision: number, counts: { replicas: number; availableReplicas: number }) => {
    const { name = '', generation: observedGeneration } = (await setsOf('lagging'))[revision - 1]!.metadata
    const status = { ...counts, readyReplicas: counts.availableReplicas, observedGeneration }
    await server.client.patch(
      kinds.ReplicaSet,
      { namespace, name },
      { patch: { merge: { status } }, subresource: 'status' },
    )
  }
  await until(sizes, (told) => told.join() === '10')
  await tell(1, { replicas: 10, availableReplicas: 10 })
  await changeTemplate('lagging', 'two')
  // The old ReplicaSet still has ten pods, so no further new pods are allowed.
  await until(sizes, (told) => told.join() === '8,3')
  await tell(2, { replicas: 3, availableReplicas: 1 })
  // Two of the ten available pods are about to be deleted, so one more old pod may be deleted to make room for the new
  // pod.
  await until(sizes, (told) => told.join() === '7,3')
  await tell(1, { replicas: 8, availableReplicas: 8 })
  await until(sizes, (told) => told.join() === '7,5')
})

test('the Recreate strategy never runs old and new pods together', async () => {
  nodesReady()
  server.run(loops)
  await make('again', { strategy: { type: 'Recreate' } })
  await complete('again')
  let together = 0
  const end = await watchPods('again', (all) => {
    if (new Set(all.map(imageOf)).size > 1) together++
  })
  await changeTemplate('again', 'two')
  await complete('again')
  await end()
  assert.equal(together, 0)
})

test('if a Deployment is scaled during a rollout, the change is distributed over its ReplicaSets', async () => {
  server.run(loops)
  const rollingUpdate = { maxSurge: 3, maxUnavailable: 2 }
  await make('spread', { replicas: 10, strategy: { type: 'RollingUpdate', rollingUpdate } })
  const list = async () => (await server.client.list(kinds.Pod, { namespace, labelSelector: 'app=spread' })).items
  for (const pod of await until(list, ({ length }) => length === 10)) await setReady(server.client, pod)
  await complete('spread')
  // The pods of the new template never become ready.
  await changeTemplate('spread', 'two')
  const sizes = async () => (await setsOf('spread')).map(({ spec }) => spec?.replicas)
  await until(sizes, (told) => told.join() === '8,5')
  await change('spread', { spec: { replicas: 15 } })
  await until(sizes, (told) => told.join() === '11,7')
  await change('spread', { spec: { replicas: 0 } })
  await until(sizes, (told) => told.join() === '0,0')
})

test('a paused Deployment is scaled but not rolled out, and ReplicaSets that exceed revisionHistoryLimit are deleted', async () => {
  nodesReady()
  server.run(loops)
  await make('paused', { replicas: 1, revisionHistoryLimit: 1 })
  await complete('paused')
  await change('paused', { spec: { paused: true, replicas: 2, template: template('paused', 'two') } })
  const held = await untilObject(server.client, kinds.Deployment, {
    name: 'paused',
    wanted: ({ status }) => status?.availableReplicas === 2 && status.observedGeneration === 2,
  })
  const progress = held.status?.conditions?.find(({ type }) => type === 'Progressing')
  assert.deepEqual([progress?.status, progress?.reason], ['Unknown', 'DeploymentPaused'])
  assert.equal((await setsOf('paused')).length, 1)
  await change('paused', { spec: { paused: false } })
  await complete('paused')
  for (const image of ['three', 'one']) {
    await changeTemplate('paused', image)
    await complete('paused')
  }
  // Restoring an earlier template reuses its ReplicaSet if the ReplicaSet still exists. Here, the ReplicaSet has been
  // deleted.
  await untilTrue(async () => (await setsOf('paused')).map(revisionOf).join() === '3,4')
  await changeTemplate('paused', 'three')
  await complete('paused')
  const back = (await setsOf('paused')).at(-1)!
  assert.equal(revisionOf(back), 5)
  assert.equal(back.metadata.annotations?.['deployment.orch.io/revision-history'], '3')
})

test('a rollback annotation from the old API rolls a Deployment back', async () => {
  nodesReady()
  server.run(loops)
  await make('back', { replicas: 1 })
  await complete('back')
  await changeTemplate('back', 'two')
  await complete('back')
  const key = 'deprecated.deployment.rollback.to'
  await change('back', { metadata: { annotations: { [key]: '1', cause: 'kept' } } })
  const returned = await untilObject(server.client, kinds.Deployment, {
    name: 'back',
    wanted: (each) => revisionOf(each) === 3 && isComplete(each),
  })
  assert.equal(returned.spec?.template?.spec?.containers?.[0]?.image, 'one')
  assert.deepEqual(returned.spec?.template?.metadata?.labels, { app: 'back' })
  assert.equal(returned.metadata.annotations?.[key], undefined)
})

test('a rollout without progress reports that the deadline is exceeded', async () => {
  let now = Date.parse('2030-01-01T00:00:00Z')
  const clock = { now: () => now, monotonic: () => now }
  server.run(loops, { clock })
  await make('stuck', { replicas: 1, progressDeadlineSeconds: 60 })
  const condition = async () => {
    const { status } = await server.client.get(kinds.Deployment, { namespace, name: 'stuck' })
    return status?.conditions?.find(({ type }) => type === 'Progressing')
  }
  await until(condition, (told) => told?.reason === 'ReplicaSetUpdated')
  await server.end()
  now += 61_000
  server.run(loops, { clock })
  const late = await until(condition, (told) => told?.status === 'False')
  assert.equal(late?.reason, 'ProgressDeadlineExceeded')
})

test('if the name for a ReplicaSet is in use, the Deployment generates another name', async () => {
  const { spec } = await make('taken', { replicas: 1 })
  const name = `taken-${contentHash(spec?.template, undefined)}`
  const other = { replicas: 0, selector: selector('other'), template: template('other') }
  await server.client.create(kinds.ReplicaSet, { metadata: { name, namespace }, spec: other })
  server.run(loops)
  const told = await untilObject(server.client, kinds.Deployment, {
    name: 'taken',
    wanted: ({ status }) => status?.updatedReplicas === 1,
  })
  assert.equal(told.status?.collisionCount, 1)
})

test('a Deployment reports why pods cannot be created', async () => {
  server.run(loops, {
    through: (send) => async (request) =>
      request.method === 'POST' && request.path.endsWith('/pods')
        ? await send({ ...request, body: new TextEncoder().encode('{"metadata":{"name":"UPPER"}}') })
        : await send(request),
  })
  await make('failing', { replicas: 1 })
  await untilObject(server.client, kinds.Deployment, {
    name: 'failing',
    wanted: ({ status }) =>
      status?.conditions?.some(({ type, reason }) => type === 'ReplicaFailure' && reason === 'FailedCreate') ?? false,
  })
})

test('the Deployment revision after a very large revision number is exact', async () => {
  const name = 'large'
  const key = 'deployment.orch.io/revision'
  await server.client.create(kinds.ReplicaSet, {
    metadata: { name, namespace, labels: { app: name }, annotations: { [key]: '3546343826724305832' } },
    spec: { replicas: 0, selector: selector(name), template: template(name, 'old') },
  })
  server.run(loops)
  await make(name, { replicas: 0 })
  await untilObject(server.client, kinds.Deployment, {
    name,
    wanted: ({ metadata }) => metadata.annotations?.[key] === '3546343826724305833',
  })
})

test('if the manager is killed during any write, the next manager completes the rollout of a Deployment', async () => {
  nodesReady()
  const ways = deaths(long ? 24 : 6)
  for (const [i, death] of (long ? ways : [ways[5]!]).entries()) {
    const name = `killed-${i}`
    server.run(loops)
    await make(name, { replicas: 2 })
    await complete(name)
    await server.end()
    await changeTemplate(name, 'two')
    const dying = server.run(loops, { death }) as Manager
    await dying.killed
    await server.end()
    server.run(loops)
    await complete(name)
    assert.deepEqual(
      (await setsOf(name)).map((set) => [revisionOf(set), set.spec?.replicas, set.status?.replicas]),
      [
        [1, 0, 0],
        [2, 2, 2],
      ],
    )
    await server.end()
  }
})
