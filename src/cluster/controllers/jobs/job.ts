/**
 * Runs the pods of Jobs until enough have succeeded or the Job has failed, because of too many failures or an exceeded
 * deadline. Like kube-controller-manager 1.23 by default, the loop counts only existing pods. If a succeeded pod is
 * deleted before the Job finishes, the pod runs again.
 *
 * A failed pod is replaced after a backoff that starts at ten seconds with the second failure and doubles up to six
 * minutes. A success resets the backoff. The backoff only delays new pods, and the status is updated in the meantime.
 */

import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { timestamp } from '../../../api/model/object.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { PodSelection } from '../selected-pods.ts'
import { claimObjects } from '../workloads/claim-objects.ts'
import { Expectations } from '../workloads/expectations.ts'
import { byController, controllerOf } from '../workloads/ownership.ts'
import { fromPods } from '../workloads/pod-events.ts'
import { StepSpacing } from '../workloads/step-spacing.ts'
import { deletePods, type JobPodParts, managePods } from './job-pods.ts'
import { countPods, deadlineInMs, failureOf, isComplete, isFinished, isSuspended, type JobState } from './job-state.ts'
import { changedStatus, type JobStep } from './job-status.ts'

export interface JobParts extends Omit<JobPodParts, 'expectations'> {
  readonly emulation: Emulation
  readonly jobs: Informer<Job>
  readonly pods: Informer<Pod>
}

interface LoopState extends JobPodParts, JobParts {
  readonly selection: PodSelection<Job>
  readonly spacing: StepSpacing
  /** resourceVersion on which the last status write was based, by Job UID. A cached Job with this version is stale. */
  readonly outdated: Map<string, string>
  readonly retries: Map<string, Retries>
}

/** Number of failures since the last success, and the time before which no pod is replaced. */
interface Retries {
  readonly failures: number
  readonly notBefore: number
  /** Number of failed pods when this entry was recorded. */
  readonly failed: number
}

const firstPauseMs = 10_000
const maxPauseMs = 360_000
/** Splits longer waits, because timers fire too early beyond 24 days. */
const maxTimerMs = 60 * 60_000

