/**
 * Tests Job features since Kubernetes 1.26: failure and success policies, failures per index, and exact counts. Each
 * pod of such a Job has a finalizer until the Job has counted the pod.
 */

import assert from 'node:assert/strict'
import { afterEach, before, beforeEach, test } from 'node:test'
import type { Job } from '../../../src/api/kinds/batch/job.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { ignoreNotFound } from '../../../src/cluster/controllers/ignore-not-found.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
let server: LoopServer
let shiftMs = 0
const clock = { now: () => systemClock.now() + shiftMs, monotonic: systemClock.monotonic }
const finalizer = 'batch.orch.io/job-tracking'

before(async () => {
  server = await loopServer(owner, ['--disable-admission-plugins=ServiceAccount', '--emulated-version=1.36'])
})
beforeEach(() => {
  shiftMs = 0
  server.run(['job'], { clock })
})
afterEach(async () => {
  await server.end()
})

async function makeJob(name: string, spec: object = {}): Promise<void> {
  const pod = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], nodeName: 'some-node' }
  const object = { metadata: { name, namespace }, spec: { template: { spec: pod }, ...spec } }
  await server.client.create(kinds.Job, object as never)
}

const indexed = (completions: number, spec: object = {}) => ({
  completions,
  parallelism: completions,
  completionMode: 'Indexed',
  ...spec,
})

async function podsOf(job: string): Promise<Pod[]> {
  return (await server.client.list(kinds.Pod, { namespace, labelSelector: `job-name=${job}` })).items
}

const isActive = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'

async function untilActive(job: string, count: number): Promise<Pod[]> {
  return (
    await until(
      () => podsOf(job),
      (pods) => pods.filter(isActive).length === count,
    )
  ).filter(isActive)
}

const indexOf = ({ metadata }: Pod) => Number(metadata.labels?.['batch.orch.io/job-completion-index'])

async function end(pod: Pod, phase: string, exitCode = 0): Promise<void> {
  const { name = '' } = pod.metadata
  const finishedAt = new Date(clock.now()).toISOString()
  const state = { terminated: { exitCode, finishedAt, startedAt: finishedAt } }
  const containerStatuses = [{ name: 'c', state, ready: false, restartCount: 0, image: 'i', imageID: '' }]
  const patch = { merge: { status: { phase, containerStatuses } } }
  await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
}

const fail = (pod: Pod, exitCode = 1) => end(pod, 'Failed', exitCode)
const succeed = (pod: Pod) => end(pod, 'Succeeded')

async function untilJob(name: string, wanted: (job: Job) => boolean): Promise<Job> {
  return await until(() => server.client.get(kinds.Job, { namespace, name }), wanted)
}

const conditionOf = (job: Job, type: string) =>
  job.status?.conditions?.find((each) => each.type === type && each.status === 'True')
const has = (type: string) => (job: Job) => conditionOf(job, type) !== undefined

/** Advances the clock, and changes the Job so that the loop reconciles it again. */
async function later(name: string, ms: number): Promise<void> {
  shiftMs += ms
  const patch = { merge: { metadata: { annotations: { at: String(shiftMs) } } } }
  await server.client.patch(kinds.Job, { namespace, name }, { patch })
}

/** Removes a pod as its node would. */
async function terminate({ metadata: { name = '' } }: Pod): Promise<void> {
  await ignoreNotFound(server.client.delete(kinds.Pod, { namespace, name }, { gracePeriodSeconds: 0 }))
}

test('a successful pod of a Job counts even if it is deleted before the Job finishes', async () => {
  await makeJob('counted', { completions: 2, parallelism: 1 })
  const [first] = await untilActive('counted', 1)
  assert.deepEqual(first!.metadata.finalizers, [finalizer])
  await succeed(first!)
  await untilJob('counted', ({ status }) => status?.succeeded === 1)
  await terminate(first!)
  const [second] = await untilActive('counted', 1)
  await succeed(second!)
  const { status } = await untilJob('counted', has('Complete'))
  assert.deepEqual([status?.succeeded, status?.failed, status?.uncountedTerminatedPods], [2, undefined, {}])
  assert.deepEqual(
    (await podsOf('counted')).map(({ metadata }) => metadata.finalizers),
    [undefined],
  )
})

