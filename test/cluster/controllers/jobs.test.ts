/** Tests Jobs: completions, failures, indexes, suspension and deadlines. The tests end pods by writing their status. */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { Job } from '../../../src/api/kinds/batch/job.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { IndexSet } from '../../../src/cluster/controllers/jobs/index-set.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
let server: LoopServer
let nowMs = 0
const clock = { now: () => systemClock.now() + nowMs, monotonic: systemClock.monotonic }
const run = (options = {}) => server.run(['job'], { clock, ...options })

before(async () => {
  server = await loopServer(owner, ['--disable-admission-plugins=ServiceAccount'])
})
afterEach(async () => {
  await server.end()
})

async function makeJob(name: string, spec: object = {}, restartPolicy = 'Never'): Promise<void> {
  const template = {
    spec: { restartPolicy, containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 },
  }
  const object = { metadata: { name, namespace }, spec: { template, ...spec } }
  await server.client.create(kinds.Job, object as never)
}

async function podsOf(job: string): Promise<Pod[]> {
  return (await server.client.list(kinds.Pod, { namespace, labelSelector: `job-name=${job}` })).items
}

async function untilPods(job: string, wanted: (found: Pod[]) => boolean): Promise<Pod[]> {
  return await until(() => podsOf(job), wanted)
}

const isActive = ({ status }: Pod) => status?.phase === 'Pending' || status?.phase === 'Running'

async function end(pod: Pod, phase = 'Succeeded'): Promise<void> {
  const { name = '' } = pod.metadata
  await server.client.patch(
    kinds.Pod,
    { namespace, name },
    { patch: { merge: { status: { phase } } }, subresource: 'status' },
  )
}

async function untilJob(name: string, wanted: (job: Job) => boolean): Promise<Job> {
  return await until(() => server.client.get(kinds.Job, { namespace, name }), wanted)
}

const has =
  (type: string, status = 'True') =>
  (job: Job) =>
    job.status?.conditions?.some((each) => each.type === type && each.status === status) ?? false

/** Changes the Job, so that the loop reconciles it with the current clock. */
async function touch(name: string): Promise<void> {
  const patch = { merge: { metadata: { annotations: { at: String(nowMs) } } } }
  await server.client.patch(kinds.Job, { namespace, name }, { patch })
}

test('a Job runs the requested completions within the limit of its parallelism', async () => {
  run()
  await makeJob('five', { completions: 5, parallelism: 2 })
  const made = new Set<string>()
  for (let done = 0; done < 5; done++) {
    const wanted = Math.min(2, 5 - done)
    const found = await untilPods('five', (all) => all.filter(isActive).length === wanted)
    for (const { metadata } of found) made.add(metadata.name!)
    assert.equal(found.length, done + wanted)
    assert.equal(found[0]?.metadata.ownerReferences?.[0]?.kind, 'Job')
    await end(found.find(isActive)!)
  }
  const { status } = await untilJob('five', has('Complete'))
  assert.deepEqual([status?.succeeded, status?.active ?? 0, status?.failed ?? 0], [5, 0, 0])
  assert.ok(status?.completionTime !== undefined && status.startTime !== undefined)
  assert.equal(made.size, 5)
  assert.equal((await podsOf('five')).length, 5)
})

test('a Job without completions is complete after one success, and its active pods may finish', async () => {
  run()
  await makeJob('queue', { parallelism: 2 })
  const [first, second] = await untilPods('queue', (all) => all.length === 2)
  await end(first!)
  await untilJob('queue', ({ status }) => status?.succeeded === 1)
  assert.equal((await podsOf('queue')).length, 2)
  await end(second!, 'Failed')
  const { status } = await untilJob('queue', has('Complete'))
  assert.deepEqual([status?.succeeded, status?.failed], [1, 1])
})

