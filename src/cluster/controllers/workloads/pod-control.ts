/** Creates and deletes pods on behalf of a workload, and records each write as an Event about the workload. */

import { defined } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { PodTemplateSpec } from '../../../api/kinds/core/types/pod-template-spec.ts'
import type { ObjectBase } from '../../../api/model/object.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type Draft, nameOf } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import { controllerReference } from './ownership.ts'

export interface PodControlParts {
  readonly client: Client
  readonly recorder: EventRecorder
}

/**
 * Creates a pod object from a template. The owner controls the pod, and the server generates its name from the owner's
 * name.
 */
export function podFromTemplate(template: PodTemplateSpec | undefined, owner: ObjectBase): Draft<Pod> {
  const { labels, annotations, finalizers } = template?.metadata ?? {}
  const { namespace = '', name = '' } = owner.metadata
  return {
    metadata: {
      generateName: `${name}-`,
      namespace,
      ownerReferences: [controllerReference(owner)],
      ...defined({
        labels: labels && { ...labels },
        annotations: annotations && { ...annotations },
        finalizers: finalizers && [...finalizers],
      }),
    },
    spec: { ...template?.spec },
  }
}

/** Creates a pod for an owner. Throws on failure, and records an Event unless the namespace is terminating. */
export async function createPod(
  { client, recorder }: PodControlParts,
  owner: ObjectBase,
  { pod, signal }: { readonly pod: Draft<Pod>; readonly signal: AbortSignal },
): Promise<Pod> {
  try {
    const created = await client.create(kinds.Pod, pod, { signal })
    recorder.record(owner, {
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created pod: ${created.metadata.name}`,
    })
    return created
  } catch (error) {
    if (!signal.aborted && !isNamespaceEnding(error))
      recorder.record(owner, {
        type: 'Warning',
        reason: 'FailedCreate',
        message: `Error creating: ${messageOf(error)}`,
      })
    throw error
  }
}

/**
 * Deletes an owner's pod, identified by its UID. Throws PodGoneError if the pod no longer exists. Other failures are
 * recorded as an Event and thrown.
 */
export async function deletePod(
  { client, recorder }: PodControlParts,
  owner: ObjectBase,
  { pod, signal }: { readonly pod: Pod; readonly signal: AbortSignal },
): Promise<void> {
  const { name, uid = '' } = pod.metadata
  try {
    await client.delete(kinds.Pod, nameOf(pod), { preconditions: { uid }, signal })
    recorder.record(owner, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` })
  } catch (error) {
    // On a 404 or a conflict, the pod was deleted or replaced.
    if (isNotFound(error) || isConflict(error)) throw new PodGoneError(`pod ${name} no longer exists`, { cause: error })
    if (!signal.aborted)
      recorder.record(owner, {
        type: 'Warning',
        reason: 'FailedDelete',
        message: `Error deleting: ${messageOf(error)}`,
      })
    throw error
  }
}

/** Thrown if the pod to be deleted no longer exists. */
export class PodGoneError extends Error {
  override readonly name = 'PodGoneError'
}

/** Whether a create failed because the namespace is terminating. */
export function isNamespaceEnding(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)
  )
}
