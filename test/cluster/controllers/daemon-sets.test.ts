/** Tests DaemonSets: one pod per eligible node, update limits, revisions and failed pods. */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { DaemonSet } from '../../../src/api/kinds/apps/daemon-set.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer, type Manager } from '../../support/loop-manager.ts'
import { until, untilTrue } from '../../support/until.ts'
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

const loops = ['daemonset']
const owner = endOfFile()
let server: LoopServer
let readying = new AbortController()

before(async () => {
  server = await loopServer(owner, withoutAccounts)
  for (const name of ['n1', 'n2', 'n3']) await makeNode(name, { pool: 'all' })
})
afterEach(async () => {
  readying.abort()
  readying = new AbortController()
  await server.end()
  for (const { metadata } of (await server.client.list(kinds.DaemonSet, { namespace })).items)
    await server.client.delete(kinds.DaemonSet, { namespace, name: metadata.name! })
})

async function makeNode(name: string, labels: object, taints: readonly object[] = []): Promise<void> {
  await server.client.create(kinds.Node, { metadata: { name, labels: { ...labels } }, spec: { taints: [...taints] } })
}

async function make(name: string, spec: object = {}): Promise<DaemonSet> {
  const whole = { selector: selector(name), template: template(name), ...spec }
  return await server.client.create(kinds.DaemonSet, { metadata: { name, namespace }, spec: whole })
}

async function change(name: string, spec: object): Promise<void> {
  await server.client.patch(kinds.DaemonSet, { namespace, name }, { patch: { merge: { spec } } })
}

async function settled(
  name: string,
  wanted: (status: NonNullable<DaemonSet['status']>) => boolean,
): Promise<DaemonSet> {
  return await untilObject(server.client, kinds.DaemonSet, {
    name,
    wanted: ({ metadata, status = {} }) => status.observedGeneration === metadata.generation && wanted(status),
  })
}

function nodeOf({ spec }: Pod): string | undefined {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required?.nodeSelectorTerms?.[0]?.matchFields?.[0]?.values?.[0]
}

const imageOf = ({ spec }: Pod) => spec?.containers?.[0]?.image
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
const list = async (app: string) =>
  (await server.client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })).items

test('every eligible node gets a daemon pod, and a node that is no longer eligible loses the pod', async () => {
  void makeAllReady(server.client, readying.signal)
  server.run(loops)
  await makeNode('tainted', { pool: 'all' }, [{ key: 'k', value: 'v', effect: 'NoSchedule' }])
  await makeNode('tired', { pool: 'all' }, [{ key: 'node.orch.io/memory-pressure', effect: 'NoSchedule' }])
  await makeNode('other', { pool: 'other' })
  const spec = { ...template('fits').spec, nodeSelector: { pool: 'all' } }
  await make('fits', { template: { ...template('fits'), spec } })
  const made = await untilPods(server.client, 'fits', 4)
  assert.deepEqual(made.map(nodeOf).sort(), ['n1', 'n2', 'n3', 'tired'])
  const [{ spec: madeSpec, metadata }] = made as [Pod]
  assert.ok(
    madeSpec?.tolerations?.some(({ key, effect }) => key === 'node.orch.io/not-ready' && effect === 'NoExecute'),
  )
  assert.match(metadata.labels?.['controller-revision-hash'] ?? '', /^[a-z0-9]+$/)
  const whole = await settled('fits', ({ numberAvailable }) => numberAvailable === 4)
  assert.equal(whole.status?.desiredNumberScheduled, 4)
  assert.equal(whole.status?.updatedNumberScheduled, 4)
  const relabel = (name: string, pool: string) =>
    server.client.patch(kinds.Node, { name }, { patch: { merge: { metadata: { labels: { pool } } } } })
  await relabel('other', 'all')
  await relabel('n1', 'none')
  await untilTrue(async () => (await list('fits')).map(nodeOf).sort().join() === 'n2,n3,other,tired')
  // A NoSchedule taint does not affect existing pods.
  const taints = [{ key: 'k', effect: 'NoSchedule' }]
  await server.client.patch(kinds.Node, { name: 'n2' }, { patch: { merge: { spec: { taints } } } })
  await settled('fits', ({ desiredNumberScheduled, numberMisscheduled }) => {
    return desiredNumberScheduled === 3 && numberMisscheduled === 1
  })
  const driving = [{ key: 'k', effect: 'NoExecute' }]
  await server.client.patch(kinds.Node, { name: 'n2' }, { patch: { merge: { spec: { taints: driving } } } })
  await untilTrue(async () => (await list('fits')).map(nodeOf).sort().join() === 'n3,other,tired')
  // If a pod is waiting for a node, deleting the node also causes the pod to be deleted.
  await server.client.delete(kinds.Node, { name: 'other' })
  await untilTrue(async () => (await list('fits')).map(nodeOf).sort().join() === 'n3,tired')
  for (const name of ['tainted', 'tired']) await server.client.delete(kinds.Node, { name })
  await relabel('n1', 'all')
  await server.client.patch(kinds.Node, { name: 'n2' }, { patch: { merge: { spec: { taints: null } } } })
})

/** Rolls out a change. Returns the minimum number of ready pods and the maximum number of pods over all events. */
async function rolledOut(app: string): Promise<{ readonly least: number; readonly most: number }> {
  const seen = { least: 3, most: 0 }
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
      seen.least = Math.min(seen.least, [...all.values()].filter(isReady).length)
      seen.most = Math.max(seen.most, all.size)
    }
  }
  const running = watching().catch(() => {})
  await change(app, { template: template(app, 'two') })
  await settled(
    app,
    ({ updatedNumberScheduled, numberAvailable }) => updatedNumberScheduled === 3 && numberAvailable === 3,
  )
  await untilTrue(async () => (await list(app)).every((pod) => imageOf(pod) === 'two'))
  ended.abort()
  await running
  return seen
}

