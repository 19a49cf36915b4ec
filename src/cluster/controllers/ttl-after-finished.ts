/**
 * Deletes finished Jobs and their Pods when `ttlSecondsAfterFinished` has passed. Uses foreground deletion, so the Job
 * remains until its Pods are deleted.
 */

import type { Job } from '../../api/kinds/batch/job.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey, type ObjectName } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface TtlAfterFinishedParts {
  readonly client: Client
  readonly informer: Informer<Job & ApiObject>
  readonly clock: Clock
}

/**
 * Maximum duration of one timer in milliseconds. Longer waits are split, because Node.js fires timers longer than 24
 * days immediately.
 */
const maxPauseMs = 60 * 60_000

export function ttlAfterFinishedLoop(parts: TtlAfterFinishedParts): Loop {
  return {
    name: 'ttl-after-finished',
    sources: [fromInformer(parts.informer)],
    reconcile: (key, signal) => reconcile(parts, nameOfKey(key), signal),
  }
}

async function reconcile(
  { client, informer, clock }: TtlAfterFinishedParts,
  name: ObjectName,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const due = dueAt(informer.get(name))
  if (due === undefined) return 'done'
  if (due > clock.now()) return { afterMs: Math.min(due - clock.now(), maxPauseMs) }
  // The cache may be stale: the TTL may have been extended, or the name may now belong to a different Job.
  const job = await ignoreNotFound(client.get(kinds.Job, name, { signal }))
  const dueNow = dueAt(job)
  if (job === undefined || dueNow === undefined) return 'done'
  if (dueNow > clock.now()) return { afterMs: Math.min(dueNow - clock.now(), maxPauseMs) }
  const preconditions = { uid: job.metadata.uid!, resourceVersion: job.metadata.resourceVersion! }
  try {
    await ignoreNotFound(client.delete(kinds.Job, name, { propagationPolicy: 'Foreground', preconditions, signal }))
    return 'done'
  } catch (error) {
    if (isConflict(error)) return 'later'
    throw error
  }
}

/**
 * Returns the deletion time of a Job, or undefined if the Job has not finished, has no TTL or is already being deleted.
 */
function dueAt(job: (Job & ApiObject) | undefined): number | undefined {
  const seconds = job?.spec?.ttlSecondsAfterFinished
  if (job === undefined || seconds === undefined || job.metadata.deletionTimestamp !== undefined) return undefined
  const finished = job.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  )
  const at = Date.parse(finished?.lastTransitionTime ?? '')
  return Number.isNaN(at) ? undefined : at + seconds * 1000
}