test('a Job creates no duplicate pod while the watch lags', async (t) => {
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  const slowPods =
    (send: Transport): Transport =>
    async (request) => {
      const answer = await send(request)
      if (!request.path.includes('/pods') || !request.path.includes('watch=')) return answer
      const late = async function* () {
        for await (const chunk of answer.body) {
          await gate.promise
          yield chunk
        }
      }
      return { ...answer, body: late() }
    }
  run({ through: slowPods })
  await makeJob('slow', { completions: 3, parallelism: 3 })
  await untilJob('slow', ({ status }) => status?.active === 3)
  for (const value of ['1', '2', '3']) {
    const patch = { merge: { metadata: { annotations: { value } } } }
    await server.client.patch(kinds.Job, { namespace, name: 'slow' }, { patch })
  }
  await makeJob('after-slow', { parallelism: 0 })
  await untilJob('after-slow', ({ status }) => status?.startTime !== undefined)
  assert.equal((await podsOf('slow')).length, 3)
  gate.resolve()
  for (const pod of await podsOf('slow')) await end(pod)
  await untilJob('slow', has('Complete'))
  assert.equal((await podsOf('slow')).length, 3)
})

test('each index of an Indexed Job runs until it succeeds, and the pod receives the index', async () => {
  run()
  await makeJob('numbered', { completions: 4, parallelism: 4, completionMode: 'Indexed' })
  const key = 'batch.orch.io/job-completion-index'
  const indexOf = ({ metadata }: Pod) => metadata.annotations?.[key]
  const all = await untilPods('numbered', (found) => found.length === 4)
  assert.deepEqual(all.map(indexOf).sort(), ['0', '1', '2', '3'])
  const second = all.find((pod) => indexOf(pod) === '1')!
  assert.match(second.metadata.name!, /^numbered-1-[a-z0-9]{5}$/)
  assert.equal(second.spec?.hostname, 'numbered-1')
  const [variable] = second.spec?.containers?.[0]?.env ?? []
  assert.deepEqual(variable?.valueFrom?.fieldRef?.fieldPath, `metadata.annotations['${key}']`)
  await end(second, 'Failed')
  const [again] = (await untilPods('numbered', (found) => found.length === 5)).filter(
    (pod) => isActive(pod) && indexOf(pod) === '1',
  )
  for (const pod of all) if (pod !== second && indexOf(pod) !== '3') await end(pod)
  await untilJob('numbered', ({ status }) => status?.completedIndexes === '0,2')
  await end(again!)
  await end(all.find((pod) => indexOf(pod) === '3')!)
  const { status } = await untilJob('numbered', has('Complete'))
  assert.deepEqual([status?.completedIndexes, status?.succeeded, status?.failed], ['0-3', 4, 1])
})

test('three or more consecutive indexes in an index set are formatted as a range', () => {
  for (const [indexes, text] of [
    [[7, 3, 4, 5, 1], '1,3-5,7'],
    [[1, 2], '1,2'],
    [[], ''],
  ] as const)
    assert.equal(IndexSet.of(indexes).toString(), text)
})

test('an index set of two billion indexes is counted, searched and completed immediately', () => {
  const most = IndexSet.parse('0,2-4,x,9-7,6-2147483647', 2_147_483_647)
  assert.deepEqual([most.size, most.has(3), most.has(5), most.has(2_147_483_646)], [2_147_483_645, true, false, true])
  assert.deepEqual(most.missing(2_147_483_647, 9), [1, 5])
  assert.equal(most.countCommon(IndexSet.parse('4-7,100', 1000)), 4)
  assert.equal(most.union(IndexSet.of([5])).toString(), '0,2-2147483646')
})

test('a Job retries failures with a growing backoff, and fails after too many failures', async () => {
  run()
  nowMs = 0
  await makeJob('failing', { backoffLimit: 2 })
  const [first] = await untilPods('failing', (found) => found.length === 1)
  await end(first!, 'Failed')
  // The loop replaces the first failed pod immediately.
  const second = (await untilPods('failing', (found) => found.length === 2)).find(isActive)
  await end(second!, 'Failed')
  await untilJob('failing', ({ status }) => status?.failed === 2)
  assert.equal((await podsOf('failing')).length, 2, 'the second is not, before its time')
  nowMs += 10_000
  await touch('failing')
  const third = (await untilPods('failing', (found) => found.length === 3)).find(isActive)
  await end(third!, 'Failed')
  const { status } = await untilJob('failing', has('Failed'))
  const condition = status?.conditions?.find(({ type }) => type === 'Failed')
  assert.equal(condition?.reason, 'BackoffLimitExceeded')
  assert.deepEqual([status?.failed, status?.active ?? 0], [3, 0])
  assert.equal((await podsOf('failing')).length, 3)
})