test('a rolling update of a DaemonSet never exceeds maxUnavailable or maxSurge', async () => {
  void makeAllReady(server.client, readying.signal)
  server.run(loops)
  await make('replaced')
  await settled('replaced', ({ numberAvailable }) => numberAvailable === 3)
  assert.deepEqual(await rolledOut('replaced'), { least: 2, most: 3 })
  await make('surging', {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  })
  await settled('surging', ({ numberAvailable }) => numberAvailable === 3)
  assert.deepEqual(await rolledOut('surging'), { least: 3, most: 4 })
  const { items } = await server.client.list(kinds.ControllerRevision, { namespace, labelSelector: 'app=surging' })
  assert.deepEqual(items.map(({ revision }) => revision).sort(), [1, 2])
})

test('DaemonSet revisions have the same bytes as revisions written by Go programs, and revisions from earlier versions still match', async () => {
  void makeAllReady(server.client, readying.signal)
  server.run(loops)
  const revisionsOf = async (app: string) =>
    (await server.client.list(kinds.ControllerRevision, { namespace, labelSelector: `app=${app}` })).items
  await make('noted')
  await settled('noted', ({ numberAvailable }) => numberAvailable === 3)
  const text = JSON.stringify((await revisionsOf('noted'))[0]?.data)
  assert.ok(
    text.startsWith('{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{'),
    text,
  )
  const earlier = JSON.parse(text.replaceAll('noted', 'earlier').replace('"creationTimestamp":null,', ''))
  const labels = { app: 'earlier', 'controller-revision-hash': 'before' }
  await server.client.create(kinds.ControllerRevision, {
    metadata: { namespace, name: 'earlier-before', labels },
    data: earlier,
    revision: 1,
  })
  await make('earlier')
  await settled('earlier', ({ numberAvailable }) => numberAvailable === 3)
  assert.deepEqual(
    (await revisionsOf('earlier')).map(({ metadata }) => metadata.name),
    ['earlier-before'],
  )
})

test('with OnDelete, a DaemonSet replaces pods after they are deleted, and failed pods after a backoff', async () => {
  let now = Date.parse('2030-01-01T00:00:00Z')
  const clock = { now: () => now, monotonic: () => now }
  server.run(loops, { clock })
  await make('manual', { updateStrategy: { type: 'OnDelete' } })
  const [first, second] = await untilPods(server.client, 'manual', 3)
  await change('manual', { template: template('manual', 'two') })
  await settled('manual', ({ updatedNumberScheduled = 0 }) => updatedNumberScheduled === 0)
  await server.client.delete(kinds.Pod, { namespace, name: first!.metadata.name! })
  await settled('manual', ({ updatedNumberScheduled }) => updatedNumberScheduled === 1)
  const fail = async (name: string) => {
    const patch = { merge: { status: { phase: 'Failed' } } }
    await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
  }
  await fail(second!.metadata.name!)
  await settled('manual', ({ updatedNumberScheduled }) => updatedNumberScheduled === 2)
  const next = (await list('manual')).find((pod) => nodeOf(pod) === nodeOf(second!))!
  await fail(next.metadata.name!)
  await setReady(server.client, (await list('manual')).find((pod) => nodeOf(pod) !== nodeOf(second!))!, now)
  await settled('manual', ({ numberReady }) => numberReady === 1)
  assert.ok((await list('manual')).some(({ metadata }) => metadata.name === next.metadata.name))
  now += 1000
  await change('manual', { minReadySeconds: 1 })
  await untilTrue(async () => !(await list('manual')).some(({ metadata }) => metadata.name === next.metadata.name))
})

test('no daemon pod is created twice, even if the watch lags or the manager is killed', async () => {
  const lag = laggingWatch()
  let created = 0
  server.run(loops, {
    through: (send) =>
      lag.through(async (request) => {
        if (request.method === 'POST' && request.path.endsWith('/pods')) created++
        return await send(request)
      }),
  })
  await make('slow', {
    template: { ...template('slow'), spec: { ...template('slow').spec, nodeSelector: { no: 'node' } } },
  })
  await settled('slow', () => true)
  lag.close()
  await change('slow', { template: { spec: { nodeSelector: { no: null } } } })
  await untilPods(server.client, 'slow', 3)
  for (const minReadySeconds of [1, 2]) await change('slow', { minReadySeconds })
  lag.open()
  await settled('slow', ({ currentNumberScheduled }) => currentNumberScheduled === 3)
  assert.equal(created, 3)
  await server.end()
  const ways = deaths(5)
  for (const [i, death] of (long ? ways : [ways[6]!]).entries()) {
    const name = `killed-${i}`
    const dying = server.run(loops, { death }) as Manager
    await make(name)
    await dying.killed
    await server.end()
    server.run(loops)
    await settled(name, ({ currentNumberScheduled }) => currentNumberScheduled === 3)
    assert.deepEqual(
      (
        await until(
          () => list(name),
          ({ length }) => length === 3,
        )
      )
        .map(nodeOf)
        .sort(),
      ['n1', 'n2', 'n3'],
    )
    await server.end()
    await server.client.delete(kinds.DaemonSet, { namespace, name })
  }
})
