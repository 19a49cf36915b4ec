/**
 * Creates or deletes pods of a Job until the desired number is active. Each step either creates or deletes, at most 500
 * pods. Expectations are recorded before the writes, so that a slow watch causes no duplicates.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Client } from '../../../client/requests/client.ts'
import { slowStart, writeAll } from '../workloads/batches.ts'
import { type DeletionContext, firstToDelete } from '../workloads/deletion-order.ts'
import type { Expectations } from '../workloads/expectations.ts'
import { createPod, deletePod, isNamespaceEnding, PodGoneError, podFromTemplate } from '../workloads/pod-control.ts'
import { generateNameWithIndex, indexOf, pendingIndexes, templateWithIndex } from './completion-indexes.ts'
import { isSuspended, type JobState, wantedActive } from './job-state.ts'

export interface JobPodParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly expectations: Expectations
}

/** Number of active pods after the step, and the first error. */
export interface PodOutcome {
  readonly active: number
  readonly error?: unknown
}

const maxPerStep = 500

export interface ManageOptions {
  /** Whether failed pods may be replaced now. */
  readonly mayCreate: boolean
  readonly signal: AbortSignal
}

export async function managePods(
  parts: JobPodParts,
  state: JobState,
  { mayCreate, signal }: ManageOptions,
): Promise<PodOutcome> {
  const { active } = state
  const desiredActive = isSuspended(state.job) ? 0 : wantedActive(state)
  const surplus = await new TimeSlice().run(surplusPods(parts, state, active.length - desiredActive))
  if (surplus.length > 0) {
    const { removed, ...outcome } = await deletePods(parts, state, { pods: surplus, signal })
    return { active: active.length - removed, ...outcome }
  }
  const missing = Math.min(desiredActive - active.length, maxPerStep)
  if (missing <= 0 || !mayCreate) return { active: active.length }
  return await createPods(parts, state, { count: missing, signal })
}

/** Deletes pods. Pods that no longer exist count as deleted. */
export async function deletePods(
  parts: JobPodParts,
  { job }: JobState,
  { pods, signal }: { readonly pods: readonly Pod[]; readonly signal: AbortSignal },
): Promise<{ readonly removed: number; readonly error?: unknown }> {
  const uid = job.metadata.uid!
  parts.expectations.expectDeletions(
    uid,
    pods.map(({ metadata }) => metadata.uid!),
  )
  const { succeeded, ...outcome } = await writeAll(pods.length, async (i) => {
    try {
      await deletePod(parts, job, { pod: pods[i]!, signal })
    } catch (error) {
      parts.expectations.settleDeletion(uid, pods[i]!.metadata.uid!)
      if (!(error instanceof PodGoneError)) throw error
    }
  })
  return { removed: succeeded, ...outcome }
}

/** Returns active pods to delete in this step: first the duplicates of a completion index, then the surplus. */
function* surplusPods({ vendor, clock }: JobPodParts, state: JobState, tooMany: number): Sliced<Pod[]> {
  const context = { vendor, now: clock.now(), crowdOf: () => 0 }
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
  const drafts = draftsOf(parts, state, count)
  parts.expectations.expectCreations(uid, drafts.length)
  const outcome = await slowStart(drafts.length, async (i) => {
    await createPod(parts, job, { pod: drafts[i]!, signal })
  })
  parts.expectations.settleCreation(uid, drafts.length - outcome.succeeded)
  // If the namespace is terminating, the Job will be deleted too.
  const failed = 'error' in outcome && !isNamespaceEnding(outcome.error)
  return { active: active.length + outcome.succeeded, ...(failed ? { error: outcome.error } : {}) }
}

function draftsOf({ vendor }: JobPodParts, { job, active, doneIndexes }: JobState, count: number) {
  const { template = {}, completions = 0 } = job.spec ?? {}
  if (doneIndexes === undefined) return Array.from({ length: count }, () => podFromTemplate(template, job))
  const { name = '' } = job.metadata
  const activeIndexes = active.flatMap((pod) => indexOf(pod, { vendor, completions }) ?? [])
  const taken = new Set([...doneIndexes, ...activeIndexes])
  return pendingIndexes(taken, completions, count).map((index) => {
    const draft = podFromTemplate(templateWithIndex(template, { index, job: name, vendor }), job)
    return { ...draft, metadata: { ...draft.metadata, generateName: generateNameWithIndex(name, index) } }
  })
}
