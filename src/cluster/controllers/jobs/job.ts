/**
 * Runs the pods of Jobs until enough of them have succeeded or the Job has failed. `verdict.ts` lists the reasons why a
 * Job ends.
 *
 * Since Kubernetes 1.26, a finalizer keeps each pod until the status counts it (`tracking.ts`). Earlier versions count
 * only existing pods: if a succeeded pod is deleted before the Job finishes, the pod runs again.
 *
 * A failed pod is replaced after a backoff of ten seconds that doubles up to ten minutes. In earlier versions, the
 * first failed pod is replaced immediately, and the backoff is limited to six minutes. A success resets the backoff.
 * The backoff only delays new pods, and the status is updated in the meantime.
 */

import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { timestamp } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { Informer, ObjectChange } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { PodSelection } from '../selected-pods.ts'
import { writeAll } from '../workloads/batches.ts'
import { claimObjects } from '../workloads/claim-objects.ts'
import { Expectations } from '../workloads/expectations.ts'
import { byController, controllerOf } from '../workloads/ownership.ts'
import { fromPods } from '../workloads/pod-events.ts'
import { StepSpacing } from '../workloads/step-spacing.ts'
import { accountFor } from './accounting.ts'
import { hasBackoffPerIndex } from './index-failures.ts'
import { type JobFeatures, jobFeatures } from './job-features.ts'
import { deletePods, type JobPodParts, managePods } from './job-pods.ts'
import { countPods, countReady, isComplete, isFinished, isSuspended, type JobState } from './job-state.ts'
import { changedStatus, type JobStep, type StatusOptions } from './job-status.ts'
import { countReleased, isTracked, releasePod, trackingFinalizer } from './tracking.ts'
import { completion, deadlineInMs, verdictOf } from './verdict.ts'

export interface JobParts extends Omit<JobPodParts, 'expectations'> {
  readonly vendor: Vendor
  readonly emulation: Emulation
  readonly jobs: Informer<Job>
  readonly pods: Informer<Pod>
}

interface LoopState extends JobPodParts, JobParts {
  readonly selection: PodSelection<Job>
  readonly spacing: StepSpacing
  /** Finalizers that the loop has removed but the cache still shows. */
  readonly releases: Expectations
  readonly features: JobFeatures
  /**
   * By Job UID, the versions that the last status writes replaced. A cached Job with one of these versions is stale.
   */
  readonly outdated: Map<string, Set<string>>
  readonly retries: Map<string, Retries>
}

/** Number of failures since the last success, and when pods may be replaced again. */
interface Retries {
  readonly failures: number
  readonly notBefore: number
  /** The Job's number of failed pods when this entry was made. */
  readonly failed: number
}

const firstPauseMs = 10_000
const maxPauseMs = 360_000
const maxTrackedPauseMs = 600_000
/**
 * Maximum duration of one timer in milliseconds. Longer waits are split, because Node.js fires timers longer than 24
 * days immediately.
 */
const maxTimerMs = 60 * 60_000

