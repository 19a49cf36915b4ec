/** Tests CronJob: schedules, defaults, validation, table columns and both versions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { cronJob } from '../../../src/api/kinds/batch/cron-job.ts'
import { scheduleFault } from '../../../src/api/model/cron-expression.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { assertCheap } from '../../support/effort.ts'
import { serve } from '../../support/in-process.ts'
import { podsOf } from './pods-of.ts'
import { cellsOf, createBy, ruleContext, updateBy } from './rules.ts'

const template = podsOf({ restartPolicy: 'Never' })
const sound = { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } }

test('valid cron schedules are accepted', () => {
  const schedules = [
    '*/15 */2 * * *',
    '1-5,10,20-30/2 8-17 1,15 * *',
    '0 0 * JAN-mar mon,WED',
    '0 0 31 2 *',
    '0 0 ? * ?',
    '5/10 * * * *',
    '1,,2 , * * *',
    '*-5 * * * *',
    '  0\t0  * * *  ',
    ...['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'],
    ...['@every 1h30m', '@every 5s', '@every 1.5h'],
    ...['TZ=UTC 0 * * * *', 'CRON_TZ=Europe/Berlin 0 * * * *', 'TZ= 0 * * * *', 'TZ=America/Argentina/Ushuaia @daily'],
  ]
  for (const text of schedules) assert.equal(scheduleFault(text), undefined, text)
})

test('invalid cron schedules are rejected, and the error contains the reason', () => {
  const cases: readonly (readonly [text: string, reason: RegExp])[] = [
    ['every day', /expected exactly 5 fields, found 2/],
    ['* * * *', /found 4/],
    ['0 0 0 * * *', /found 6/],
    ['60 * * * *', /end of range \(60\) above maximum \(59\): 60/],
    ['0 24 * * *', /\(24\) above maximum \(23\)/],
    ['0 0 0 * *', /beginning of range \(0\) below minimum \(1\)/],
    ['0 0 1 13 *', /above maximum \(12\)/],
    ['0 0 * * 7', /above maximum \(6\)/],
    ['5-1 * * * *', /beyond end of range/],
    ['*/0 * * * *', /step of range should be a positive number/],
    ['1-2-3 * * * *', /too many hyphens/],
    ['1/2/3 * * * *', /too many slashes/],
    ...['a', '-1', '1.5', '0x1', 'jan', '1-', '*/', '*/a'].map(
      (text) => [`${text} * * * *`, /failed to parse int/] as [string, RegExp],
    ),
    ['@never', /unrecognized descriptor/],
    ['@every', /unrecognized descriptor/],
    ['@every day', /failed to parse duration/],
    ['TZ=Nowhere/At 0 * * * *', /unknown time zone/],
    ['TZ=../../etc/passwd 0 * * * *', /unknown time zone/],
    ['TZ=+01:00 0 * * * *', /unknown time zone/],
    ['TZ=UTC', /expected exactly 5 fields, found 0/],
  ]
  for (const [text, reason] of cases) assert.match(scheduleFault(text) ?? '', reason, text)
})

test('a cron schedule with a million characters is checked quickly', async () => {
  for (const part of ['1,', '*', ' ', '-', '/', '1-2,', 'TZ='])
    await assertCheap(1_000, () => scheduleFault(part.repeat(500_000)))
})

test('unset fields of a CronJob are set to their defaults, except in the Job template', () => {
  const { object, faults } = create({})
  const { jobTemplate: _j, schedule: _s, ...rest } = asJson(object).spec as JsonObject
  assert.deepEqual(faults, [])
  assert.deepEqual(rest, {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  })
  assert.deepEqual([asJson(object).status, object.metadata.generation], [{}, 1])
  const { spec } = (object.spec as { jobTemplate: { spec: JsonObject } }).jobTemplate
  assert.deepEqual([spec.parallelism, spec.backoffLimit, spec.suspend], [undefined, undefined, undefined])
})

