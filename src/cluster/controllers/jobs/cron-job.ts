/**
 * Creates the Jobs of CronJobs when they are due. The name of a Job contains its scheduled minute, so no Job is created
 * twice, even by concurrent managers. If runs were missed while no manager ran or while the CronJob was suspended, only
 * the latest missed run is started, unless it is older than `startingDeadlineSeconds`.
 *
 * The status lists the active Jobs. Finished Jobs beyond the history limits are deleted, oldest first. Schedules
 * without a time zone use the time zone of this process.
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
import { deleteJob, endedJobs, nextDue, startJob } from './cron-runs.ts'
import { CronStatus } from './cron-status.ts'

interface LoopState extends CronJobParts {
  /**
   * By CronJob UID, the resourceVersion that the last status write replaced. A cached CronJob with this version is
   * stale.
   */
  readonly outdated: Map<string, string>
}

/**
 * Maximum duration of one timer in milliseconds. Longer waits are split, because Node.js fires timers longer than 24
 * days immediately.
 */
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

/** Writes the status. Returns false if the CronJob has changed in the meantime. */
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
