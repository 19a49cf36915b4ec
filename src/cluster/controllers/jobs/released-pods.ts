/**
 * Removes the tracking finalizer from pods that no Job counts anymore: their Job was deleted or has finished, or they
 * no longer belong to a Job. Without this loop, such pods could never be deleted.
 */
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, objectKey } from '../../../client/requests/resource-type.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { byController, controllerKey, controllerOf } from '../workloads/ownership.ts'
import { isFinished } from './job-state.ts'
import { isTracked, releasePod } from './tracking.ts'

export interface ReleaseParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly jobs: Informer<Job>
  readonly pods: Informer<Pod>
}

const jobKind = { group: 'batch', kind: 'Job' }

/** Creates the loop. Its keys are the keys of pods. */
export function releasedPodsLoop(parts: ReleaseParts): Loop {
  const owned = byController(parts.pods)
  return {
    name: 'job-released-pods',
    sources: [
      fromInformer(parts.pods, ({ key, object }) => (object !== undefined && isReleased(parts, object) ? [key] : [])),
      fromInformer(parts.jobs, ({ object, previous }) => {
        const { namespace = '', uid = '' } = (previous ?? object)!.metadata
        if (object?.metadata.uid === uid && !isFinished(object)) return []
        return owned
          .controlledBy(namespace, uid)
          .filter((pod) => isTracked(pod, parts.vendor))
          .map(objectKey)
      }),
    ],
    reconcile: (key, signal) => release(parts, key, signal),
  }
}

/** Whether the cache contains no unfinished Job that counts the pod. */
function isReleased({ jobs, vendor }: ReleaseParts, pod: Pod): boolean {
  if (!isTracked(pod, vendor)) return false
  const job = jobs.get(nameOfKey(controllerKey(pod, jobKind) ?? ''))
  return job === undefined || job.metadata.uid !== controllerOf(pod)?.uid || isFinished(job)
}

async function release(parts: ReleaseParts, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const { client, pods, vendor } = parts
  const pod = pods.get(nameOfKey(key))
  if (pod === undefined || !isReleased(parts, pod)) return 'done'
  const jobKey = controllerKey(pod, jobKind)
  // The cache of Jobs may be older than the cache of pods, so the Job is read from the server.
  const job = jobKey && (await ignoreNotFound(client.get(kinds.Job, nameOfKey(jobKey), { signal })))
  if (job && job.metadata.uid === controllerOf(pod)?.uid && !isFinished(job)) return 'done'
  await releasePod(client, pod, { vendor, signal })
  return 'done'
}