export function jobLoop(parts: JobParts): Loop {
  const expectations = new Expectations(parts.clock)
  const selection = new PodSelection(parts.pods, parts.jobs, ({ spec }) => spec?.selector)
  const releases = new Expectations(parts.clock)
  const features = jobFeatures(parts.emulation, parts.vendor)
  const state: LoopState = {
    ...parts,
    expectations,
    releases,
    features,
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
      fromInformer(parts.pods, (change) => {
        settleReleases(state, change)
        return []
      }),
      fromPods({ pods: parts.pods, ownerKind, expectations, adopters: (pod) => selection.selecting(pod) }),
    ],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

/** Removes the expectation for a pod that no longer exists or has lost its finalizer. */
function settleReleases({ releases, vendor }: LoopState, { previous, object }: ObjectChange<Pod>): void {
  const owner = previous && controllerOf(previous)
  if (owner === undefined) return
  const isReleased = object?.metadata.uid !== previous?.metadata.uid || !isTracked(object!, vendor)
  if (isReleased) releases.settleDeletion(owner.uid, previous!.metadata.uid!)
}

function forget({ expectations, releases, outdated, retries }: LoopState, { metadata: { uid = '' } }: Job): void {
  expectations.forget(uid)
  releases.forget(uid)
  outdated.delete(uid)
  retries.delete(uid)
}

async function reconcile(loop: LoopState, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const job = loop.jobs.get(nameOfKey(key))
  if (job === undefined || isFinished(job) || !isManagedHere(loop, job)) return 'done'
  const { uid = '', resourceVersion } = job.metadata
  if (loop.outdated.get(uid)?.has(resourceVersion!)) return 'done'
  loop.outdated.delete(uid)
  const spacingMs = loop.spacing.waitMs(key)
  if (spacingMs > 0) return { afterMs: spacingMs }
  // The cache does not contain all pod writes yet. The Job is reconciled again when the cache is updated.
  const unseenMs = Math.max(loop.expectations.waitMs(uid), loop.releases.waitMs(uid))
  if (unseenMs > 0) return { afterMs: unseenMs }
  const pods = await claimPods(loop, job, signal)
  loop.spacing.looked(key, pods.length)
  const state = countPods(job, pods, loop.features)
  const step = await advance(loop, state, signal)
  if (!(await recordStep(loop, step, signal))) return 'later'
  if (step.error !== undefined) throw step.error
  return nextLook(loop, step)
}

/** Whether this controller, and no other, manages the Job. */
function isManagedHere({ vendor }: LoopState, { spec }: Job): boolean {
  return spec?.managedBy === undefined || spec.managedBy === vendorKey(vendor, 'job-controller')
}

async function claimPods(
  { client, pods, selection, features }: LoopState,
  job: Job,
  signal: AbortSignal,
): Promise<Pod[]> {
  const orphans = selection.podsOf(job).filter((pod) => controllerOf(pod) === undefined)
  const { namespace = '', uid = '' } = job.metadata
  const candidates = [...byController(pods).controlledBy(namespace, uid), ...orphans]
  const selects = (labels: Pod['metadata']['labels']) => selection.selects(job, labels)
  const adoptedFinalizers = features.tracksPods ? [trackingFinalizer(features.vendor)] : []
  return await claimObjects(
    { client, type: kinds.Pod, owner: job, ownerType: kinds.Job, selects, adoptedFinalizers, signal },
    candidates,
  )
}

/** Creates and deletes pods as needed. Returns the pod counts for the status. */
async function advance(loop: LoopState, state: JobState, signal: AbortSignal): Promise<JobStep> {
  const now = loop.clock.now()
  const { active, terminating, job } = state
  const ready = countReady(active)
  const verdict = verdictOf(state, now)
  if (verdict !== undefined) {
    const { removed, error } = await deletePods(loop, state, { pods: active, signal })
    const isGone = removed === active.length
    const remaining = { active: active.length - removed, ready: isGone ? 0 : Math.min(ready, active.length - removed) }
    return { state, ...remaining, terminating: terminating.length + removed, verdict, error }
  }
  const before = { state, active: active.length, ready, terminating: terminating.length }
  // The garbage collector deletes the pods of a terminating Job, so this loop does nothing.
  if (job.metadata.deletionTimestamp !== undefined)
    return isComplete(state, active.length) ? { ...before, verdict: completion } : before
  const mayCreate = noteFailures(loop, state, now)
  const outcome = await managePods(loop, state, { mayCreate, signal })
  const { removed = 0, retryMs, error } = outcome
  const after = {
    active: outcome.active,
    ready: Math.min(ready, outcome.active),
    terminating: terminating.length + removed,
  }
  const isDone = isComplete(state, outcome.active)
  return { state, ...after, retryMs, error, isManaged: true, ...(isDone ? { verdict: completion } : {}) }
}

/** Records new failures. Returns whether pods may be created now. */
function noteFailures({ retries }: LoopState, { job, succeeded, failed, features }: JobState, now: number): boolean {
  // Each index has its own backoff, so the Job itself does not delay new pods.
  if (hasBackoffPerIndex(job)) return true
  const uid = job.metadata.uid!
  const { status = {} } = job
  if (succeeded > (status.succeeded ?? 0)) retries.delete(uid)
  const retryState = retries.get(uid)
  const { failures = 0, notBefore = 0 } = retryState ?? {}
  if (failed <= Math.max(status.failed ?? 0, retryState?.failed ?? 0)) return notBefore <= now
  const pauseMs = features.tracksPods ? pauseAfter(failures, maxTrackedPauseMs) : pauseAfter(failures - 1, maxPauseMs)
  retries.set(uid, { failures: failures + 1, notBefore: now + pauseMs, failed })
  return pauseMs === 0
}

function pauseAfter(earlierFailures: number, maxMs: number): number {
  return earlierFailures < 0 ? 0 : Math.min(maxMs, firstPauseMs * 2 ** earlierFailures)
}

/**
 * Writes the status, removes the finalizers of the pods that the status now lists, and writes the status that counts
 * these pods. Returns false if the Job has changed in the meantime.
 */
async function recordStep(loop: LoopState, step: JobStep, signal: AbortSignal): Promise<boolean> {
  const { state } = step
  const { counters, released, isComplete: countsAll } = accountFor(step)
  const isFree = countsAll && step.active === 0 && step.error === undefined
  const first = { job: state.job, counters, mayEnd: isFree && released.length === 0 }
  const job = await writeStatus(loop, step, { ...first, signal })
  if (job === undefined) return false
  if (released.length === 0) return true
  await releasePods(loop, state, { pods: released, signal })
  const uids = new Set(released.map(({ metadata }) => metadata.uid))
  const second = { job, counters: countReleased(counters, (uid) => uids.has(uid)), mayEnd: isFree }
  return (await writeStatus(loop, step, { ...second, signal })) !== undefined
}

interface ReleaseOptions {
  readonly pods: readonly Pod[]
  readonly signal: AbortSignal
}

/** Removes the tracking finalizer from pods. Throws the first error. */
async function releasePods(loop: LoopState, { job, features }: JobState, { pods, signal }: ReleaseOptions) {
  const { client, releases } = loop
  const uid = job.metadata.uid!
  releases.expectDeletions(
    uid,
    pods.map(({ metadata }) => metadata.uid!),
  )
  const outcome = await writeAll(pods.length, async (i) => {
    try {
      await releasePod(client, pods[i]!, { vendor: features.vendor, signal })
    } catch (error) {
      releases.settleDeletion(uid, pods[i]!.metadata.uid!)
      throw error
    }
  })
  if ('error' in outcome) throw outcome.error
}

interface WriteOptions extends Omit<StatusOptions, 'now'> {
  readonly signal: AbortSignal
}

/** Writes the status and returns the current Job, or undefined if the Job has changed in the meantime. */
async function writeStatus(
  loop: LoopState,
  step: JobStep,
  { signal, ...options }: WriteOptions,
): Promise<Job | undefined> {
  const { job } = options
  const changed = changedStatus(step, { ...options, now: timestamp(loop.clock.now()) })
  if (changed === undefined) return job
  const { uid = '', resourceVersion = '' } = job.metadata
  let writtenJob: Job
  try {
    writtenJob = await loop.client.update(
      kinds.Job,
      { ...job, status: changed.status },
      { subresource: 'status', signal },
    )
    outdatedVersions(loop, uid).add(resourceVersion)
  } catch (error) {
    if (isConflict(error)) return undefined
    if (isNotFound(error)) return job
    throw error
  }
  for (const event of changed.events) loop.recorder.record(job, event)
  return writtenJob
}

function outdatedVersions({ outdated }: LoopState, uid: string): Set<string> {
  const versions = outdated.get(uid) ?? new Set()
  outdated.set(uid, versions)
  return versions
}

/** Returns when to reconcile the Job again if no event arrives earlier: at its deadline or at the end of a backoff. */
function nextLook({ clock, retries }: LoopState, { state: { job }, retryMs = 0 }: JobStep): StepOutcome {
  const now = clock.now()
  const { notBefore = 0 } = retries.get(job.metadata.uid!) ?? {}
  const deadline = isSuspended(job) ? undefined : deadlineInMs(job, now)
  const waits = [notBefore - now, deadline ?? 0, retryMs].filter((ms) => ms > 0)
  return waits.length === 0 ? 'done' : { afterMs: Math.min(maxTimerMs, ...waits) }
}
