/** The steps of the CronJob loop: finding due runs, creating Jobs and cleaning up the history. */

import { defined } from '../../../api/json/json.ts'
import type { CronJob } from '../../../api/kinds/batch/cron-job.ts'
import type { Job } from '../../../api/kinds/batch/job.ts'
import { parseSchedule } from '../../../api/model/cron-expression.ts'
import { timestamp } from '../../../api/model/object.ts'
import { isTimeZone } from '../../../api/model/time-zone.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Happening } from '../../../client/informers/event-recorder.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { nameOf } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { controllerReference, isControlledBy } from '../workloads/ownership.ts'
import { isNamespaceEnding } from '../workloads/pod-control.ts'
import type { CronJobParts } from './cron-parts.ts'
import type { CronStatus } from './cron-status.ts'
import { CronTimes, timestampInZone } from './cron-times.ts'

/**
 * When a CronJob runs next. `at` is the scheduled time of the run that is due now, and `waitMs` is the time in
 * milliseconds until the following run.
 */
export interface Due {
  readonly at?: number
  readonly waitMs?: number
}

const maxMissed = 100
/** Tolerance in milliseconds, because timers may fire slightly early. */
const lateMs = 100

export function nextDue({ recorder, clock }: CronJobParts, cronJob: CronJob): Due {
  const { schedule: text = '', startingDeadlineSeconds, timeZone } = cronJob.spec ?? {}
  const record = (happening: Happening) => recorder.record(cronJob, happening)
  const parsed = parseSchedule(text)
  if (typeof parsed === 'string') {
    record(warning('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(text)} : ${parsed}`))
    return {}
  }
  if (text.includes('TZ')) record(warning('UnsupportedSchedule', unsupportedZone(text)))
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    record(warning('UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}`))
    return {}
  }
  const schedule = new CronTimes({ ...parsed, ...defined({ zone: timeZone }) })
  const now = clock.now()
  const since = earliest(cronJob, typeof parsed.times === 'number' ? undefined : now)
  const at = since > now ? undefined : schedule.latest(since, now)
  const next = schedule.next(at ?? since)
  const due = next === undefined ? {} : { waitMs: Math.max(0, next - now) + lateMs }
  if (at === undefined) return due
  if (schedule.count(since, { now, limit: maxMissed + 1 }) > maxMissed) record(warning('TooManyMissedTimes', tooMany))
  if (startingDeadlineSeconds !== undefined && at + startingDeadlineSeconds * 1000 < now) {
    record(warning('MissSchedule', `Missed scheduled time to start a job: ${timestamp(at)}`))
    return due
  }
  return { ...due, at }
}

const tooMany = `too many missed start times: more than ${maxMissed}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`

function unsupportedZone(schedule: string): string {
  return `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} is not officially supported`
}

function warning(reason: string, message: string): Happening {
  return { type: 'Warning', reason, message }
}

/**
 * Returns the time after which runs are considered: the time of the last run, or the start of the deadline window if
 * that is later. If `now` is omitted, ignores the deadline.
 */
function earliest({ metadata, spec, status }: CronJob, now: number | undefined): number {
  const last = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  const deadline = spec?.startingDeadlineSeconds
  return deadline === undefined || now === undefined ? last : Math.max(last, now - deadline * 1000)
}

interface JobStart {
  readonly cronJob: CronJob
  readonly status: CronStatus
  readonly at: number
  readonly signal: AbortSignal
}

/** Creates the Job for a run unless the concurrency policy forbids the run. */
export async function startJob(parts: CronJobParts, { cronJob, status, at, signal }: JobStart): Promise<void> {
  const { client, recorder } = parts
  const draft = jobFor(parts, cronJob, at)
  if (status.active.some(({ name }) => name === draft.metadata.name)) return
  const policy = cronJob.spec?.concurrencyPolicy
  if (policy === 'Forbid' && status.active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
    return recorder.record(cronJob, { type: 'Normal', reason: 'JobAlreadyActive', message })
  }
  if (policy === 'Replace') await replaceActive(parts, { cronJob, status, at, signal })
  try {
    const job = await client.create(kinds.Job, draft, { signal })
    status.started(job, at)
    recorder.record(cronJob, {
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created job ${job.metadata.name}`,
    })
  } catch (error) {
    if (isNamespaceEnding(error)) return
    if (error instanceof StatusError && error.reason === 'AlreadyExists') {
      // This loop or an earlier manager created the Job but did not update the status of the CronJob.
      const job = await ignoreNotFound(client.get(kinds.Job, nameOf(draft as Job), { signal }))
      if (job !== undefined && isControlledBy(job, cronJob)) return status.started(job, at)
    }
    recorder.record(cronJob, warning('FailedCreate', `Error creating job: ${messageOf(error)}`))
    throw error
  }
}

async function replaceActive(parts: CronJobParts, { cronJob, status, signal }: JobStart): Promise<void> {
  for (const { namespace = '', name = '', uid } of [...status.active]) {
    const job = await ignoreNotFound(parts.client.get(kinds.Job, { namespace, name }, { signal }))
    if (job !== undefined && job.metadata.uid === uid && isControlledBy(job, cronJob))
      await deleteJob(parts, { cronJob, job, signal })
    status.ended(uid)
  }
}

/** Returns the Job for a run. Its name contains the scheduled minute. */
function jobFor(parts: CronJobParts, cronJob: CronJob, at: number) {
  const { namespace = '', name = '' } = cronJob.metadata
  const { metadata = {}, spec } = cronJob.spec?.jobTemplate ?? {}
  const { labels } = metadata
  const annotations = { ...metadata.annotations, ...scheduledTime(parts, cronJob, at) }
  return {
    metadata: {
      namespace,
      name: `${name}-${Math.floor(at / 60_000)}`,
      ownerReferences: [controllerReference(cronJob)],
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    ...(spec === undefined ? {} : { spec }),
  }
}

/** Returns the annotation for the scheduled time of a Job. Kubernetes sets it since 1.28. */
function scheduledTime({ vendor, emulation }: CronJobParts, { spec }: CronJob, at: number): { [key: string]: string } {
  if (!emulation.gates.has('CronJobsScheduledAnnotation')) return {}
  const key = vendorKey(vendor, 'cronjob-scheduled-timestamp', 'batch')
  return { [key]: timestampInZone(at, spec?.timeZone ?? 'UTC') }
}

/**
 * Returns the oldest finished Jobs beyond the history limits. The limits for successful and failed Jobs are separate.
 */
export function endedJobs({ spec = {} }: CronJob, children: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit: succeeded = 3, failedJobsHistoryLimit: failed = 1 } = spec
  const oldest = (ending: string, limit: number) => {
    const ended = children.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some(({ type, status: is }) => type === ending && is === 'True'),
    )
    return ended.sort(byStart).slice(0, Math.max(0, ended.length - limit))
  }
  return [...oldest('Complete', succeeded), ...oldest('Failed', failed)]
}

/** Compares Jobs by start time. Jobs that never started sort last. */
function byStart(a: Job, b: Job): number {
  const start = ({ status }: Job) => Date.parse(status?.startTime ?? '') || Number.POSITIVE_INFINITY
  if (start(a) !== start(b)) return start(a) - start(b)
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}

/** Deletes a Job. Its pods are deleted in the background. */
export async function deleteJob(
  { client, recorder }: CronJobParts,
  { cronJob, job, signal }: { readonly cronJob: CronJob; readonly job: Job; readonly signal: AbortSignal },
): Promise<void> {
  const preconditions = { uid: job.metadata.uid! }
  const { name } = job.metadata
  try {
    await ignoreNotFound(
      client.delete(kinds.Job, nameOf(job), { propagationPolicy: 'Background', preconditions, signal }),
    )
    recorder.record(cronJob, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` })
  } catch (error) {
    recorder.record(cronJob, warning('FailedDelete', `Deleted job: ${messageOf(error)}`))
    throw error
  }
}
