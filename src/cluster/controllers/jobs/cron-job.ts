/**
 * Makes the Jobs of CronJobs when they are due. The name of a Job has the minute that it was due at, so none is made
 * twice, whoever tries. Of the times that were missed, while nothing ran or the CronJob was suspended, the latest is made
 * up for, unless it is longer ago than `startingDeadlineSeconds`.
 *
 * The status lists the Jobs that run; those that have ended beyond the limits of the history are deleted, the oldest
 * first. Schedules without a zone are in the time zone of this process.
 */

import { type Json, sameJson } from '../../../api/json/json.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { byController, controllerKey } from '../workloads/ownership.ts'
import type { CronJobParts } from './cron-parts.ts'
import { CronStatus } from './cron-status.ts'
import { deleteJob, endedJobs, nextDue, startJob } from './cron-steps.ts'

interface LoopState extends CronJobParts {
  /** What a status was written on top of, by UID: while a CronJob is seen in that version it is outdated. */
  readonly outdated: Map<string, string>
}

/** A longer time than this is waited for in parts: timers end early beyond 24 days. */
const maxTimerMs = 60 * 60_000

export function cronJobLoop(parts: CronJobParts): Loop {
  const state: LoopState = { ...parts, outdated: new Map() }
  const ownerKind = { group: 'batch', kind: 'CronJob' }
  return {
    name: 'cronjob',
    concurrency: 5,
    sources: [
      fromInformer(parts.cronJobs, ({ key, object, previous }) => {
        if (object === undefined) state.outdated.delete(previous?.metadata.uid ?? '')
        return [key]
      }),
      fromInformer(parts.jobs, ({ object, previous }) => {
        const keys = [previous, object].map((job) => job && controllerKey(job, ownerKind))
        return new Set(keys.filter((key) => key !== undefined))
      }),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

async function reconcile(loop: LoopState, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const cronJob = loop.cronJobs.get(nameOfKey(key))
  if (cronJob === undefined) return 'done'
  const { namespace = '', uid = '', resourceVersion, deletionTimestamp } = cronJob.metadata
  if (loop.outdated.get(uid) === resourceVersion) return 'done'
  const children = byController(loop.jobs).controlledBy(namespace, uid)
  const status = new CronStatus(loop, cronJob)
  await status.followJobs(children, signal)
  let outcome: StepOutcome = 'done'
  if (deletionTimestamp === undefined && cronJob.spec?.suspend !== true) {
    const due = nextDue(loop, cronJob)
    if (due.at !== undefined) await startJob(loop, { cronJob, status, at: due.at, signal })
    if (due.waitMs !== undefined) outcome = { afterMs: Math.min(due.waitMs, maxTimerMs) }
  }
  if (!(await writeStatus(loop, status, signal))) return 'later'
  if (deletionTimestamp === undefined)
    for (const job of endedJobs(cronJob, children)) await deleteJob(loop, { cronJob, job, signal })
  return outcome
}

/** Whether the status is as it should be; else the CronJob has changed meanwhile. */
async function writeStatus(loop: LoopState, { cronJob, value }: CronStatus, signal: AbortSignal): Promise<boolean> {
  if (sameJson((cronJob.status ?? {}) as Json, value as Json)) return true
  const { uid = '', resourceVersion = '' } = cronJob.metadata
  try {
    await loop.client.update(kinds.CronJob, { ...cronJob, status: value }, { subresource: 'status', signal })
    loop.outdated.set(uid, resourceVersion)
    return true
  } catch (error) {
    if (isNotFound(error)) return true
    if (isConflict(error)) return false
    throw error
  }
}