test('deleting a Job removes the tracking finalizer from its pods, even if they are orphaned', async () => {
  for (const propagationPolicy of ['Background', 'Orphan'] as const) {
    await makeJob('deleted', { completions: 1 })
    const [pod] = await untilActive('deleted', 1)
    await server.client.delete(kinds.Job, { namespace, name: 'deleted' }, { propagationPolicy: 'Background' })
    if (propagationPolicy === 'Orphan') {
      const patch = { merge: { metadata: { ownerReferences: null } } }
      await server.client.patch(kinds.Pod, { namespace, name: pod!.metadata.name! }, { patch })
    }
    await until(
      () => podsOf('deleted'),
      ([left]) => left?.metadata.finalizers === undefined,
    )
    await terminate(pod!)
    assert.deepEqual(await podsOf('deleted'), [])
  }
})

test('depending on exit code and pod condition, the failure policy of a Job ignores a failure, counts it or fails the Job', async () => {
  const rules = [
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
    { action: 'Count', onExitCodes: { operator: 'NotIn', values: [1] } },
  ]
  await makeJob('ruled', { backoffLimit: 5, podFailurePolicy: { rules } })
  const [first] = await untilActive('ruled', 1)
  const conditions = [{ type: 'DisruptionTarget', status: 'True' }]
  const patch = { merge: { status: { phase: 'Failed', conditions } } }
  await server.client.patch(kinds.Pod, { namespace, name: first!.metadata.name! }, { patch, subresource: 'status' })
  const [second] = await untilActive('ruled', 1)
  await fail(second!, 1)
  await untilJob('ruled', ({ status }) => status?.failed === 1)
  await later('ruled', 10_000)
  const [third] = await untilActive('ruled', 1)
  await fail(third!, 42)
  const job = await untilJob('ruled', has('Failed'))
  const { reason, message } = conditionOf(job, 'FailureTarget')!
  assert.equal(reason, 'PodFailurePolicy')
  const { name } = third!.metadata
  assert.equal(message, `Container c for pod default/${name} failed with exit code 42 matching FailJob rule at index 0`)
  assert.equal(job.status?.failed, 2)
})

test('a success policy completes the Job when the leader pod succeeds, and the other pods are deleted', async () => {
  const successPolicy = { rules: [{ succeededIndexes: '1-2' }, { succeededIndexes: '0,2', succeededCount: 1 }] }
  await makeJob('led', indexed(3, { successPolicy }))
  const pods = await untilActive('led', 3)
  await succeed(pods.find((pod) => indexOf(pod) === 1)!)
  await untilJob('led', ({ status }) => status?.completedIndexes === '1')
  await succeed(pods.find((pod) => indexOf(pod) === 0)!)
  const announced = await untilJob('led', has('SuccessCriteriaMet'))
  assert.equal(conditionOf(announced, 'SuccessCriteriaMet')?.message, 'Matched rules at index 1')
  await terminate(pods.find((pod) => indexOf(pod) === 2)!)
  const job = await untilJob('led', has('Complete'))
  assert.equal(conditionOf(job, 'Complete')?.reason, 'SuccessPolicy')
  assert.deepEqual([job.status?.completedIndexes, job.status?.failed], ['0,1', undefined])
})

test('each index of a Job has its own backoff limit, and a Job with failed indexes fails once all indexes have finished', async () => {
  await makeJob('by-index', indexed(2, { backoffLimitPerIndex: 1 }))
  const pods = await untilActive('by-index', 2)
  await fail(pods.find((pod) => indexOf(pod) === 1)!)
  await until(
    () => podsOf('by-index'),
    (all) => all.some(({ status }) => status?.phase === 'Failed'),
  )
  await later('by-index', 11_000)
  const again = (await untilActive('by-index', 2)).find((pod) => indexOf(pod) === 1)!
  assert.equal(again.metadata.annotations?.['batch.orch.io/job-index-failure-count'], '1')
  await fail(again)
  const waiting = await untilJob('by-index', ({ status }) => status?.failedIndexes === '1')
  assert.equal(conditionOf(waiting, 'FailureTarget'), undefined)
  await succeed(pods.find((pod) => indexOf(pod) === 0)!)
  const job = await untilJob('by-index', has('Failed'))
  assert.equal(conditionOf(job, 'Failed')?.reason, 'FailedIndexes')
  assert.deepEqual([job.status?.completedIndexes, job.status?.failedIndexes, job.status?.failed], ['0', '1', 2])
})