test('container restarts of a Job count toward the backoff limit if the restart policy is OnFailure', async () => {
  run()
  await makeJob('restarting', { backoffLimit: 2, parallelism: 2 }, 'OnFailure')
  const [first] = await untilPods('restarting', (found) => found.length === 2)
  const containerStatuses = [{ name: 'c', restartCount: 2, ready: false, image: 'i', imageID: '' }]
  const patch = { merge: { status: { phase: 'Running', containerStatuses } } }
  await server.client.patch(kinds.Pod, { namespace, name: first!.metadata.name! }, { patch, subresource: 'status' })
  const { status } = await untilJob('restarting', has('Failed'))
  assert.equal(status?.conditions?.[0]?.reason, 'BackoffLimitExceeded')
  await untilPods('restarting', (found) => found.length === 0)
})

test('a Job that exceeds its deadline fails, and its pods are deleted', async () => {
  run()
  nowMs = 0
  await makeJob('late', { activeDeadlineSeconds: 60 })
  await untilJob('late', ({ status }) => status?.active === 1)
  nowMs += 61_000
  await touch('late')
  const { status } = await untilJob('late', has('Failed'))
  assert.equal(status?.conditions?.[0]?.reason, 'DeadlineExceeded')
  assert.equal(status?.failed, 1)
  await untilPods('late', (found) => found.length === 0)
})

test('a suspended Job has no pods, and resuming it resets its start time', async () => {
  run()
  nowMs = 0
  await makeJob('pausing', { suspend: true })
  const { status } = await untilJob('pausing', has('Suspended'))
  assert.deepEqual([status?.startTime, (await podsOf('pausing')).length], [undefined, 0])
  const suspend = (value: boolean) =>
    server.client.patch(kinds.Job, { namespace, name: 'pausing' }, { patch: { merge: { spec: { suspend: value } } } })
  await suspend(false)
  await untilPods('pausing', (found) => found.length === 1)
  const started = await untilJob('pausing', (job) => has('Suspended', 'False')(job) && job.status?.active === 1)
  await suspend(true)
  await untilPods('pausing', (found) => found.length === 0)
  const paused = await untilJob('pausing', has('Suspended'))
  assert.equal(paused.status?.failed ?? 0, 0, 'pods that were taken away have not failed')
  nowMs += 5_000
  await suspend(false)
  const again = await untilJob('pausing', (job) => has('Suspended', 'False')(job) && job.status?.active === 1)
  assert.ok(Date.parse(again.status!.startTime!) > Date.parse(started.status!.startTime!))
})

test('a Job adopts matching orphan pods and deletes surplus pods', async () => {
  run()
  const labels = { run: 'adopting' }
  const template = { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
  await server.client.create(kinds.Pod, {
    metadata: { name: 'orphan', namespace, labels },
    spec: template.spec,
  } as never)
  const spec = { manualSelector: true, selector: { matchLabels: labels }, template, parallelism: 2, completions: 9 }
  await server.client.create(kinds.Job, { metadata: { name: 'adopting', namespace }, spec } as never)
  const find = async () => (await server.client.list(kinds.Pod, { namespace, labelSelector: 'run=adopting' })).items
  // The loop may create the second pod before it has adopted the first.
  const ownersOf = async () => (await find()).map(({ metadata }) => metadata.ownerReferences?.[0]?.name).join()
  await until(ownersOf, (owners) => owners === 'adopting,adopting')
  const patch = { merge: { spec: { parallelism: 1 } } }
  await server.client.patch(kinds.Job, { namespace, name: 'adopting' }, { patch })
  await until(find, (all) => all.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length === 1)
})

test('a Job never creates a pod twice if the manager is killed during any write', async () => {
  for (const [i, death] of deaths(long ? 4 : 1).entries()) {
    const name = `killed-${i}`
    await makeJob(name, { completions: 2, parallelism: 2 })
    await server.run(['job'], { clock, death }).killed
    await server.end()
    run()
    for (const pod of await untilPods(name, (found) => found.length === 2)) await end(pod)
    await untilJob(name, has('Complete'))
    assert.equal((await podsOf(name)).length, 2)
    await server.end()
  }
})
