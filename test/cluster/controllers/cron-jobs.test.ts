/**
 * Tests CronJobs with a simulated clock: due, missed, forbidden, replaced and suspended runs, and the history
 * limits.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { CronJob } from '../../../src/api/kinds/batch/cron-job.ts'
import type { Job } from '../../../src/api/kinds/batch/job.ts'
import { timestamp } from '../../../src/api/model/object.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { long } from '../../support/long.ts'
import { deaths, type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const minute = 60_000
const owner = endOfFile()
let server: LoopServer
/** The start of a minute, some time after the objects are created. */
let now = Math.ceil(systemClock.now() / minute) * minute + 60 * minute
const clock = { now: () => now, monotonic: systemClock.monotonic }
const run = (options = {}) => server.run(['cronjob'], { clock, ...options })

before(async () => {
  server = await loopServer(owner)
})
afterEach(async () => {
  await server.end()
})

type Spec = { readonly suspend?: boolean; readonly [field: string]: unknown }

/** Creates a CronJob whose last Job was scheduled `lastMs` milliseconds ago. */
async function makeCronJob(name: string, { suspend = false, ...spec }: Spec = {}, lastMs = minute): Promise<void> {
  const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } }
  const jobTemplate = { metadata: { labels: { of: name } }, spec: { template } }
  const object = { metadata: { name, namespace }, spec: { schedule: '* * * * *', jobTemplate, suspend: true, ...spec } }
  await server.client.create(kinds.CronJob, object as never)
  const status = { lastScheduleTime: timestamp(now - lastMs) }
  await server.client.patch(kinds.CronJob, { namespace, name }, { patch: { merge: { status } }, subresource: 'status' })
  await server.client.patch(kinds.CronJob, { namespace, name }, { patch: { merge: { spec: { suspend } } } })
}

async function jobsOf(name: string): Promise<Job[]> {
  return (await server.client.list(kinds.Job, { namespace, labelSelector: `of=${name}` })).items
}

async function untilJobs(name: string, ...wanted: number[]): Promise<Job[]> {
  const names = wanted.map((at) => `${name}-${at / minute}`)
  return await until(
    () => jobsOf(name),
    (found) =>
      found
        .map(({ metadata }) => metadata.name)
        .sort()
        .join() === names.join(),
  )
}

async function untilStatus(name: string, wanted: (status: NonNullable<CronJob['status']>) => boolean) {
  return await until(
    () => server.client.get(kinds.CronJob, { namespace, name }),
    ({ status = {} }) => wanted(status),
  )
}

async function finish(name: string, type = 'Complete', at = now): Promise<void> {
  const time = timestamp(at)
  const conditions = [{ type, status: 'True', lastTransitionTime: time }]
  const status = { startTime: time, conditions, ...(type === 'Complete' ? { completionTime: time } : {}) }
  await server.client.patch(kinds.Job, { namespace, name }, { patch: { merge: { status } }, subresource: 'status' })
}

/** Advances the clock and triggers the CronJob. */
async function pass(name: string, ms = minute): Promise<void> {
  now += ms
  const patch = { merge: { metadata: { annotations: { at: String(now) } } } }
  await server.client.patch(kinds.CronJob, { namespace, name }, { patch })
}

async function untilEvent(name: string, reason: string): Promise<void> {
  const fieldSelector = `involvedObject.name=${name},reason=${reason}`
  const events = { group: '', version: 'v1', plural: 'events', namespaced: true }
  await until(
    async () => (await server.client.list(events, { namespace, fieldSelector })).items.length,
    (count) => count > 0,
  )
}

