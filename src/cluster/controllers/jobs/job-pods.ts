/**
 * Creates or deletes pods of a Job until the desired number is active. Each step either creates or deletes pods, at
 * most 500. Expectations are recorded before the writes, so that a slow watch does not lead to duplicate pods. With
 * podReplacementPolicy Failed, a pod is replaced only after it has terminated.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { Draft } from '../../../client/requests/resource-type.ts'
import { slowStart, writeAll } from '../workloads/batches.ts'
import { type DeletionContext, firstToDelete } from '../workloads/deletion-order.ts'
import type { Expectations } from '../workloads/expectations.ts'
import { createPod, deletePod, isNamespaceEnding, PodGoneError, podFromTemplate } from '../workloads/pod-control.ts'
import { generateNameWithIndex, indexOf, templateWithIndex } from './completion-indexes.ts'
import { failureAnnotations, hasBackoffPerIndex, replacementInMs } from './index-failures.ts'
import { IndexSet } from './index-set.ts'
import { awaitsTermination, isSuspended, type JobState, wantedActive } from './job-state.ts'
import { releasePod, trackingFinalizer } from './tracking.ts'

export interface JobPodParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly clock: Clock
  readonly expectations: Expectations
}

/**
 * The result of creating or deleting pods: the number of pods that are then active, the number deleted, and the first
 * error.
 */
export interface PodOutcome {
  readonly active: number
  readonly removed?: number
  /** Milliseconds until the next failed index may be retried. */
  readonly retryMs?: number
  readonly error?: unknown
}

const maxPerStep = 500

export interface ManageOptions {
  /** Whether new pods may be created. False during the backoff after a failure. */
  readonly mayCreate: boolean
  readonly signal: AbortSignal
}

export async function managePods(
  parts: JobPodParts,
  state: JobState,
  { mayCreate, signal }: ManageOptions,
): Promise<PodOutcome> {
  const { active, terminating, job } = state
  const desiredActive = isSuspended(job) ? 0 : wantedActive(state)
  const surplus = await new TimeSlice().run(surplusPods(parts, state, active.length - desiredActive))
  if (surplus.length > 0) {
    const { removed, ...outcome } = await deletePods(parts, state, { pods: surplus, release: true, signal })
    return { active: active.length - removed, removed, ...outcome }
  }
  const occupied = active.length + (awaitsTermination(job) ? terminating.length : 0)
  const missing = Math.min(desiredActive - occupied, maxPerStep)
  if (missing <= 0 || !mayCreate) return { active: active.length }
  return await createPods(parts, state, { count: missing, signal })
}

export interface DeleteOptions {
  readonly pods: readonly Pod[]
  /** Whether to remove the tracking finalizers first, so that the deleted pods are not counted as failed. */
  readonly release?: boolean
  readonly signal: AbortSignal
}

/** Deletes pods. Pods that no longer exist count as deleted. */
export async function deletePods(
  parts: JobPodParts,
  { job, features }: JobState,
  { pods, release = false, signal }: DeleteOptions,
): Promise<{ readonly removed: number; readonly error?: unknown }> {
  const uid = job.metadata.uid!
  parts.expectations.expectDeletions(
    uid,
    pods.map(({ metadata }) => metadata.uid!),
  )
  const { succeeded, ...outcome } = await writeAll(pods.length, async (i) => {
    try {
      if (release) await releasePod(parts.client, pods[i]!, { vendor: features.vendor, signal })
      await deletePod(parts, job, { pod: pods[i]!, signal })
    } catch (error) {
      parts.expectations.settleDeletion(uid, pods[i]!.metadata.uid!)
      if (!(error instanceof PodGoneError)) throw error
    }
  })
  return { removed: succeeded, ...outcome }
}

/** Returns the active pods to delete in this step: first duplicates of a completion index, then surplus pods. */
function* surplusPods({ clock }: JobPodParts, state: JobState, tooMany: number): Sliced<Pod[]> {
  const context = { vendor: state.features.vendor, now: clock.now(), crowdOf: () => 0 }
  const surplus = new Set(yield* duplicates(state, context))
  const remainingActive = tooMany <= surplus.size ? [] : state.active.filter((pod) => !surplus.has(pod))
  const more = yield* firstToDelete(remainingActive, Math.min(tooMany - surplus.size, maxPerStep), context)
  return [...surplus, ...more].slice(0, maxPerStep)
}

