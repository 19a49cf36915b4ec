/** Tests when schedules are due: fields, steps, names, days, time zones and daylight saving changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronJob } from '../../../src/api/kinds/batch/cron-job.ts'
import type { Job } from '../../../src/api/kinds/batch/job.ts'
import { parseSchedule } from '../../../src/api/model/cron-expression.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { defaultGatesOf } from '../../../src/api/versions/feature-gates.ts'
import type { Happening } from '../../../src/client/informers/event-recorder.ts'
import type { CronJobParts } from '../../../src/cluster/controllers/jobs/cron-parts.ts'
import { nextDue, startJob } from '../../../src/cluster/controllers/jobs/cron-runs.ts'
import { CronTimes, timestampInZone } from '../../../src/cluster/controllers/jobs/cron-times.ts'

function read(text: string): CronTimes {
  const parsed = parseSchedule(text)
  assert.ok(typeof parsed !== 'string', String(parsed))
  return new CronTimes(parsed)
}

const iso = (ms: number | undefined) => ms && new Date(ms).toISOString().slice(0, 19)

/** Returns the next run times of a schedule in UTC. */
function times(text: string, after: string, count = 1): (string | number | undefined)[] {
  const schedule = read(text.includes('TZ=') ? text : `TZ=UTC ${text}`)
  const found: (string | number | undefined)[] = []
  let at: number | undefined = Date.parse(`${after}Z`)
  for (let i = 0; i < count && at !== undefined; i++) {
    at = schedule.next(at)
    found.push(iso(at))
  }
  return found
}

for (const [text, after, ...expected] of [
  ['* * * * *', '2030-01-01T00:00:00', '2030-01-01T00:01:00', '2030-01-01T00:02:00'],
  ['*/15 * * * *', '2030-01-01T00:16:10', '2030-01-01T00:30:00', '2030-01-01T00:45:00', '2030-01-01T01:00:00'],
  ['5/20 3 * * *', '2030-01-01T03:05:00', '2030-01-01T03:25:00', '2030-01-01T03:45:00', '2030-01-02T03:05:00'],
  ['0 0 31 * *', '2030-01-31T00:00:00', '2030-03-31T00:00:00'],
  ['0 0 29 2 *', '2030-01-01T00:00:00', '2032-02-29T00:00:00'],
  ['0 12 * jan,MAR mon-wed', '2030-01-31T00:00:00', '2030-03-04T12:00:00'],
  // If a schedule contains both a date and a weekday, a day matches if either of them matches. If one of them is a
  // star, only the other determines the day.
  ['0 0 13 * fri', '2030-09-06T00:00:00', '2030-09-13T00:00:00', '2030-09-20T00:00:00'],
  ['0 0 13 * fri', '2030-10-11T00:00:00', '2030-10-13T00:00:00'],
  ['0 0 */2 * fri', '2030-01-01T00:00:00', '2030-01-03T00:00:00', '2030-01-04T00:00:00'],
  ['@weekly', '2030-01-01T00:00:00', '2030-01-06T00:00:00'],
  ['@every 90m', '2030-01-01T00:00:00', '2030-01-01T01:30:00', '2030-01-01T03:00:00'],
  ['0 0 30 2 *', '2030-01-01T00:00:00', undefined],
  // In Berlin, one hour is skipped on 31 March, and one hour is repeated on 27 October.
  ['TZ=Europe/Berlin 30 2 * * *', '2030-03-30T00:00:00', '2030-03-30T01:30:00', '2030-04-01T00:30:00'],
  [
    'TZ=Europe/Berlin 30 2 * * *',
    '2030-10-26T12:00:00',
    '2030-10-27T00:30:00',
    '2030-10-27T01:30:00',
    '2030-10-28T01:30:00',
  ],
  ['CRON_TZ=Europe/Berlin 0 * * * *', '2030-10-27T00:00:00', '2030-10-27T01:00:00', '2030-10-27T02:00:00'],
  ['TZ=Asia/Kathmandu 0 0 * * *', '2030-01-01T00:00:00', '2030-01-01T18:15:00'],
] as const)
  test(`the next run of the schedule ${text} after ${after} is computed correctly`, () => {
    assert.deepEqual(times(text, after, expected.length), expected)
  })