test('validation errors for a CronJob contain the field path', () => {
  const at = 'spec.jobTemplate.spec'
  const jobs = (spec: JsonObject) => ({ jobTemplate: { spec: { template, ...spec } } })
  const cases: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
    [{ schedule: '' }, ['Required spec.schedule']],
    [{ schedule: 'x' }, ['Invalid spec.schedule']],
    [{ concurrencyPolicy: 'allow' }, ['NotSupported spec.concurrencyPolicy']],
    [
      { startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 },
      [
        'Invalid spec.failedJobsHistoryLimit',
        'Invalid spec.startingDeadlineSeconds',
        'Invalid spec.successfulJobsHistoryLimit',
      ],
    ],
    [jobs({ manualSelector: true }), [`NotSupported ${at}.manualSelector`]],
    [jobs({ manualSelector: false }), []],
    [jobs({ selector: {} }), [`Invalid ${at}.selector`]],
    [jobs({ selector: { matchLabels: { 'a b': '' } } }), [`Invalid ${at}.selector`]],
    [jobs({ parallelism: -1 }), [`Invalid ${at}.parallelism`]],
    [jobs({ completionMode: 'Indexed' }), [`Required ${at}.completions`]],
    [jobs({ template: podsOf() }), [`Required ${at}.template.spec.restartPolicy`]],
    [{ jobTemplate: { metadata: { labels: { 'a b': 'c d' } }, spec: { template } } }, []],
    [{ jobTemplate: {} }, [`Required ${at}.template.spec.containers`, `Required ${at}.template.spec.restartPolicy`]],
  ]
  for (const [spec, faults] of cases) assert.deepEqual(create(spec).faults, faults, JSON.stringify(spec))
})

test('a new CronJob with a name of more than 52 characters is rejected, but a stored CronJob with such a name can be updated', () => {
  const long = 'n'.repeat(53)
  assert.deepEqual(create({}, long).faults, ['Invalid metadata.name'])
  assert.deepEqual(create({}, long.slice(1)).faults, [])
  const { object } = create({}, long)
  const changed = updateBy(cronJob, object, objectOf({ suspend: true }, long))
  assert.deepEqual([changed.faults, changed.object.metadata.generation], [[], 2])
})

test('a time zone in the schedule of a CronJob causes a warning', () => {
  const warnings = (schedule: string) => cronJob.rules.warnings!(create({ schedule }).object, undefined, ruleContext)
  assert.deepEqual(warnings('0 * * * *'), [])
  assert.match(warnings('TZ=UTC 0 * * * *')[0]!, /not officially supported/)
})

test('the CronJob table shows the schedule and the number of active Jobs', () => {
  const { object } = create({ suspend: true })
  assert.deepEqual(cellsOf(cronJob, object), [
    'c',
    '*/5 * * * *',
    'True',
    0,
    '<none>',
    '<unknown>',
    'c',
    'img:1',
    '<none>',
  ])
  object.status = { active: [{ name: 'a' }, { name: 'b' }], lastScheduleTime: '2030-01-02T03:04:00Z' }
  assert.deepEqual(cellsOf(cronJob, object).slice(3, 5), [2, '5s'])
})

test('both API versions serve the same CronJobs, and deleting a CronJob through v1beta1 orphans its Jobs by default', async (t) => {
  const client = (await serve(t)).client()
  const at = (version: string) => `/apis/batch/${version}/namespaces/default/cronjobs`
  const made = await client.post(at('v1beta1'), { metadata: { name: 'a' }, spec: { ...sound, suspend: true } })
  assert.equal(
    made.headers.warning,
    '299 - "batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob"',
  )
  assert.deepEqual((await client.get(`${at('v1')}/a`)).body.spec, made.body.spec)
  await client.post(at('v1'), { metadata: { name: 'b' }, spec: sound })
  assert.deepEqual((await client.delete(`${at('v1beta1')}/a`)).body.metadata.finalizers, ['orphan'])
  assert.equal((await client.delete(`${at('v1')}/b`)).body.status, 'Success')
})

function create(spec: JsonObject, name = 'c') {
  return createBy(cronJob, objectOf(spec, name))
}

function objectOf(spec: JsonObject, name: string): JsonObject {
  return { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name }, spec: { ...sound, ...spec } }
}