function* duplicates({ job, active, doneIndexes }: JobState, context: DeletionContext): Sliced<Pod[]> {
  if (doneIndexes === undefined) return []
  const { vendor } = context
  const { completions = 0 } = job.spec ?? {}
  const duplicatePods: Pod[] = []
  for (const [index, pods] of Map.groupBy(active, (pod) => indexOf(pod, { vendor, completions }))) {
    const count = index === undefined ? pods.length : pods.length - 1
    if (count > 0) duplicatePods.push(...(yield* firstToDelete(pods, count, context)))
  }
  return duplicatePods
}

async function createPods(
  parts: JobPodParts,
  state: JobState,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
): Promise<PodOutcome> {
  const { job, active } = state
  const uid = job.metadata.uid!
  const { drafts, retryMs } = draftsOf(state, count, parts.clock.now())
  parts.expectations.expectCreations(uid, drafts.length)
  const outcome = await slowStart(drafts.length, async (i) => {
    await createPod(parts, job, { pod: drafts[i]!, signal })
  })
  parts.expectations.settleCreation(uid, drafts.length - outcome.succeeded)
  // If the namespace is terminating, the Job will also be deleted, so a rejected create is not a failure.
  const failed = 'error' in outcome && !isNamespaceEnding(outcome.error)
  return {
    active: active.length + outcome.succeeded,
    ...(retryMs === undefined ? {} : { retryMs }),
    ...(failed ? { error: outcome.error } : {}),
  }
}

interface Drafts {
  readonly drafts: readonly Draft<Pod>[]
  readonly retryMs?: number
}

function draftsOf(state: JobState, count: number, now: number): Drafts {
  const { job, features, doneIndexes } = state
  const { template = {} } = job.spec ?? {}
  if (doneIndexes === undefined)
    return { drafts: Array.from({ length: count }, () => withFinalizer(podFromTemplate(template, job), features)) }
  const { indexes, retryMs } = startableIndexes(state, count, now)
  const drafts = indexes.map((index) => withFinalizer(draftForIndex(state, index), features))
  return retryMs === undefined ? { drafts } : { drafts, retryMs }
}

/**
 * Returns the lowest indexes for which pods can be created. Failed indexes wait for their backoff, and higher indexes
 * are used instead.
 */
function startableIndexes(state: JobState, count: number, now: number): { indexes: number[]; retryMs?: number } {
  const { job, active, terminating, replaceable, failedIndexes, features } = state
  const { vendor } = features
  const { completions = 0 } = job.spec ?? {}
  const occupants = awaitsTermination(job) ? [...active, ...terminating] : active
  const occupied = IndexSet.of(occupants.flatMap((pod) => indexOf(pod, { vendor, completions }) ?? []))
  const waits = Array.from(replaceable, ([index, pod]) => ({ index, ms: replacementInMs(job, pod, { vendor, now }) }))
  const waiting = waits.filter(({ ms }) => ms > 0)
  const retryMs = waiting.length === 0 ? undefined : waiting.reduce((least, { ms }) => Math.min(least, ms), Infinity)
  const others = [occupied, ...(failedIndexes ? [failedIndexes] : []), IndexSet.of(waiting.map(({ index }) => index))]
  const indexes = state.doneIndexes!.union(...others).missing(completions, count)
  return retryMs === undefined ? { indexes } : { indexes, retryMs }
}

function draftForIndex({ job, features, replaceable }: JobState, index: number): Draft<Pod> {
  const { name = '' } = job.metadata
  const draft = podFromTemplate(templateWithIndex(job.spec?.template ?? {}, { index, job: name, features }), job)
  const failures = hasBackoffPerIndex(job) ? failureAnnotations(job, replaceable.get(index), features.vendor) : {}
  const annotations = { ...draft.metadata.annotations, ...failures }
  return { ...draft, metadata: { ...draft.metadata, annotations, generateName: generateNameWithIndex(name, index) } }
}

function withFinalizer(draft: Draft<Pod>, { tracksPods, vendor }: JobState['features']): Draft<Pod> {
  if (!tracksPods) return draft
  const finalizers = [...new Set([...(draft.metadata.finalizers ?? []), trackingFinalizer(vendor)])]
  return { ...draft, metadata: { ...draft.metadata, finalizers } }
}