export function jobLoop(parts: JobParts): Loop {
  const expectations = new Expectations(parts.clock)
  const selection = new PodSelection(parts.pods, parts.jobs, ({ spec }) => spec?.selector)
  const state: LoopState = {
    ...parts,
    expectations,
    selection,
    spacing: new StepSpacing(),
    outdated: new Map(),
    retries: new Map(),
  }
  const ownerKind = { group: 'batch', kind: 'Job' }
  return {
    name: 'job',
    concurrency: 5,
    sources: [
      fromInformer(parts.jobs, ({ key, object, previous }) => {
        if (previous !== undefined && previous.metadata.uid !== object?.metadata.uid) forget(state, previous)
        return [key]
      }),
      fromPods({ pods: parts.pods, ownerKind, expectations, adopters: (pod) => selection.selecting(pod) }),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

function forget({ expectations, outdated, retries }: LoopState, { metadata: { uid = '' } }: Job): void {
  expectations.forget(uid)
  outdated.delete(uid)
  retries.delete(uid)
}

async function reconcile(loop: LoopState, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const job = loop.jobs.get(nameOfKey(key))
  if (job === undefined || isFinished(job) || !isManagedHere(loop, job)) return 'done'
  const { uid = '', resourceVersion } = job.metadata
  if (loop.outdated.get(uid) === resourceVersion) return 'done'
  const spacingMs = loop.spacing.waitMs(key)
  if (spacingMs > 0) return { afterMs: spacingMs }
  // The cache has not seen all pod writes yet. The missing change triggers the Job again.
  const unseenMs = loop.expectations.waitMs(uid)
  if (unseenMs > 0) return { afterMs: unseenMs }
  const pods = await claimPods(loop, job, signal)
  loop.spacing.looked(key, pods.length)
  const state = countPods(job, pods, loop.vendor)
  const step = await advance(loop, state, signal)
  if (!(await writeStatus(loop, step, signal))) return 'later'
  if (step.error !== undefined) throw step.error
  return nextLook(loop, step)
}

/** Whether no other controller manages the Job. */
function isManagedHere({ vendor }: LoopState, { spec }: Job): boolean {
  return spec?.managedBy === undefined || spec.managedBy === vendorKey(vendor, 'job-controller')
}

async function claimPods({ client, pods, selection }: LoopState, job: Job, signal: AbortSignal): Promise<Pod[]> {
  const orphans = selection.podsOf(job).filter((pod) => controllerOf(pod) === undefined)
  const { namespace = '', uid = '' } = job.metadata
  const candidates = [...byController(pods).controlledBy(namespace, uid), ...orphans]
  const selects = (labels: Pod['metadata']['labels']) => selection.selects(job, labels)
  return await claimObjects({ client, type: kinds.Pod, owner: job, ownerType: kinds.Job, selects, signal }, candidates)
}

/** Creates and deletes pods as needed. Returns the result for the status. */
async function advance(loop: LoopState, state: JobState, signal: AbortSignal): Promise<JobStep> {
  const now = loop.clock.now()
  const failure = failureOf(state, now)
  if (failure !== undefined) {
    const { error } = await deletePods(loop, state, { pods: state.active, signal })
    return { state, active: 0, failed: state.failed + state.active.length, failure, error }
  }
  const { failed } = state
  // The pods of a terminating Job finish on their own.
  if (state.job.metadata.deletionTimestamp !== undefined)
    return { state, active: state.active.length, failed, isDone: isComplete(state, state.active.length) }
  const mayCreate = noteFailures(loop, state, now)
  const { active, error } = await managePods(loop, state, { mayCreate, signal })
  return { state, active, failed, isDone: isComplete(state, active), isManaged: true, error }
}

/** Records new failures. Returns whether pods may be created now. */
function noteFailures({ retries }: LoopState, { job, succeeded, failed }: JobState, now: number): boolean {
  const uid = job.metadata.uid!
  const { status = {} } = job
  if (succeeded > (status.succeeded ?? 0)) retries.delete(uid)
  const retryState = retries.get(uid)
  const { failures = 0, notBefore = 0 } = retryState ?? {}
  if (failed <= Math.max(status.failed ?? 0, retryState?.failed ?? 0)) return notBefore <= now
  const pauseMs = failures === 0 ? 0 : Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1))
  retries.set(uid, { failures: failures + 1, notBefore: now + pauseMs, failed })
  return pauseMs === 0
}

/** Returns true if the status is up to date, false if the Job has changed in the meantime. */
async function writeStatus(loop: LoopState, step: JobStep, signal: AbortSignal): Promise<boolean> {
  const { job } = step.state
  const changed = changedStatus(step, timestamp(loop.clock.now()), loop.emulation)
  if (changed === undefined) return true
  const { uid = '', resourceVersion = '' } = job.metadata
  try {
    await loop.client.update(kinds.Job, { ...job, status: changed.status }, { subresource: 'status', signal })
    loop.outdated.set(uid, resourceVersion)
  } catch (error) {
    if (isConflict(error)) return false
    if (isNotFound(error)) return true
    throw error
  }
  for (const event of changed.events) loop.recorder.record(job, event)
  return true
}

/** Returns when to reconcile again even if nothing changes. */
function nextLook({ clock, retries }: LoopState, { state: { job } }: JobStep): StepOutcome {
  const now = clock.now()
  const { notBefore = 0 } = retries.get(job.metadata.uid!) ?? {}
  const deadline = isSuspended(job) ? undefined : deadlineInMs(job, now)
  const waits = [notBefore - now, deadline ?? 0].filter((ms) => ms > 0)
  return waits.length === 0 ? 'done' : { afterMs: Math.min(maxTimerMs, ...waits) }
}