test('a CronJob creates a Job every minute, lists it as active, and deletes it once it exceeds the history limit', async () => {
  run()
  await makeCronJob('tick', { successfulJobsHistoryLimit: 1 })
  const first = now
  const [job] = await untilJobs('tick', first)
  assert.equal(job?.metadata.ownerReferences?.[0]?.kind, 'CronJob')
  const { status } = await untilStatus('tick', ({ active = [] }) => active.length === 1)
  assert.equal(status?.lastScheduleTime, timestamp(first))
  assert.equal(status?.active?.[0]?.uid, job?.metadata.uid)
  await pass('tick', 0)
  await pass('tick')
  await untilJobs('tick', first, now)
  await finish(`tick-${first / minute}`)
  await untilStatus(
    'tick',
    ({ active, lastSuccessfulTime }) => active?.length === 1 && lastSuccessfulTime !== undefined,
  )
  await finish(`tick-${now / minute}`)
  await untilJobs('tick', now)
  await untilStatus('tick', ({ active = [] }) => active.length === 0)
})

test('a CronJob starts only the latest missed run, and no run after the starting deadline', async () => {
  run()
  await makeCronJob('missed', {}, 500 * minute)
  await untilJobs('missed', now)
  await untilEvent('missed', 'TooManyMissedTimes')
  const midnight = { schedule: 'TZ=UTC 0 0 * * *', startingDeadlineSeconds: 30 }
  await makeCronJob('late', midnight, 26 * 60 * minute)
  await untilEvent('late', 'UnsupportedSchedule')
  assert.deepEqual(await jobsOf('late'), [])
})

test('a CronJob waits for its active Job with Forbid, deletes the Job with Replace, and creates no Jobs while suspended', async () => {
  run()
  await makeCronJob('forbid', { concurrencyPolicy: 'Forbid' })
  await makeCronJob('replace', { concurrencyPolicy: 'Replace' })
  await makeCronJob('asleep', { suspend: true })
  const first = now
  await untilJobs('forbid', first)
  await untilJobs('replace', first)
  await pass('forbid')
  await untilEvent('forbid', 'JobAlreadyActive')
  await untilJobs('forbid', first)
  await finish(`forbid-${first / minute}`)
  await untilJobs('forbid', first, now)
  await pass('replace', 0)
  await untilJobs('replace', now)
  await untilStatus('replace', ({ active }) => active?.length === 1)
  assert.deepEqual(await jobsOf('asleep'), [])
})

test('a CronJob with Replace deletes only Jobs that it owns, even if its status lists other Jobs', async () => {
  const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } }
  const others = await Promise.all(
    ['kube-system', namespace].map((place) =>
      server.client.create(kinds.Job, { metadata: { name: 'other', namespace: place }, spec: { template } } as never),
    ),
  )
  await makeCronJob('greedy', { concurrencyPolicy: 'Replace' })
  const named = others.map(({ metadata }) => ({ namespace: metadata.namespace, name: 'other', uid: metadata.uid }))
  const active = [...named, { name: 'other' }, { namespace, name: '../x', uid: 'u' }]
  const patch = { merge: { status: { active } } }
  await server.client.patch(kinds.CronJob, { namespace, name: 'greedy' }, { patch, subresource: 'status' })
  run()
  await untilJobs('greedy', now)
  await untilStatus('greedy', (status) => status.active?.map(({ name }) => name).join() === `greedy-${now / minute}`)
  for (const { metadata } of others)
    assert.equal((await server.client.get(kinds.Job, metadata as never)).metadata.uid, metadata.uid)
})

test('a CronJob removes a deleted Job from its status', async () => {
  run()
  await makeCronJob('gone', {})
  await untilJobs('gone', now)
  await untilStatus('gone', ({ active }) => active?.length === 1)
  const name = `gone-${now / minute}`
  await server.client.delete(kinds.Job, { namespace, name }, { propagationPolicy: 'Background' })
  await untilStatus('gone', ({ active = [] }) => active.length === 0)
  await untilEvent('gone', 'MissingJob')
})

test('a CronJob never creates a Job twice if the manager is killed during any write', async () => {
  for (const [i, death] of deaths(long ? 2 : 1).entries()) {
    const name = `killed-${i}`
    await makeCronJob(name)
    await server.run(['cronjob'], { clock, death }).killed
    await server.end()
    run()
    await untilStatus(name, ({ active }) => active?.length === 1)
    await untilJobs(name, now)
    await server.end()
  }
})
