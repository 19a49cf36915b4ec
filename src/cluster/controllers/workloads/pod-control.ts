/** Creates and deletes the pods of a workload, and reports each as an Event about its owner. */

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

/** A pod of a template, controlled by its owner; the server completes the name, which begins with that of the owner. */
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

/** Creates a pod of an owner. Throws where it cannot; that is an Event too, unless the whole namespace is going. */
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

/** Deletes this very pod of an owner; that it is gone already is as good. Other failures are thrown, and an Event. */
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
    // Another pod has the name by now: a conflict.
    if (isNotFound(error) || isConflict(error)) throw new PodGoneError(`pod ${name} is gone`, { cause: error })
    if (!signal.aborted)
      recorder.record(owner, {
        type: 'Warning',
        reason: 'FailedDelete',
        message: `Error deleting: ${messageOf(error)}`,
      })
    throw error
  }
}

/** The pod that was to be deleted is not there any more. */
export class PodGoneError extends Error {
  override readonly name = 'PodGoneError'
}

/** Whether nothing can be created because the namespace is being deleted. */
export function isNamespaceEnding(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    (error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false)
  )
}