test('the latest past run of a schedule is computed without iterating over all earlier runs', () => {
  const minutely = read('TZ=UTC * * * * *')
  const since = Date.parse('2000-01-01T00:00:00Z')
  const now = Date.parse('2030-05-05T05:05:30Z')
  const before = process.cpuUsage().user
  assert.equal(iso(minutely.latest(since, now)), '2030-05-05T05:05:00')
  assert.ok(process.cpuUsage().user - before < 200_000)
  assert.equal(iso(read('TZ=UTC 0 0 29 2 *').latest(since, now)), '2028-02-29T00:00:00')
  assert.equal(iso(read('TZ=UTC @every 7s').latest(since, since + 20_000)), '2000-01-01T00:00:14')
  assert.equal(minutely.latest(now, now + 1000), undefined)
  assert.equal(minutely.count(since, { now, limit: 101 }), 101)
})

test('a CronJob runs in its time zone, and never runs if the time zone is unknown', () => {
  const at = Date.parse('2030-01-01T00:00:00Z')
  const reasons: (string | undefined)[] = []
  const recorder = { record: (_: unknown, { reason }: Happening) => void reasons.push(reason) }
  const parts = { recorder, clock: { now: () => at } } as unknown as CronJobParts
  const waitOf = (timeZone: string) => {
    const spec = { schedule: '0 12 * * *', timeZone }
    return nextDue(parts, { metadata: { creationTimestamp: '2030-01-01T00:00:00Z' }, spec } as unknown as CronJob)
      .waitMs
  }
  const hours = (ms: number | undefined) => Math.floor((ms ?? Number.NaN) / 3_600_000)
  assert.deepEqual([hours(waitOf('Asia/Tokyo')), hours(waitOf('UTC')), reasons], [3, 12, []])
  assert.deepEqual([waitOf('Mars/Base'), reasons], [undefined, ['UnknownTimeZone']])
})

test('timestamps in a time zone have the UTC offset of the zone, including daylight saving time', () => {
  const rows: readonly (readonly [utc: string, zone: string, expected: string])[] = [
    ['2030-01-01T00:00:00Z', 'UTC', '2030-01-01T00:00:00Z'],
    ['2030-01-01T00:00:00Z', 'Europe/Berlin', '2030-01-01T01:00:00+01:00'],
    ['2030-07-01T00:00:00Z', 'Europe/Berlin', '2030-07-01T02:00:00+02:00'],
    ['2030-01-01T00:00:00Z', 'America/St_Johns', '2029-12-31T20:30:00-03:30'],
    ['2030-01-01T00:00:00Z', 'Europe/London', '2030-01-01T00:00:00Z'],
  ]
  for (const [utc, zone, expected] of rows) assert.equal(timestampInZone(Date.parse(utc), zone), expected, zone)
})

test('since 1.28, a Job of a CronJob has its scheduled time as an annotation', async () => {
  const at = Date.parse('2030-01-01T00:00:00Z')
  const annotationsAt = async (version: EmulatedVersion, timeZone?: string) => {
    const created: Job[] = []
    const create = async (_: unknown, job: Job) => {
      created.push(job)
      return job
    }
    const client = { create }
    const parts = { client, recorder: { record: () => {} }, vendor: vendorOf('kubernetes') }
    const emulation = { version, gates: defaultGatesOf(version) }
    const jobTemplate = { metadata: { annotations: { a: 'b' } }, spec: {} }
    const cronJob = { metadata: { name: 'c', namespace: 'n' }, spec: { schedule: '* * * * *', timeZone, jobTemplate } }
    const status = { active: [], started: () => {} }
    await startJob(
      { ...parts, emulation } as unknown as CronJobParts,
      { cronJob, status, at, signal: new AbortController().signal } as never,
    )
    return created[0]?.metadata.annotations
  }
  const key = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
  assert.deepEqual(await annotationsAt('1.27'), { a: 'b' })
  assert.deepEqual(await annotationsAt('1.28'), { a: 'b', [key]: '2030-01-01T00:00:00Z' })
  assert.deepEqual(await annotationsAt('1.36', 'Asia/Tokyo'), { a: 'b', [key]: '2030-01-01T09:00:00+09:00' })
})