test('a failure policy rule can fail one index of a Job immediately, and too many failed indexes fail the Job', async () => {
  const rules = [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [7] } }]
  await makeJob('few', indexed(3, { backoffLimitPerIndex: 4, maxFailedIndexes: 1, podFailurePolicy: { rules } }))
  const pods = await untilActive('few', 3)
  await fail(pods.find((pod) => indexOf(pod) === 0)!, 7)
  await untilJob('few', ({ status }) => status?.failedIndexes === '0')
  await fail(pods.find((pod) => indexOf(pod) === 2)!, 7)
  const announced = await untilJob('few', has('FailureTarget'))
  assert.equal(conditionOf(announced, 'FailureTarget')?.reason, 'MaxFailedIndexesExceeded')
  await terminate(pods.find((pod) => indexOf(pod) === 1)!)
  const job = await untilJob('few', has('Failed'))
  assert.deepEqual([job.status?.failedIndexes, job.status?.terminating], ['0,2', 0])
})

test('with podReplacementPolicy Failed, a Job replaces a terminating pod only after the pod has terminated', async () => {
  for (const podReplacementPolicy of ['Failed', 'TerminatingOrFailed']) {
    const name = podReplacementPolicy.toLowerCase()
    await makeJob(name, { podReplacementPolicy })
    const [pod] = await untilActive(name, 1)
    await server.client.delete(kinds.Pod, { namespace, name: pod!.metadata.name! })
    const awaits = podReplacementPolicy === 'Failed'
    const { status } = await untilJob(name, (job) => job.status?.terminating === 1)
    assert.equal(status?.active ?? 0, 0)
    if (awaits) await fail(pod!)
    await untilJob(name, (job) => job.status?.failed === 1)
    await later(name, 10_000)
    await untilActive(name, 1)
    if (!awaits) assert.equal((await podsOf(name)).filter(({ metadata }) => metadata.deletionTimestamp).length, 1)
  }
})

test('a Job reports its ready pods, and suspending it deletes them without counting failures', async () => {
  await makeJob('paused', { parallelism: 2, completions: 2 })
  const [pod] = await untilActive('paused', 2)
  const patch = { merge: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } } }
  await server.client.patch(kinds.Pod, { namespace, name: pod!.metadata.name! }, { patch, subresource: 'status' })
  await untilJob('paused', ({ status }) => status?.ready === 1)
  const suspend = (value: boolean) => ({ patch: { merge: { spec: { suspend: value } } } })
  await server.client.patch(kinds.Job, { namespace, name: 'paused' }, suspend(true))
  const { status } = await untilJob('paused', (job) => has('Suspended')(job) && job.status?.terminating === 2)
  assert.deepEqual([status?.startTime, status?.ready, status?.failed], [undefined, 0, undefined])
  for (const each of await podsOf('paused')) await terminate(each)
  assert.deepEqual(await podsOf('paused'), [])
  await server.client.patch(kinds.Job, { namespace, name: 'paused' }, suspend(false))
  for (const each of await untilActive('paused', 2)) await succeed(each)
  const complete = await untilJob('paused', has('Complete'))
  assert.equal(conditionOf(complete, 'SuccessCriteriaMet')?.reason, 'CompletionsReached')
})

test('a Job retries failures after ten seconds, and its failed count never decreases', async () => {
  await makeJob('strict', { backoffLimit: 1 })
  await makeJob('foreign', { managedBy: 'example.com/other' })
  const [failed] = await untilActive('strict', 1)
  await fail(failed!)
  await untilJob('strict', ({ status }) => status?.failed === 1 && status.uncountedTerminatedPods?.failed === undefined)
  await terminate(failed!)
  await later('strict', 10_000)
  const [again] = await untilActive('strict', 1)
  await fail(again!)
  const job = await untilJob('strict', has('Failed'))
  assert.deepEqual([job.status?.failed, conditionOf(job, 'FailureTarget')?.reason], [2, 'BackoffLimitExceeded'])
  assert.deepEqual(await podsOf('foreign'), [])
  assert.deepEqual((await untilJob('foreign', () => true)).status, {})
})

test('a Job counts each pod once even if the manager is killed during any write', async () => {
  await server.end()
  for (const [i, death] of deaths(long ? 8 : 3).entries()) {
    const name = `killed-${i}`
    await makeJob(name, { completions: 1 })
    const manager = server.run(['job'], { clock, death })
    const ending = until(
      () => podsOf(name),
      ([pod]) => pod !== undefined,
    ).then(([pod]) => succeed(pod!))
    await manager.killed
    await server.end()
    server.run(['job'], { clock })
    await ending
    const { status } = await untilJob(name, has('Complete'))
    assert.deepEqual([status?.succeeded, status?.failed, (await podsOf(name)).length], [1, undefined, 1])
    await server.end()
  }
})
